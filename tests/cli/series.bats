# series.csv and histograms.csv: how runs went; they add up to what runs.csv says, and change nothing of it.

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >small.ini <<'INI'
[experiment]
algorithm    = 2pl occ
replications = 2
warmup       = 500ms
duration     = 3s
[system]
terminals    = 8
cpus         = 4
[workload]
name         = hot_row
INI
    small() { "$ccsim" run small.ini --no-plot --quiet "$@"; }
}

sums() { # FILE COLUMN: its sum by algorithm and replication
    mlr --icsv --opprint --ofmt %.6f stats1 -a sum -f "$2" -g algorithm,replication "$1" | awk 'NR > 1 { print $3 + 0 }'
}

@test "the pieces of a series add up to the run, which is what it was" {
    small -o plain
    small -o out --set experiment.series=700ms
    cmp plain/runs.csv out/runs.csv
    [ "$(wc -l <out/series.csv)" -eq 21 ] # four pieces of 0.7 s and one of 0.2 s, for four runs
    [ "$(head -1 out/series.csv | cut -d, -f1-5)" = "algorithm,workload,replication,seed,time_s" ]
    [ "$(mlr --icsv --onidx cut -f time_s out/series.csv | head -5 | xargs)" = "0.7 1.4 2.1 2.8 3" ]
    for column in commits aborts waits; do
        [ "$(sums out/series.csv $column)" = "$(sums out/runs.csv $column)" ]
    done
    mlr --icsv --ocsv put '$area = $blocked_mean * ($time_s > 2.9 ? 0.2 : 0.7) / 3' out/series.csv >areas.csv
    paste <(sums areas.csv area) <(sums out/runs.csv blocked_mean) | awk '{ d = $1 - $2; if (d * d > 1e-9) exit 1 }'
    [ ! -e plain/series.csv ]
    [ "$(jq '.files | index("series.csv") != null' out/manifest.json)" = true ]
}

@test "histograms count every commit, and agree with the quantiles" {
    small -o out --set experiment.histograms=yes
    for metric in response wait; do
        mlr --icsv --ocsv filter '$metric == "'$metric'"' out/histograms.csv >$metric.csv
        [ "$(sums $metric.csv count)" = "$(sums out/runs.csv commits)" ]
    done
    # The step in which half of the responses are reached holds the median.
    for algorithm in 2pl occ; do
        median=$(mlr --icsv --onidx filter '$algorithm == "'$algorithm'" && $replication == 1' then cut -f response_p50_ms out/runs.csv)
        edge=$(mlr --icsv --onidx filter '$algorithm == "'$algorithm'" && $replication == 1 && $share_below >= 0.5' \
            then head -n 1 then cut -f below_ms response.csv)
        awk -v m="$median" -v e="$edge" 'BEGIN { exit !(m <= e * 1.001 && m >= e * 16 / 17 * 0.999) }'
    done
}

@test "series and histograms survive resuming and shards" {
    small -o whole --set experiment.series=1s --set experiment.histograms=yes
    small -o parts --shard 2/2 --set experiment.series=1s --set experiment.histograms=yes
    small -o parts --shard 1/2 --set experiment.series=1s --set experiment.histograms=yes
    "$ccsim" merge parts --quiet --no-plot
    for file in runs series histograms; do cmp whole/$file.csv parts/$file.csv; done
    small -o whole
    [ ! -e whole/series.csv ]
}

@test "too many pieces" {
    run small -o out --set experiment.series=1us
    [ "$status" -eq 2 ]
    [ "$output" = "--set experiment.series=1us: series: these are 3000000 pieces a run, at most 100000 are possible" ]
}
