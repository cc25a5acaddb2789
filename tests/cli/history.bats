#!/usr/bin/env bats
# History files: written by `ccsim run --history`, judged by `ccsim check`, and both agree with the certification.

setup() {
    build=${CCSIM_BUILD_DIR:-$BATS_TEST_DIRNAME/../../build}
    ccsim=$(cd "$build" && pwd)/ccsim
    manual=$(cd "$BATS_TEST_DIRNAME/../../docs" && pwd)/HISTORY.md
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >h.ini <<'END'
[experiment]
algorithm = 2pl
replications = 1
warmup = 0
duration = 500ms
[system]
terminals = 8
[workload]
name = hot_row
rows = 50
END
}

# column NAME: of the only run
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }' out/runs.csv; }

@test "a run that keeps its promise" {
    "$ccsim" run h.ini --history h.txt -o out --quiet
    [ "$(head -2 h.txt | tr '\n' ' ')" = "ccsim-history 1 level SER " ]
    "$ccsim" check h.txt >out.txt
    [ "$(head -1 out.txt)" = "$(column commits) transactions committed, 0 attempts rolled back, 8 unfinished" ]
    grep -Fx 'SER holds: 0 commits broke it' out.txt
    [ "$(column anomalies)" = 0 ]
}

@test "a run that breaks it is told with a witness, and its history says the same" {
    run "$ccsim" run h.ini --set experiment.algorithm=none --history h.txt -o out --quiet
    [ "$status" -eq 1 ]
    [[ "$output" == *"the algorithm promises SER, and that is broken: G"*"-rw-> T"*"counters 1"*"replay: ccsim run"* ]]
    run "$ccsim" check h.txt --json
    [ "$status" -eq 1 ]
    [ "$(jq -r .anomalies <<<"$output")" = "$(column anomalies)" ]
    for name in g0 g1a g1b g1c g_single g2_item g2 lost_update write_skew phantom; do
        [ "$(jq -r .names.$name <<<"$output")" = "$(column anomalies_$name)" ]
    done
    [ "$(jq -r .holds <<<"$output")" = false ]
    "$ccsim" check h.txt --require ru >/dev/null
}

@test "the history is of one run, and of a certified one" {
    run "$ccsim" run h.ini --set system.terminals='2 4' --history h.txt -o out --quiet
    [ "$status" -eq 2 ]
    [[ "$output" == "ccsim: --history is for one run, and here are 2: pick one with --only"* ]]
    run "$ccsim" run h.ini --set experiment.certify=no --history h.txt -o out --quiet
    [ "$status" -eq 2 ]
    [ "$output" = "ccsim: --history needs certify = yes" ]
    [ ! -e h.txt ]
}

@test "without certification the columns are empty" {
    "$ccsim" run h.ini --set experiment.certify=no -o out --quiet
    [ "$(column anomalies)" = "" ]
    [ "$(jq .certified out/manifest.json)" = false ]
}

@test "a file that cannot be written" {
    run "$ccsim" run h.ini --history no/such/place -o out --quiet
    [ "$status" -eq 3 ]
    [[ "$output" == *"no/such/place: No such file or directory"* ]]
}

@test "the manual's example" {
    sed -n '/^Two transactions/,$s/^    //p' "$manual" >example.txt
    run "$ccsim" check example.txt
    [ "$status" -eq 1 ]
    [[ "$output" == *"lost update"*"T2 -rw-> T1"*"T1 -ww-> T2"* ]]
}

@test "a broken history file" {
    printf 'ccsim-history 1\nlevel SER\nb 1\nc 2\n' >bad.txt
    run "$ccsim" check bad.txt
    [ "$status" -eq 2 ]
    [ "$output" = "bad.txt:4: that transaction is not under way" ]
}

# history READS...: T1 writes rows 7 and 8 and commits, then T2 begins, reads and commits
history() { printf '%s\n' 'ccsim-history 1' 'level SER' 'b 1' 's 1 1' 'i 1 0 7 0 0 1 0 1' 'i 1 0 8 0 0 2 0 1' 'c 1' \
    'b 2' 's 2 1' "$@" 'c 2'; }

@test "a read of what was superseded before its reader began is found, though the file does not say so" {
    history 'r 2 1 0 7 1 1' 'r 2 1 0 8 0 0' >stale.txt
    run "$ccsim" check stale.txt
    [ "$status" -eq 1 ]
    [[ "$output" == *"it read a version that had been replaced before it began"* ]]
    history 'r 2 1 0 7 1 1' 'r 2 1 0 8 0 0 dead' >told.txt
    run diff <("$ccsim" check told.txt) <("$ccsim" check stale.txt)
    [ "$status" -eq 0 ]
    history 'r 2 1 0 7 1 1' 'n 2 1 0 8 0 0 anew 1' >beneath.txt
    run "$ccsim" check beneath.txt
    [ "$status" -eq 1 ]
    history 'r 2 1 0 7 1 1' 'r 2 1 0 8 1 2' 'r 2 1 0 9 0 0' 'n 2 1 0 10 0 0 anew 0' >current.txt
    "$ccsim" check current.txt
    "$ccsim" check stale.txt --require rc
}

@test "what committed after the reader began does not make its read stale" {
    printf '%s\n' 'ccsim-history 1' 'level SER' 'b 1' 's 1 1' 'b 2' 's 2 1' 'i 2 0 7 0 0 1 0 1' 'c 2' 'r 1 1 0 7 0 0' 'c 1' |
        "$ccsim" check -
}

@test "what is excused in a run is excused in its history, but not if it is held to a level" {
    printf '%s\n' '[experiment]' 'algorithm = 2pl-basic' 'replications = 1' 'duration = 2s' 'warmup = 0' 'certify = yes' \
        '[2pl-basic]' 'recoverable = no' '[system]' 'terminals = 8' '[cost]' 'cpu_access = 100us' 'round_trip = exp(1ms)' \
        '[workload]' 'name = hot_row' 'accesses = 1' 'rollback = 20%' >dirty.ini
    "$ccsim" run dirty.ini --quiet --no-plot -o out --history dirty.txt
    grep -qx excused dirty.txt
    "$ccsim" check dirty.txt >verdict
    grep -q G1a verdict
    run "$ccsim" check dirty.txt --require ser
    [ "$status" -eq 1 ]
}
