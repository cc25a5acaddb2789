# One experiment over several workloads: a plan for each, one table.
bats_require_minimum_version 1.5.0

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >several.ini <<'INI'
[experiment]
algorithm    = 2pl si
replications = 2
warmup       = 100ms
duration     = 1s
[system]
cpus         = 4
[workload]
rows         = 50
[workload bank]
access       = read_write
[workload hot_row]
rows         = 100
[sweep]
workload.name    = hot_row bank
system.terminals = 2 4
[figure f]
x     = system.terminals
y     = throughput_tps
group = workload
INI
}

@test "each workload has its points, and they are those it has alone" {
    "$ccsim" run several.ini -o out >table
    grep -q '^hot_row, bank, 2 replications' table
    grep -q '^algorithm  workload  terminals ' table
    [ "$(cut -d, -f2,4 out/runs.csv | tail -n +2 | uniq | xargs)" = "hot_row,1 bank,1 hot_row,2 bank,2" ]
    for name in bank hot_row; do
        "$ccsim" run several.ini --no-plot -q -o alone --fresh --set workload.name=$name
        cmp <(grep "[a-z0-9]*,$name," out/runs.csv) <(tail -n +2 alone/runs.csv)
        "$ccsim" run several.ini --no-plot -q -o only --fresh --only workload.name=$name
        cmp alone/runs.csv only/runs.csv
    done
    for name in bank hot_row; do
        grep -q ">$name" out/f.svg
    done
}

@test "the effective config is the same experiment, and shards merge" {
    "$ccsim" run several.ini --no-plot -q -o out
    "$ccsim" run several.ini --dry-run >echo.ini
    "$ccsim" run echo.ini --no-plot -q -o again
    cmp out/runs.csv again/runs.csv
    for shard in 1 2; do "$ccsim" run several.ini -q -o parts --shard $shard/2; done
    "$ccsim" merge parts -q --no-plot
    cmp out/runs.csv parts/runs.csv
    cmp out/summary.csv parts/summary.csv
}

refuses() { # MESSAGE ARGUMENTS...
    local message=$1
    shift
    run -2 "$ccsim" run several.ini -o bad "$@"
    [ "$output" = "$message" ]
    [ ! -e bad ]
}

@test "mistakes" {
    refuses "--only workload.name=ycsb: matches nothing: \`ycsb\` is not among the workloads of this experiment" \
        --only workload.name=ycsb
    refuses "--set workload.name=bank bank: the workload bank is there twice" --set 'workload.name=bank bank'
    refuses "--set workload.name=bank mix: mix is written in the config and cannot be one of several workloads" \
        --set 'workload.name=bank mix'
    sed -i 's/workload hot_row/workload hotrow/; s/^access /acess /' several.ini
    run -2 "$ccsim" run several.ini -o bad
    [[ "$output" == *"several.ini:12: unknown section [workload hotrow]"* ]]
    sed -i 's/workload hotrow/workload hot_row/' several.ini
    run -2 "$ccsim" run several.ini -o bad
    [ "$output" = "several.ini:11: unknown key \`acess\` in [workload]; did you mean access?" ]
}
