# How results are made of runs: warm-ups found by pilots, replications added for a precision, batches of one run, paired
# comparisons, and warnings. What they compute is computed again with miller and awk from the rows.
bats_require_minimum_version 1.5.0

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >small.ini <<'INI'
[experiment]
replications = 3
warmup       = 100ms
duration     = 3s
[system]
cpus         = 4
[workload]
name         = hot_row
[sweep]
algorithm        = 2pl occ
system.terminals = 1 4
INI
    cat >open.ini <<'INI'
[experiment]
algorithm    = 2pl
replications = 3
warmup       = 1s
duration     = 10s
[system]
arrival_rate = 50/s
cpus         = 4
[workload]
name         = hot_row
INI
}

small() { "$ccsim" run small.ini --no-plot --quiet "$@"; }
precise() { small --set experiment.precision=2.5% --set experiment.replications_max=8 "$@"; }
cells() { mlr --icsv --onidx cut -o -f "$2" "$1"; } # FILE COLUMNS

@test "replications are added until the interval is narrow enough, or the limit is met" {
    precise -o out
    small -o all --set experiment.replications=8
    # Of each point the first replications, and no others.
    [ "$(mlr --icsv --onidx count-distinct -f algorithm,system.terminals then cut -f count out/runs.csv)" = \
        "$(cells out/summary.csv replications)" ]
    [ "$(grep -Fxvc -f all/runs.csv out/runs.csv)" = 0 ]
    # The rule, once more: precise is a half-width of 2.5% / (1 + 2.5%) of the mean; else as many as the spread predicts, at
    # least one and at most as many again, until there are eight.
    mlr --icsv --onidx --ofs , cut -o -f algorithm,system.terminals,throughput_tps all/runs.csv | awk -F, '
        BEGIN { split("12.7062 4.302653 3.182446 2.776445 2.570582 2.446912 2.364624", t, " ") }
        { point = $1 " " $2; if (!(point in n)) order[++points] = point; x[point, ++n[point]] = $3 }
        END {
            for (p = 1; p <= points; p++) {
                for (k = 3; ; k = more < 8 ? more : 8) {
                    sum = squares = 0
                    for (i = 1; i <= k; i++) sum += x[order[p], i]
                    for (i = 1; i <= k; i++) squares += (x[order[p], i] - sum / k) ^ 2
                    ratio = t[k - 1] * sqrt(squares / (k - 1) / k) / (0.025 / 1.025 * sum / k)
                    if (ratio <= 1 || k == 8) break
                    more = int(k * ratio ^ 2)
                    more += more < k * ratio ^ 2
                    more = more < k + 1 ? k + 1 : more > 2 * k ? 2 * k : more
                }
                print k
            }
        }' >expected
    [ "$(sort -u expected | wc -l)" -gt 1 ]
    cells out/summary.csv replications | diff expected -
}

@test "what was added is the same after an interruption, in shards, and with one worker" {
    precise -o out
    for wait in 0.02 0.05 0.1; do
        timeout -s KILL "$wait" "$ccsim" run small.ini --no-plot --quiet -o killed --set experiment.precision=2.5% \
            --set experiment.replications_max=8 || true
    done
    precise -o killed
    precise -o one -j 1
    for shard in 3 1 2; do precise -o parts --shard $shard/3; done
    "$ccsim" merge parts --quiet --no-plot
    [ "$(cat parts/*.part | grep -c ' run ')" = "$(grep -c ' run ' out/.runs.part)" ]
    small -o grown
    precise -o grown
    for other in killed one parts grown; do
        cmp out/runs.csv $other/runs.csv
        cmp out/summary.csv $other/summary.csv
    done
    precise -o lost --shard 1/2
    run -3 "$ccsim" merge lost
    [[ "$output" == "ccsim: shard 2 of 2 is missing, "*" runs: ccsim run small.ini "*" --shard 2/2 -o lost" ]]
}

@test "a limit that is met is told, with what would help" {
    run --separate-stderr "$ccsim" run small.ini --no-plot -o out --set experiment.precision=0.1% \
        --set experiment.replications_max=4
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"ccsim: warning: "*" of 4 points cannot tell throughput_tps to within 0.1%, most of all algorithm="*"; replications_max = 4 was the limit"* ]]
    run --separate-stderr "$ccsim" run small.ini --no-plot -o out
    [ -z "$(grep warning <<<"$stderr")" ]
}

@test "a pilot finds the warm-up, the same for all replications of a point" {
    small -o out --set experiment.warmup=auto
    [ "$(mlr --icsv --onidx count-distinct -f algorithm,system.terminals,warmup_s then count out/runs.csv)" = 4 ]
    # It was said by hand: the same runs.
    warmup=$(mlr --icsv --onidx filter '$algorithm == "2pl" && ${system.terminals} == 4' then head -n 1 then cut -f warmup_s out/runs.csv)
    small -o hand --set experiment.warmup="${warmup}s" --only algorithm=2pl --only system.terminals=4
    [ "$(grep '^2pl,hot_row,4,' out/runs.csv)" = "$(grep '^2pl,' hand/runs.csv)" ]
    for shard in 1 2; do small -o parts --shard $shard/2 --set experiment.warmup=auto; done
    "$ccsim" merge parts --quiet --no-plot
    cmp out/runs.csv parts/runs.csv
    run small -o out --set experiment.warmup=auto
    [[ "$output" == *"12 of 12 runs are known"* ]]
}

@test "an open system that cannot keep up is told, one that can is not" {
    run --separate-stderr "$ccsim" run open.ini --no-plot -o out --set system.arrival_rate=300/s
    [[ "$stderr" == *"1 of 1 point got more than could be done: of "*" transactions a second "*" stayed behind"* ]]
    run --separate-stderr "$ccsim" run open.ini --no-plot -o out --set system.arrival_rate=300/s --set experiment.warmup=auto \
        --set experiment.duration=2s --fresh
    [[ "$stderr" == *"1 of 1 point did not settle down: the pilot of 8 s saw no end of the warm-up"* ]]
    [ "$(cells out/runs.csv warmup_s | sort -u)" = 4 ]
    run --separate-stderr "$ccsim" run open.ini --no-plot -o out
    [[ "$stderr" != *"got more"* && "$stderr" != *"settle"* ]]
    [ "$(cells out/runs.csv backlog_growth_tps | awk '$1 * $1 < 1' | wc -l)" = 3 ]
}

@test "a start that is not over is told" {
    sed 's/^arrival_rate.*/terminals = 50\nthink_time = 1s\nstart_within = 10s/; s/^warmup.*/warmup = 0/' open.ini >start.ini
    run --separate-stderr "$ccsim" run start.ini --no-plot -o out
    [[ "$stderr" == *"1 of 1 point had not settled down: commits of the two halves of the time differ by "* ]]
    [ "$(cells out/runs.csv drift | awk '$1 > 0.2' | wc -l)" = 3 ]
    run --separate-stderr "$ccsim" run start.ini --no-plot -o out --set experiment.warmup=auto --set experiment.duration=40s
    [[ "$stderr" != *"settle"* ]]
    [ "$(cells out/runs.csv warmup_s | awk '$1 > 5 && $1 < 15' | wc -l)" = 3 ]
}

@test "batches of one run give its intervals" {
    small -o out --set experiment.replications=1 --set experiment.batches=20 --set experiment.duration=10s
    small -o plain --set experiment.replications=1 --set experiment.duration=10s
    cmp out/runs.csv plain/runs.csv
    [ "$(wc -l <out/batches.csv)" = 81 ]
    small -o plain --set experiment.replications=1 --set experiment.batches=20 --set experiment.duration=10s
    cmp out/batches.csv plain/batches.csv
    for column in throughput_tps response_mean_ms blocked_mean; do
        mlr --icsv --onidx --ofmt %.7e stats1 -a stddev -f $column -g algorithm,system.terminals \
            then put '$half = 2.09302405 * $'$column'_stddev / 20 ** 0.5' then cut -f half out/batches.csv >expected
        cells out/summary.csv ${column}_ci95 | paste - expected |
            awk '{ d = $1 - $2; if (d > 1e-6 * $2 || -d > 1e-6 * $2) exit 1 } END { exit NR != 4 }'
    done
    # A count is the sum of the batches'.
    [ "$(cells out/summary.csv commits,commits_ci95,throughput_tps,throughput_tps_ci95 |
        awk '{ d = $1 / $2 / ($3 / $4) - 1; if (d * d > 1e-12) exit 1; n++ } END { print n }')" = 4 ]
    [ -z "$(cells out/summary.csv response_p99_ms_ci95 | tr -d '\n ')" ]
    small -o parts --shard 1/1 --set experiment.replications=1 --set experiment.batches=20 --set experiment.duration=10s
    "$ccsim" merge parts --quiet --no-plot
    cmp out/batches.csv parts/batches.csv
    cmp out/summary.csv parts/summary.csv
}

@test "batches that depend on one another are told" {
    run --separate-stderr "$ccsim" run open.ini --no-plot -o out --set experiment.replications=1 --set experiment.batches=1000 \
        --set experiment.duration=2s --set system.arrival_rate=200/s
    [[ "$stderr" == *"1 of 1 point had batches that depend on one another (correlation "* ]]
}

@test "algorithms are compared pair by pair" {
    run --separate-stderr "$ccsim" run small.ini --no-plot -o out --set experiment.compare=2pl
    [ "$status" -eq 0 ]
    [[ "$output" == *"against 2pl"*"out/compare.csv"* ]]
    [ "$(jq '.files | index("compare.csv") != null' out/manifest.json)" = true ]
    [ "$(cut -d, -f1-5 out/compare.csv | xargs)" = \
        "algorithm,workload,system.terminals,compared_to,pairs occ,hot_row,1,2pl,3 occ,hot_row,4,2pl,3" ]
    mlr --icsv --ocsv reshape -s algorithm,throughput_tps then cut -f system.terminals,replication,2pl,occ \
        <(mlr --icsv --ocsv cut -f algorithm,system.terminals,replication,throughput_tps out/runs.csv) >wide.csv
    mlr --icsv --onidx --ofmt %.7e put '$d = $occ - ${2pl}' then stats1 -a mean,stddev -f d -g system.terminals \
        then put '$half = 4.302653 * $d_stddev / 3 ** 0.5' then cut -o -f d_mean,half wide.csv >expected
    cells out/compare.csv throughput_tps_difference,throughput_tps_difference_ci95 | paste - expected |
        awk '{ d = $1 - $3; e = $2 - $4; if (d * d + e * e > 1e-6) exit 1 } END { exit NR != 2 }'
    # --only may leave nothing to compare with.
    small -o alone --set experiment.compare=2pl --only algorithm=occ
    [ ! -e alone/compare.csv ]
    small -o parts --shard 1/1 --set experiment.compare=2pl
    "$ccsim" merge parts --quiet --no-plot
    cmp out/compare.csv parts/compare.csv
}

@test "plan and trace find their warm-up as well" {
    sed -i 's/^warmup.*/warmup = auto/; s/^duration.*/duration = 2s/' open.ini
    "$ccsim" plan open.ini --slo 'response_p99_ms < 100' --quiet >answer
    grep -F 'of 2 s after a warm-up as pilots find it' answer
    "$ccsim" trace open.ini --for 50ms -o traced
    [ -s traced/timeline.svg ]
}
