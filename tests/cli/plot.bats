#!/usr/bin/env bats
# ccsim plot: figures from a results folder alone.

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >small.ini <<'INI'
[experiment]
title        = It's a "small" hot_row
replications = 2
warmup       = 0
duration     = 500ms
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
log = x
[figure response]
title = How long it takes
x = system.terminals
y = response_p99_ms
group = algorithm
log = xy
INI
}

small() { "$ccsim" run small.ini -o out "$@"; }

# set -e does not mind a `! grep`.
absent() { ! grep "$@"; }

@test "run draws every figure and keeps its script" {
    small >table
    for figure in throughput response; do
        [ -s "out/$figure.gp" ]
        grep -q '</svg>' "out/$figure.svg"
        grep -qx "out/$figure.svg" table
    done
    [ "$(ls out | wc -l)" -eq 7 ]
}

@test "title, axes with units, legend" {
    small --quiet
    grep -q "It&#39;s a &quot;small&quot; hot_row\|It's a &quot;small&quot; hot_row\|It's a \"small\" hot_row" out/throughput.svg
    grep -q 'How long it takes' out/response.svg
    for words in 'throughput (commits/s)' '>terminals<' '>2pl<' '>occ<'; do
        grep -q "$words" out/throughput.svg
    done
    grep -q 'response p99 (ms)' out/response.svg
}

@test "error bars where there are replications, none where there is one" {
    small --quiet
    grep -q yerrorlines out/throughput.gp
    small --quiet --set experiment.replications=1
    grep -q 'with linespoints' out/throughput.gp
    absent -q yerrorlines out/throughput.gp
    grep -q '</svg>' out/throughput.svg
}

@test "powers of two are labelled in plain digits" {
    small --quiet
    grep -q "set logscale x 2" out/throughput.gp
    grep -q ">8<" out/throughput.svg
}

@test "the folder is enough, and may have moved" {
    small --quiet
    mv out elsewhere
    rm elsewhere/*.svg elsewhere/*.gp small.ini
    run "$ccsim" plot elsewhere
    [ "$status" -eq 0 ]
    [ "$output" = $'elsewhere/throughput.svg\nelsewhere/response.svg' ]
    grep -q '</svg>' elsewhere/throughput.svg
}

@test "the script draws the same by hand" {
    small --quiet
    cp out/throughput.svg before.svg
    rm out/throughput.svg
    (cd out && gnuplot throughput.gp)
    cmp before.svg out/throughput.svg
}

@test "other formats" {
    small --quiet --no-plot
    "$ccsim" plot out --format png
    [ "$(head -c 4 out/throughput.png | tail -c 3)" = PNG ]
    "$ccsim" plot out --format=pdf
    [ "$(head -c 4 out/throughput.pdf)" = '%PDF' ]
    [ ! -e out/throughput.svg ]
}

@test "words along the x axis" {
    sed -i 's/^system.terminals = 1 4 8/system.cpus = 2 unlimited/; s/^x = .*/x = system.cpus/; s/^log = .*//' small.ini
    small --quiet
    grep -q '>unlimited<' out/throughput.svg
    grep -q 'yerrorbars' out/throughput.gp
}

@test "more axes than the figure shows give more curves" {
    small --quiet --set 'system.cpus=2 4'
    grep -q '>2pl, cpus 2<' out/throughput.svg
    grep -q '>occ, cpus 4<' out/throughput.svg
}

@test "gnuplot is missing" {
    mkdir empty
    run env PATH="$PWD/empty" "$ccsim" run small.ini -o out --quiet
    [ "$status" -eq 3 ]
    [[ "$output" == *"gnuplot is not installed"*"ccsim plot out"* ]]
    [ -s out/runs.csv ]
    [ -s out/throughput.gp ]
    [ ! -e out/throughput.svg ]
    run "$ccsim" plot out
    [ "$status" -eq 0 ]
}

@test "gnuplot that fails, or stops half-way, leaves the old figure" {
    small --quiet
    cp out/throughput.svg before.svg
    mkdir bin
    whole="<svg>$(printf '%100s' '')</svg>"
    for script in "echo '$whole' >throughput.svg.tmp; exit 1" "echo '${whole%</svg>}' >throughput.svg.tmp"; do
        printf '#!/bin/sh\n%s\n' "$script" >bin/gnuplot
        chmod +x bin/gnuplot
        run env PATH="$PWD/bin:$PATH" "$ccsim" plot out
        [ "$status" -eq 3 ]
        [[ "$output" == *"gnuplot could not draw out/throughput.gp"* ]]
        cmp before.svg out/throughput.svg
        [ ! -e out/throughput.svg.tmp ]
    done
}

@test "no results there" {
    mkdir nothing
    run "$ccsim" plot nothing
    [ "$status" -eq 3 ]
    [[ "$output" == *"nothing/manifest.json: No such file or directory"* ]]
}

@test "a manifest that is none" {
    small --quiet --no-plot
    echo '{"figures": 3}' >out/manifest.json
    run "$ccsim" plot out
    [ "$status" -eq 3 ]
    echo '{' >out/manifest.json
    run "$ccsim" plot out
    [ "$status" -eq 3 ]
    [[ "$output" == *"out/manifest.json:"* ]]
}

@test "a column that is not there" {
    small --quiet --no-plot
    sed -i 's/"y": "throughput_tps"/"y": "throughputs_tps"/' out/manifest.json
    run "$ccsim" plot out
    [ "$status" -eq 2 ]
    [[ "$output" == *"[figure throughput]: summary.csv has no column \`throughputs_tps\`; did you mean throughput_tps?"* ]]
    [ -s out/response.svg ]
}

@test "bad usage" {
    for arguments in "plot" "plot a b" "plot --format gif out" "plot --fromat svg out"; do
        # shellcheck disable=SC2086
        run "$ccsim" $arguments
        [ "$status" -eq 2 ]
    done
    [[ "$output" == *"did you mean --format?"* ]]
}

over_time() {
    cat >>small.ini <<'INI'
[figure course]
source = series
y = throughput_tps
group = algorithm
[figure times]
source = histograms
x = response
log = x
INI
    small --quiet --no-plot --set experiment.series=100ms --set experiment.histograms=yes
}

# The numbers of curve NUMBER of a figure, as gnuplot draws them.
drawn() { # FIGURE NUMBER
    (cd out && sed "s/^set terminal.*//; s/^set output.*/set table 'drawn'/" "$1.gp" >table.gp && gnuplot table.gp &&
        awk -v number="$2" '/^# Curve/ { curve++ } /^ *[0-9.e+-]+ +[0-9.e+-]+ +i/ && curve == number { print $1, $2 }' drawn)
}

near() { paste -d ' ' - "$1" | awk '{ d = $1 - $3; e = $2 - $4; if (d * d + e * e > 1e-6) exit 1 } END { exit NR == 0 }'; }

@test "a series is averaged over the replications" {
    over_time
    "$ccsim" plot out >/dev/null
    mlr --icsv --onidx filter '$algorithm == "occ" && ${system.terminals} == 4' \
        then stats1 -a mean -f throughput_tps -g time_s out/series.csv >expected
    [ "$(wc -l <expected)" = 5 ]
    drawn course 5 | near expected
    grep -q '>time (s)<' out/course.svg
}

@test "histograms of all replications give one share" {
    over_time
    "$ccsim" plot out >/dev/null
    mlr --icsv --onidx filter '$algorithm == "2pl" && ${system.terminals} == 8 && $metric == "response"' \
        then stats1 -a sum -f count -g below_ms then sort -nf below_ms out/histograms.csv |
        awk '{ x[NR] = $1; sum += $2; y[NR] = sum } END { for (i = 1; i <= NR; i++) print x[i], y[i] / sum }' >expected
    drawn times 3 | near expected
    grep -q '>response time (ms)<' out/times.svg
}

@test "a figure without its source" {
    over_time
    run small --dry-run
    [ "$status" -eq 2 ]
    [[ "$output" == *"small.ini:27: source: there is no series.csv without experiment.series (such as 1s)"* ]]
    [[ "$output" == *"small.ini:31: source: there is no histograms.csv without experiment.histograms = yes"* ]]
    sed -i 's/^x = response$/x = throughput_tps/; s/^source = series$/source = series\nx = system.terminals/' small.ini
    run small --dry-run --set experiment.series=1s --set experiment.histograms=yes
    [[ "$output" == *"x: \`system.terminals\` is not time_s, as it is for a series"* ]]
    [[ "$output" == *"x: \`throughput_tps\` is neither response nor wait: only they have histograms"* ]]
}

@test "a map: a cell for each pair of values, and the winner that the numbers say" {
    cat >map.ini <<'INI'
[figure best]
kind = map
x = system.terminals
y = workload.rows
group = algorithm
INI
    "$ccsim" run small.ini map.ini --set workload.rows='8 1000' -o out --quiet
    grep -q '</svg>' out/best.svg
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { cell = $at["workload.rows"] "," $at["system.terminals"]; tps = $at["throughput_tps"] + 0
          if (!(cell in most) || tps > most[cell]) { most[cell] = tps; name[cell] = $1 } }
        END { for (cell in name) print name[cell] }' out/summary.csv | sort >expected
    sed -n '/^\$cells/,/^END/p' out/best.gp | awk -F'"' 'NF > 1 { print $2 }' | sort | diff expected -
    [ "$(wc -l <expected)" -eq 6 ]
    run "$ccsim" run small.ini map.ini --set workload.rows='8 1000' --set system.cpus='2 4' -o open
    [ "$status" -eq 2 ]
    [[ "$output" == *'a map shows x, y and group, and `system.cpus` varies too'* ]]
}

@test "a map's mistakes, all at once" {
    cat >map.ini <<'INI'
[figure best]
kind = map
x = throughput_tps
y = throughput_tps
value = throughput_tsp
INI
    run "$ccsim" run small.ini map.ini -o out
    [ "$status" -eq 2 ]
    [[ "$output" == *'map.ini:1: [figure best] needs `group`'* ]]
    [[ "$output" == *'map.ini:3: x: `throughput_tps` is no axis of the sweep'* ]]
    [[ "$output" == *'map.ini:4: y: `throughput_tps` is no axis of the sweep'* ]]
    [[ "$output" == *'map.ini:5: value: `throughput_tsp` is no metric; did you mean throughput_tps?'* ]]
    [ ! -e out ]
}

@test "values with commas tell curves apart" {
    sed -i 's/^system.terminals = .*/system.terminals = 2 4\nrestart.delay = backoff(1ms, 2, 20ms) backoff(1ms, 2, 40ms)/' small.ini
    sed -i '/^group/d' small.ini
    "$ccsim" run small.ini -o out --quiet --only algorithm=2pl 2>errors
    [ ! -s errors ]
    [ "$(grep -c 'title .*delay backoff(1ms, 2, [24]0ms)' out/throughput.gp)" -eq 2 ]
    # the points that gnuplot draws, curve after curve, are those of the file
    (cd out && gnuplot -e "set table 'points'" throughput.gp)
    awk '/^# Curve/ { curve++ } $NF == "i" { printf "%d %s %.3f\n", int((curve + 1) / 2), $1, $2 }' out/points | sort >drawn
    sed 's/"backoff(1ms, 2, \([24]\)0ms)"/\1/' out/summary.csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%d %s %.3f\n", $at["restart.delay"] / 2, $at["system.terminals"], $at["throughput_tps"] }' | sort >known
    diff known drawn
}
