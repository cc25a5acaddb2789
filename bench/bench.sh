#!/usr/bin/env bash
# How fast the kernel and the simulator are, each beside the floor of its model: bench/bench.sh [BUILD]
#
# Every program prints its rate first, per second of processor time. The pairs are run in turn, so that what else the
# machine does hits both alike; each number is the median of RUNS (5) such runs.
set -euo pipefail
export LC_ALL=C
build=${1:-build}
runs=${RUNS:-5}

# rate PROGRAM ARGUMENT...: the first word it prints; a program that fails ends the benchmark.
rate() {
    local program=$1 output
    shift
    output=$("$build/bench/$program" "$@")
    echo "${output%% *}"
}

median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# compare LABEL UNIT SCALE 'PROGRAM ARGUMENTS' 'FLOOR ARGUMENTS'
compare() {
    local label=$1 unit=$2 scale=$3 program floor ours='' floors='' i
    read -ra program <<<"$4"
    read -ra floor <<<"$5"
    for ((i = 0; i < runs; i++)); do
        ours+="$(rate "${program[@]}")"$'\n'
        floors+="$(rate "${floor[@]}")"$'\n'
    done
    awk -v label="$label" -v unit="$unit" -v scale="$scale" -v ours="$(printf %s "$ours" | median)" \
        -v floor="$(printf %s "$floors" | median)" \
        'BEGIN { printf "%-46s %9.2f %9.2f %7.2f  %s\n", label, ours / scale, floor / scale, ours / floor, unit }'
}

printf '%-46s %9s %9s %7s\n' "median of $runs" measured floor ratio
for n in 64 4096 65536; do
    compare "hold, $n pending" "million events/s" 1 "hold hold $n" "floor_tree $n"
done
for n in 64 4096; do
    compare "hold on another slot, $n slots, half empty" "million events/s" 1 "hold move $n" "floor_tree $((n / 2))"
done
for rows in 1000 100000 10000000; do
    if [[ -x $build/bench/closed ]]; then
        compare "closed model, $rows rows" "million transactions/s" 1e6 "closed $rows" "floor_closed $rows"
    else
        printf '%-46s %9s %9.2f %7s  %s\n' "closed model, $rows rows" - \
            "$(for ((i = 0; i < runs; i++)); do rate floor_closed "$rows"; done | median | awk '{ print $1 / 1e6 }')" - \
            "million transactions/s"
    fi
done
