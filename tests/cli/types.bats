#!/usr/bin/env bats
# types.csv: a row for each type of transaction, whose counts add up to those of runs.csv.

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >types.ini <<'INI'
[experiment]
algorithm    = 2pl si
replications = 2
warmup       = 100ms
duration     = 1s
[system]
terminals    = 6
[restart]
max_attempts = 2
[workload]
name         = bank
rows         = 20
rollback     = 10%
[sweep]
workload.audit_fraction = 0 20%
INI
}

types() { "$ccsim" run types.ini --quiet -o out "$@"; }

@test "a row for each type of each run that has several" {
    types
    [ "$(mlr --icsv --onidx --ofs ' ' filter '${replication} == 1' then cut -o -f algorithm,workload.audit_fraction,type out/types.csv)" = \
        $'2pl 0.2 transfer\n2pl 0.2 audit\nsi 0.2 transfer\nsi 0.2 audit' ]
    [ "$(jq -r '.files | sort | join(" ")' out/manifest.json)" = "manifest.json runs.csv summary.csv types.csv" ]
}

@test "the types add up to the run" {
    types
    sums='algorithm,replication,commits,aborts,rollbacks,waits,gave_up,aborts_deadlock,aborts_write_conflict,deadlocks'
    mlr --icsv --ocsv filter '${workload.audit_fraction} == 0.2' then cut -o -f $sums out/runs.csv >whole
    mlr --icsv --ocsv stats1 -a sum -g algorithm,replication -f "${sums#algorithm,replication,}" then \
        rename -r '_sum$,' out/types.csv >parts
    diff whole parts
    [ "$(mlr --icsv --onidx stats1 -a min -f rollbacks,gave_up whole | tr ' ' '\n' | grep -c '^0$')" -eq 0 ]
}

@test "the types' responses are the run's" {
    types
    mlr --icsv --onidx --ofs ' ' put -q '
        @sum[$algorithm][$replication] = (@sum[$algorithm][$replication] ?? 0) + $response_mean_ms * $commits;
        @max[$algorithm][$replication] = max(@max[$algorithm][$replication] ?? 0, $response_max_ms);
        end { emit (@sum, @max), "algorithm", "replication" }' out/types.csv |
        while read -r algorithm replication sum max; do
            mlr --icsv --onidx --ofs ' ' filter '${workload.audit_fraction} == 0.2 && $algorithm == "'"$algorithm"'" && $replication == '"$replication" \
                then put '$sum = $response_mean_ms * $commits' then cut -o -f sum,response_max_ms out/runs.csv >whole
            read -r whole_sum whole_max <whole
            echo "$sum $whole_sum $max $whole_max" | awk '{ exit !($1 - $2 < 1e-3 && $2 - $1 < 1e-3 && $3 == $4) }'
        done
}

@test "one type: no types.csv, and none of an earlier experiment stays" {
    types
    [ -s out/types.csv ]
    types --set workload.audit_fraction=0 --fresh
    [ "$(ls out)" = $'manifest.json\nruns.csv\nsummary.csv' ]
}

@test "the bytes do not depend on the number of workers" {
    types -j 1
    mv out one
    types -j 5
    cmp one/types.csv out/types.csv
}
