# Nothing computed is computed twice: resuming, extending, shards and merging give the bytes of one undisturbed run.
bats_require_minimum_version 1.5.0

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    unset "${!SLURM_@}" "${!OMPI_@}" "${!PMI_@}" "${!JOB_COMPLETION@}"
    cat >sweep.ini <<'INI'
[experiment]
title        = A small hot row
replications = 3
warmup       = 100ms
duration     = 4s
[system]
cpus         = 4
[workload]
name         = hot_row
[sweep]
algorithm        = 2pl occ
system.terminals = 1 4 16
INI
}

sweep() { "$ccsim" run sweep.ini --no-plot --quiet "$@"; }
known() { # EXPECTED ARGUMENTS...: so many of so many runs are known
    local expected=$1
    shift
    sweep "$@" 2>said
    if [ "$expected" = none ]; then
        ! grep known said
    else
        grep -F "ccsim: $expected runs are known from" said
    fi
}

@test "what is there is not computed again, unless it is asked for" {
    known none -o out
    cp out/runs.csv first
    known "18 of 18" -o out
    cmp first out/runs.csv
    known none -o out --fresh
    cmp first out/runs.csv
}

@test "more replications and a longer sweep compute the difference" {
    known none -o out
    known "18 of 30" -o out --set experiment.replications=5
    known "30 of 40" -o out --set experiment.replications=5 --set 'system.terminals=1 2 4 16'
    sweep -o undisturbed --set experiment.replications=5 --set 'system.terminals=1 2 4 16'
    cmp out/runs.csv undisturbed/runs.csv
    cmp out/summary.csv undisturbed/summary.csv
    known "18 of 18" -o out
    sweep -o small
    cmp out/runs.csv small/runs.csv
}

@test "what a run depends on is computed anew, what is a label is not" {
    sweep -o out
    known none -o out --seed 2
    known none -o out --set cost.log_force=1ms
    known none -o out --set experiment.certify=no
    known none -o out --set 2pl.victim=oldest --only algorithm=2pl
    known none -o out --set workload.rows=1000
    known none -o out --set restart.delay=1ms
    known none -o out --set experiment.duration=5s
    known "9 of 9" -o out --only algorithm=occ --set 'experiment.title=Another title'
    sed 's/2pl occ/serial occ/' sweep.ini >labels.ini
    printf '[algorithm serial]\ntype = 2pl\n' >>labels.ini
    run "$ccsim" run labels.ini --no-plot --quiet -o out
    [ "$status" -eq 0 ]
    [[ "$output" == *"18 of 18 runs are known"* ]]
    sed 's/^2pl,/serial,/' <(sweep -o again && cat again/runs.csv) | cmp - out/runs.csv
}

@test "a workload written in the config is part of what a run depends on" {
    cat >mix.ini <<'INI'
[experiment]
algorithm    = 2pl
replications = 2
warmup       = 0
duration     = 100ms
[system]
terminals    = 2
[workload]
name         = mix
[table t]
rows         = 10
[transaction a]
let x        = uniform(t)
steps        = r(t x) w(t x, +=1)
[transaction b]
steps        = q(t *)
INI
    mix() { "$ccsim" run mix.ini --no-plot --quiet -o out "$@" 2>&1; }
    mix
    [[ "$(mix)" == *"2 of 2 runs are known"* ]]
    [ -z "$(mix --set transaction.a.weight=2)" ]
    [ -z "$(mix --set table.t.rows=11)" ]
    [[ "$(mix --set table.t.rows='10 11')" == *"4 of 4 runs are known"* ]]
    sed -i 's/+=1/+=2/' mix.ini
    [ -z "$(mix)" ]
}

@test "killed at any moment and run again: the same bytes" {
    sweep -o undisturbed --set experiment.duration=20s
    for wait in 0.02 0.05 0.1 0.2 0.3; do
        timeout -s KILL "$wait" "$ccsim" run sweep.ini --no-plot --quiet -o out --set experiment.duration=20s || true
    done
    sweep -o out --set experiment.duration=20s
    cmp out/runs.csv undisturbed/runs.csv
    cmp out/summary.csv undisturbed/summary.csv
    [ -z "$(ls out | grep tmp)" ]
}

@test "a torn row is dropped" {
    sweep -o out
    cp out/runs.csv first
    truncate -s -5 out/.runs.part
    known "17 of 18" -o out
    cmp first out/runs.csv
    known "18 of 18" -o out
}

@test "a broken promise is told again" {
    run -1 "$ccsim" run sweep.ini --no-plot --quiet -o out --set algorithm=none --set 'system.terminals=4'
    broken=$(grep -c "is broken" <<<"$output")
    run -1 "$ccsim" run sweep.ini --no-plot --quiet -o out --set algorithm=none --set 'system.terminals=4'
    [[ "$output" == *"3 of 3 runs are known"* ]]
    [ "$(grep -c "is broken" <<<"$output")" -eq "$broken" ]
}

@test "shards, in one folder or several, merge to the whole" {
    sweep -o whole
    for shard in 2 1 3; do sweep -o together --shard $shard/3; sweep -o "part$shard" --shard $shard/3; done
    "$ccsim" merge together --no-plot --quiet
    "$ccsim" merge part3 part1 part2 -o merged --no-plot --quiet
    for folder in together merged; do
        cmp whole/runs.csv "$folder/runs.csv"
        cmp whole/summary.csv "$folder/summary.csv"
        [ "$(jq .complete "$folder/manifest.json")" = true ]
    done
    known "18 of 18" -o together
    sweep -o together --seed 5
    "$ccsim" merge together --no-plot --quiet
    cmp whole/runs.csv together/runs.csv
    sweep -j 1 -o one --shard 1/1
    "$ccsim" merge one --no-plot --quiet
    cmp whole/runs.csv one/runs.csv
}

@test "what a shard knows from another part file is in its own" {
    sweep -o out
    sweep -o out --set experiment.replications=5 --shard 1/2
    sweep -o out --set experiment.replications=5 --shard 2/2
    sweep -o whole --set experiment.replications=5
    mkdir alone
    cp out/runs-*-of-2.part alone
    "$ccsim" merge --quiet --no-plot out
    cmp out/runs.csv whole/runs.csv
    "$ccsim" merge --quiet --no-plot alone
    cmp alone/summary.csv whole/summary.csv
}

@test "shards by launcher" {
    sweep -o whole
    for rank in 0 1 2; do OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 sweep -o mpi --shard auto 2>>said; done
    grep -F "ccsim: shard 3 of 3, by Open MPI: OMPI_COMM_WORLD_RANK = 2, OMPI_COMM_WORLD_SIZE = 3" said
    "$ccsim" merge mpi --no-plot --quiet
    cmp whole/runs.csv mpi/runs.csv
}

@test "a lost shard is named with its command" {
    sweep -o parts --shard 1/3
    sweep -o parts --shard 3/3
    run -3 "$ccsim" merge parts
    [ "$output" = "ccsim: shard 2 of 3 is missing, 6 runs: ccsim run sweep.ini --shard 2/3 -o parts" ]
    [ ! -e parts/runs.csv ]
    sweep -o parts --shard 2/3
    truncate -s -5 parts/runs-1-of-3.part
    run -3 "$ccsim" merge parts
    [ "$output" = "ccsim: shard 1 of 3 is not complete, 1 of its 6 runs are missing: ccsim run sweep.ini --shard 1/3 -o parts" ]
    known "5 of 6" -o parts --shard 1/3
    "$ccsim" merge parts --quiet
    sweep -o whole
    cmp whole/runs.csv parts/runs.csv
}

@test "what does not belong together does not merge" {
    sweep -o a --shard 1/2
    sweep -o b --shard 2/2 --seed 9
    run -2 "$ccsim" merge a b -o c
    [ "$output" = "ccsim: a/runs-1-of-2.part and b/runs-2-of-2.part are of two experiments: their configs differ" ]
    [ ! -e c ]
    mkdir empty
    run -2 "$ccsim" merge a empty
    [[ "$output" == "ccsim: empty: there is no part file in it; "* ]]
    run -2 "$ccsim" merge nowhere
    [ "$output" = "ccsim: nowhere: No such file or directory" ]
    echo "no part file" >empty/x.part
    run -2 "$ccsim" merge empty
    [ "$output" = "ccsim: empty/x.part: it does not begin as a part file does" ]
}

@test "merging into a folder that cannot be made" {
    sweep -o a --shard 1/1
    touch file
    run -3 "$ccsim" merge a -o file/out
    [[ "$output" == *"Not a directory; nothing was written"* ]]
}
