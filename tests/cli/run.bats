#!/usr/bin/env bats
# ccsim run: its files, its exit codes, and what it leaves behind when something goes wrong.

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >small.ini <<'INI'
[experiment]
title        = A small hot row
replications = 3
warmup       = 100ms
duration     = 1s
[system]
terminals    = 2
cpus         = 4
[workload]
name         = hot_row
rows         = 1000
[sweep]
algorithm        = 2pl occ
system.terminals = 1 4 8
[figure throughput]
x = system.terminals
y = throughput_tps
group = algorithm
INI
}

small() { "$ccsim" run small.ini --no-plot "$@"; }

# Thirty runs that together take some seconds, long enough to be disturbed. To be started with &: exec makes $! the program's.
long() { exec "$ccsim" run small.ini --no-plot --set experiment.duration=1000s --set experiment.replications=5 "$@"; }

# set -e does not mind a `! grep`.
absent() { ! grep "$@"; }

rows() { wc -l <"$1"; }

wait_for_file() {
    for _ in $(seq 100); do
        [ -e "$1" ] && return 0
        sleep 0.05
    done
    return 1
}

@test "the files, and nothing else" {
    small -o out >table
    [ "$(ls out)" = $'manifest.json\nruns.csv\nsummary.csv' ]
}

@test "without -o the folder is named after the config" {
    small --quiet
    [ -s results/small/runs.csv ]
}

@test "runs.csv has a header and a row per point and replication" {
    small -o out --quiet
    [ "$(rows out/runs.csv)" -eq 19 ]
    head -1 out/runs.csv | grep -q '^algorithm,workload,system.terminals,replication,seed,sim_seconds,throughput_tps,commits,'
    head -1 out/runs.csv | grep -q ',audit,digest$'
}

@test "rows are ordered by replication, then point" {
    small -o out -j 4 --quiet
    mlr --icsv --onidx --ofs ' ' cut -o -f replication,algorithm,system.terminals out/runs.csv >order
    for replication in 1 2 3; do
        for algorithm in 2pl occ; do
            for terminals in 1 4 8; do echo "$replication $algorithm $terminals"; done
        done
    done | diff - order
}

@test "no carriage returns, no comments, no more than nine significant digits" {
    small -o out --quiet
    absent -q $'\r' out/runs.csv
    absent -q '^#' out/runs.csv out/summary.csv
    # digits without the point, without leading zeros
    mlr --icsv --onidx --ofs '\n' cut -x -f algorithm,workload,audit,digest out/runs.csv out/summary.csv | tr -d .- |
        sed 's/^0*//' >digits
    absent -E '^[0-9]{10,}$' digits
    grep -qE '^[0-9]{9}$' digits
}

@test "the bytes do not depend on the number of workers" {
    small -o one -j 1 --quiet
    small -o two -j 2 --quiet
    small -o five -j 5 --quiet
    cmp one/runs.csv two/runs.csv
    cmp one/runs.csv five/runs.csv
    cmp one/summary.csv five/summary.csv
}

@test "another seed gives other digests, the same seed the same" {
    small -o one --quiet --seed 1
    small -o two --quiet --seed 2
    small -o again --quiet --seed 2
    cmp two/runs.csv again/runs.csv
    mlr --icsv --onidx cut -f digest one/runs.csv >one.digests
    mlr --icsv --onidx cut -f digest two/runs.csv >two.digests
    [ "$(sort -u one.digests | wc -l)" -ge 15 ] # alone on the row, 2pl and occ come to the same
    absent -Fxf one.digests two.digests
    [ "$(mlr --icsv --onidx cut -f seed two/runs.csv | sort -u)" = 2 ]
}

@test "the summary is what others compute from runs.csv" {
    small -o out --quiet
    # t with two degrees of freedom, 97.5%: 4.30265273
    for metric in throughput_tps abort_rate response_p99_ms blocked_mean; do
        mlr --icsv --ojson stats1 -a mean,stddev,count -f $metric -g algorithm,system.terminals out/runs.csv |
            jq -r ".[] | [.${metric}_mean, 4.30265273 * .${metric}_stddev / (3 | sqrt)] | @tsv" >expected
        mlr --icsv --ojson cut -o -f $metric,${metric}_ci95 out/summary.csv |
            jq -r ".[] | [.$metric, .${metric}_ci95] | @tsv" >actual
        [ "$(rows actual)" -eq 6 ]
        paste expected actual | awk -v name=$metric 'function differ(a, b) { d = a - b; d = d < 0 ? -d : d; return d > 1e-6 * (a < 0 ? -a : a) + 1e-9 }
            differ($1, $3) || differ($2, $4) { print name ": " $0; bad = 1 } END { exit bad }'
    done
}

@test "datamash finds the same mean of commits" {
    small -o out --quiet
    expected=$(datamash -t, -H --sort -R 6 -g 1,3 mean 8 <out/runs.csv | tail -n +2 | cut -d, -f3 | datamash -R 4 sum 1)
    actual=$(mlr --icsv --onidx cut -f commits out/summary.csv | datamash -R 4 sum 1)
    [ "$expected" = "$actual" ]
}

@test "one replication has no confidence interval" {
    small -o out --quiet --set experiment.replications=1
    [ -z "$(mlr --icsv --onidx cut -f throughput_tps_ci95 out/summary.csv | tr -d '\n')" ]
    [ -n "$(mlr --icsv --onidx cut -f throughput_tps out/summary.csv | tr -d '\n')" ]
}

@test "more replications keep the rows of fewer" {
    small -o two --quiet --set experiment.replications=2
    small -o three --quiet
    head -13 three/runs.csv | cmp - two/runs.csv
}

@test "the manifest says how it came about" {
    small -o out --quiet --seed 7
    [ "$(jq -r .seed,.points,.replications,.runs,.runs_finished,.complete,.certified out/manifest.json | tr '\n' ' ')" = \
        "7 6 3 18 18 true true " ]
    [ "$(jq -r .command out/manifest.json)" = "ccsim run small.ini --seed 7 -o out" ]
    [ "$(jq -r '.files | sort | join(" ")' out/manifest.json)" = "manifest.json runs.csv summary.csv" ]
    [ "$(jq -r '.axes[0].column' out/manifest.json)" = system.terminals ]
    jq -r .config out/manifest.json >echoed.ini
    "$ccsim" run echoed.ini --no-plot --seed 7 -o echoed --quiet
    cmp out/runs.csv echoed/runs.csv
}

@test "the table has a line per point" {
    small -o out >table
    [ "$(grep -cE '^(2pl|occ) ' table)" -eq 6 ]
    grep -q '^A small hot row$' table
    grep -q '^out/runs.csv$' table
    [ "$(wc -L <table)" -le 100 ]
}

@test "quiet says nothing at all" {
    small -o out --quiet >said 2>&1
    [ ! -s said ]
    [ -s out/runs.csv ]
}

@test "no progress where stderr is no terminal" {
    small -o out >table 2>progress
    absent -v '^ccsim: warning: ' progress
}

@test "progress with a remaining time on a terminal" {
    command -v script >/dev/null
    script -qec "'$ccsim' run small.ini --no-plot -o out" /dev/null >said </dev/null
    grep -q 'of 18 runs' said
    grep -q 'to go' said
}

@test "a dry run shows the plan and writes nothing" {
    run small --dry-run -o out
    [ "$status" -eq 0 ]
    [[ "$output" == *"6 points, 3 replications: 18 runs"* ]]
    [[ "$output" == *"system.terminals"* ]]
    [[ "$output" == *"[experiment]"* ]]
    [ ! -e out ]
}

@test "only one point, only one replication" {
    small -o all --quiet
    small -o one --quiet --only algorithm=occ --only system.terminals=4 --only replication=2
    [ "$(rows one/runs.csv)" -eq 2 ]
    grep -Fxf <(tail -1 one/runs.csv) all/runs.csv
    run small --only replication=4
    [ "$status" -eq 2 ]
}

@test "a config from standard input" {
    "$ccsim" run - --no-plot -o out --quiet <small.ini
    [ "$(rows out/runs.csv)" -eq 19 ]
}

@test "running again replaces the files" {
    small -o out --quiet --set experiment.replications=1
    small -o out --quiet --fresh
    [ "$(rows out/runs.csv)" -eq 19 ]
    [ ! -e out/runs.csv.tmp ]
}

@test "a folder that cannot be made" {
    touch file
    run small -o file/out
    [ "$status" -eq 3 ]
    [[ "$output" == *"file/out: Not a directory"* ]]
    run small -o /proc/ccsim
    [ "$status" -eq 3 ]
}

@test "a folder that cannot be written to" {
    [ "$(id -u)" -ne 0 ] || skip "root may write anywhere"
    mkdir locked
    chmod a-w locked
    run small -o locked
    [ "$status" -eq 3 ]
    [[ "$output" == *"Permission denied"* ]]
}

@test "a file that cannot grow leaves old files alone, and the same command finishes" {
    run bash -c "ulimit -f 4; '$ccsim' run small.ini --no-plot -o out"
    [ "$status" -eq 3 ]
    [[ "$output" == *"File too large"* ]]
    [[ "$output" == *"kept in out/.runs.part"* ]]
    [[ "$output" == *"ccsim run small.ini -o out"* ]]
    [ -z "$(ls out)" ]
    small -o out --quiet
    small -o undisturbed --quiet
    cmp out/runs.csv undisturbed/runs.csv
    cp -r out before
    run bash -c "ulimit -f 4; '$ccsim' run small.ini --no-plot -o out --seed 5"
    [ "$status" -eq 3 ]
    diff -r --exclude=.runs.part before out
}

@test "nothing can be written at all" {
    run bash -c "ulimit -f 0; '$ccsim' run small.ini --no-plot -o out"
    [ "$status" -eq 3 ]
    [[ "$output" == *"nothing was written"* ]]
    [ ! -e out ]
}

@test "standard output that takes nothing" {
    run bash -c "'$ccsim' run small.ini --no-plot -o out >/dev/full"
    [ "$status" -eq 3 ]
    [[ "$output" == *"No space left on device"* ]]
    [ -s out/runs.csv ]
}

@test "a reader that goes away is no failure" {
    set -o pipefail
    small -o out | head -1
}

@test "two at a time in one folder" {
    long -o out --quiet &
    first=$!
    wait_for_file out/runs.csv.tmp
    run small -o out
    kill -INT "$first"
    wait "$first" || true
    [ "$status" -eq 3 ]
    [[ "$output" == *"another ccsim"* ]]
}

interrupt_after() { # SECONDS ARGUMENTS...
    local seconds=$1
    shift
    long "$@" 2>said &
    local pid=$!
    sleep "$seconds"
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
}

@test "an interruption keeps what is finished" {
    for seconds in 1 2 4 8; do # longer and longer, until a run was finished
        interrupt_after "$seconds" -o out --quiet
        [ "$status" -eq 130 ]
        grep -q interrupted said
        [ ! -e out/runs.csv ] || break
    done
    finished=$(jq .runs_finished out/manifest.json)
    [ "$finished" -ge 1 ]
    [ "$finished" -lt 30 ]
    [ "$(rows out/runs.csv)" -eq $((finished + 1)) ]
    [ "$(jq .complete out/manifest.json)" = false ]
    [ ! -e out/runs.csv.tmp ]
    awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' out/runs.csv
    [ "$(mlr --icsv --ojson stats1 -a sum -f replications out/summary.csv | jq '.[0].replications_sum')" -eq "$finished" ]
    run "$ccsim" plot out
    [ "$status" -eq 3 ]
    [[ "$output" == *"$finished of 30 runs"* ]]
}

@test "an interruption does not replace complete results" {
    small -o out --quiet
    cp -r out before
    for seconds in 1 2 4 8; do
        interrupt_after "$seconds" -o out --quiet
        [ "$status" -eq 130 ]
        [ ! -e out/interrupted ] || break
    done
    [ -s out/interrupted/runs.csv ]
    [ "$(jq .complete out/interrupted/manifest.json)" = false ]
    cmp before/runs.csv out/runs.csv
    cmp before/summary.csv out/summary.csv
    cmp before/manifest.json out/manifest.json
}

@test "a worker that dies costs one run" {
    long -o out --quiet -j 2 --set experiment.replications=2 2>said &
    pid=$!
    wait_for_file out/runs.csv.tmp
    victim=
    while [ -z "$victim" ] && kill -0 $pid; do
        victim=$(pgrep -P $pid | head -1)
    done
    sleep 0.05
    kill -KILL "$victim"
    status=0
    wait $pid || status=$?
    cat said
    [ "$status" -eq 3 ]
    grep -q 'its worker crashed (signal 9, Killed)' said
    [ "$(rows out/runs.csv)" -eq 12 ]
    [ "$(jq .runs_finished out/manifest.json)" -eq 11 ]
    # the command that the message gives computes the run that is missing
    replay=$(sed -n 's/^ *replay: ccsim //p' said)
    eval "$ccsim $replay --no-plot --quiet"
    [ "$(rows out/replay/runs.csv)" -eq 2 ]
    absent -Fxf <(tail -1 out/replay/runs.csv) out/runs.csv
}

@test "a run that cannot go on is left out, the others are kept" {
    run small -o out --set 'algorithm=no-wait' --set restart.delay=0
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "$output" == *"algorithm=no-wait system.terminals=8 replication=3: "*restart.delay* ]]
    [ "$(rows out/runs.csv)" -eq 4 ]
    [ "$(mlr --icsv --onidx cut -f system.terminals out/runs.csv | sort -u)" = 1 ]
}

usage() { # MESSAGE ARGUMENTS...
    message=$1
    shift
    run "$ccsim" "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "${lines[0]}" == "$message" ]]
}

@test "bad usage" {
    usage "ccsim: no command given"
    usage "ccsim: there is no command \`rnu'; did you mean run?" rnu
    usage "ccsim: there is no option \`--versoin'; did you mean --version?" --versoin
    usage "ccsim run: no config given" run
    usage "ccsim run: there is no option \`--sede'; did you mean --seed?" run small.ini --sede 3
    usage "ccsim run: -j: \`0' is not a whole number from 1 to 1024" run small.ini -j 0
    usage "ccsim run: -j: \`two' is not a whole number from 1 to 1024" run small.ini -j two
    usage "ccsim run: --seed: \`-1' is not a whole number from 0 to 9223372036854775807" run small.ini --seed -1
    usage "ccsim run: --shard: \`3/2' is neither K/N, shard K of N (from 1/1 to 100000/100000), nor auto" run small.ini --shard 3/2
    usage "ccsim run: --shard auto: no launcher has left its mark: none of SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, JOB_COMPLETION_INDEX is set; say --shard K/N" \
        run small.ini --shard auto
    usage "ccsim: --shard is a part of the whole experiment: it does not go with --only replication" \
        run small.ini --shard 1/2 --only replication=1
    usage "ccsim merge: no folder given" merge
    usage "ccsim run: --history: the file's name is empty" run small.ini --history ''
    usage "ccsim run: -o: the folder's name is empty" run small.ini -o ''
}

@test "version and help everywhere" {
    for command in '' run plot merge; do
        run "$ccsim" $command --version
        [ "$status" -eq 0 ]
        [[ "$output" == "ccsim "[0-9]* ]]
        run "$ccsim" $command --help
        [ "$status" -eq 0 ]
        [[ "$output" == Usage:* ]]
    done
}

@test "every config that comes with the program loads" {
    local config
    cd - >/dev/null
    for config in configs/*.ini configs/mix/*.ini; do
        "$ccsim" run "$config" --dry-run >/dev/null
    done
}
