# ccsim plan: the answer's shape, its independence of the number of workers, mistakes and exit codes. What it finds is held
# against closed forms by tests/golden/test_capacity.c.

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >hot.ini <<'INI'
[experiment]
title        = Hot
replications = 2
warmup       = 500ms
duration     = 4s
[system]
terminals    = 8
cpus         = 4
[cost]
log_force    = 1ms
[workload]
name         = hot_row
[sweep]
algorithm    = 2pl occ
INI
    plan() { "$ccsim" plan hot.ini --quiet "$@"; }
}

@test "a sentence first, then a row for each algorithm, the same for any number of workers" {
    plan --slo 'response_mean_ms < 60' -j1 >one
    plan --slo 'response_mean_ms < 60' -j3 >three
    cmp one three
    head -1 one | grep -E '^2pl carries [0-9.]+ transactions a second \(the edge is at .*95% interval .*row 1 of counters.*next, occ carries .*\.$'
    [ "$(grep -cE '^(2pl|occ) +[0-9]' one)" -eq 2 ]
    [ ! -e results ]
}

@test "objectives together are harder than each" {
    value() { plan --json --slo 'response_mean_ms < 60' --only algorithm=occ "$@" | jq '.answers[0].value'; }
    both=$(value --max-abort-rate 20%)
    time=$(value)
    aborts=$(plan --json --max-abort-rate 20% --only algorithm=occ | jq '.answers[0].value')
    jq -n "$both <= $time and $both <= $aborts and $both * 1.5 < $time" | grep true
}

@test "a pool is large enough and small enough; the sweep carries the scalability law" {
    plan --json --vary system.mpl --slo 'throughput_tps > 100' --set system.terminals=16 --only algorithm=occ >out.json
    jq -e '.answers[0] | .value >= 4 and .value < 16 and (.sweep | length == 5) and .sweep[0].met' out.json
    jq -e '.answers[0].scalability_law | has("a") and has("b") and has("c") and has("does_not_hold_at")' out.json
}

@test "the config's own value gives the headroom" {
    plan --slo 'response_mean_ms < 60' --only algorithm=2pl --set system.arrival_rate=40/s >out
    head -1 out | grep -E 'that is [12]\.[0-9]+ times the 40 of the config'
    grep -E '^2pl .* \+[0-9]+% ' out
}

@test "CPUs that are missing are no headroom" {
    headroom() { plan --json --only algorithm=2pl --vary system.cpus --slo 'throughput_tps > 50' --set system.cpus="$1" | jq '.answers[0].headroom'; }
    jq -n "$(headroom 4) >= 0" | grep true
    plan --json --only algorithm=occ --vary system.cpus --slo 'throughput_tps > 100' --set system.cpus=1 | jq -e '.answers[0].headroom < 0'
}

@test "giving up is no service, unless it is allowed" {
    give_up() { plan --json --only algorithm=occ --slo 'response_mean_ms < 60' --set restart.max_attempts=2 --from 2/s --to 400/s "$@" | jq '.answers[0].value'; }
    jq -n "$(give_up) * 2 < $(give_up --slo 'gave_up <= 100000')" | grep true
}

@test "mistakes are told with what was meant, and exit 2" {
    bad() { # MESSAGE ARGUMENT...
        message=$1
        shift
        run plan "$@"
        [ "$status" -eq 2 ]
        [[ "$output" == *"$message"* ]] || { echo "$output"; return 1; }
    }
    bad "did you mean response_p99_ms?" --slo 'response_p99 < 50'
    bad "what must hold?"
    bad "did you mean system.terminals?" --slo 'response_p99_ms < 50' --vary system.terminal
    bad "no share such as 5%" --max-abort-rate five
    bad "is more than 100%" --max-abort-rate 5
    bad "no rate such as 50/s" --slo 'response_p99_ms < 50' --from fast
    bad "is not a whole number" --slo 'response_p99_ms < 50' --vary system.cpus --to 1.5
    bad "is nothing" --slo 'response_p99_ms < 50' --from 100/s --to 50/s
    bad "is not defined here" --slo 'cpu_utilization < 50%' --set system.cpus=unlimited
    bad "has a value of its own" --slo 'response_p99_ms < 50' --vary system.mpl --set 2pl.system.mpl=3
    printf '[system]\ncpu = 4\n' >bad.ini
    run "$ccsim" plan hot.ini bad.ini --slo 'response_p99_ms < 50'
    [ "$status" -eq 2 ]
    [[ "$output" == *"bad.ini:2: "*"did you mean cpus?"* ]]
    run "$ccsim" plan - --slo 'response_p99_ms < 50' <hot.ini
    [ "$status" -eq 2 ]
}

@test "a run that cannot go on is told and exits 2; the others are answered" {
    run plan --slo 'response_mean_ms < 60' --vary system.terminals --to 2 --set cost.cpu_access=0 --set cost.log_force=0
    [ "$status" -eq 2 ]
    [[ "$output" == *"while no time passed"*"replay: ccsim run hot.ini"*"--set system.terminals="* ]]
}

@test "the command that replays a run makes that run" {
    run plan --slo 'response_mean_ms < 60' --vary system.terminals --to 2 --set cost.cpu_access=0 --set cost.log_force=0
    command=$(sed -n 's/.*replay: ccsim //p' <<<"$output" | head -1)
    run bash -c "'$ccsim' $command -o out --no-plot"
    [ "$status" -eq 2 ]
    [[ "$output" == *"while no time passed"* ]]
}
