#!/usr/bin/env bats
# ccsim trace: the timeline of a short run.

setup() {
    ccsim=$(cd "${CCSIM_BUILD_DIR:-$BATS_TEST_DIRNAME/../../build}" && pwd)/ccsim
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR" || return 1
}

trace() { "$ccsim" trace "$root/configs/trace/timeline.ini" "$@"; }

refused() {
    local words=$1
    shift
    run trace "$@"
    [ "$status" -eq 2 ]
    [[ "$output" == *"$words"* ]]
    [ ! -e results ]
}

@test "timeline and graph, each as svg and png, the same every time" {
    trace -o one >list
    trace -o two --no-plot >/dev/null
    for file in trace.csv timeline.gp waits.dot; do
        cmp "one/$file" "two/$file"
    done
    for picture in timeline waits; do
        grep -q '</svg>' "one/$picture.svg"
        [ "$(head -c 4 "one/$picture.png" | tail -c 3)" = PNG ]
        grep -qx "one/$picture.svg" list
    done
    [ "$(ls two | wc -l)" -eq 3 ]
}

@test "the deadlock that the config promises is on the graph" {
    trace -o out --no-plot >/dev/null
    [ "$(grep -c penwidth out/waits.dot)" -ge 2 ]
    grep -q ',abort,.*deadlock$' out/trace.csv
}

@test "--from, --for and --at" {
    trace -o out --no-plot --from 10ms --for 5ms --at 12ms >/dev/null
    grep -q 'at 12 ms' out/waits.dot
    awk -F, 'NR > 1 && ($5 < 10 || $6 > 15) { exit 1 }' out/trace.csv
    grep -q 'xrange \[10.000000:15.000000\]' out/timeline.gp
}

@test "what makes no sense is refused" {
    refused 'a trace is of one run, and here are 2 points: pick one, for example --only' --set algorithm='2pl occ'
    refused '--at is not between' --at 1ms
    refused '--for: 0 is no time' --for 0
    refused 'soon' --from soon
    run "$ccsim" trace
    [ "$status" -eq 2 ]
}

@test "an open system, with a place for each that is under way" {
    trace -o out --set system.arrival_rate=200/s --from 0 --for 50ms >/dev/null
    grep -q 'ylabel .place.' out/timeline.gp
    grep -q ',T3,1,commit' out/trace.csv
}

@test "no gnuplot: the numbers are there, and the command that finishes" {
    run env PATH=/nowhere "$ccsim" trace "$root/configs/trace/timeline.ini" -o out
    [ "$status" -eq 3 ]
    [[ "$output" == *"gnuplot is not installed"*"then: ccsim trace"* ]]
    [[ "$output" == *"dot is not installed"* ]]
    [ -s out/trace.csv ]
}
