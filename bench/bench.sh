#!/usr/bin/env bash
# How fast the kernel and the simulator are, each beside a limit: bench/bench.sh [BUILD [PART...]]
#
# A limit is a bare program of the same model, the same simulation without what is measured, or a number that was set. Rates
# are per second of processor time. The two of a row are run in turn, so that what else the machine does hits both
# alike; each number is the median of RUNS (5) such runs, of at most 3 where there is a row for each algorithm (and of one
# but for 2pl and occ: the roster is long). The last column says which aim was missed.
# PARTs: hold closed algorithms certify ycsb large memory hot startup sweep; all of them if none is named.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${1:-build}
runs=${RUNS:-5}
parts=${*:2}
enough=0.2 # seconds that a run takes if its duration may be chosen

wanted() { [[ -z $parts || " $parts " == *" $1 "* ]]; }

median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# field N PROGRAM ARGUMENT...: the Nth word it prints; a program that fails ends the benchmark.
field() {
    local number=$1 program=$2 output
    shift 2
    output=$("$build/bench/$program" "$@") || return 1
    awk -v n="$number" '{ print $n; exit }' <<<"$output"
}

# row LABEL MEASURED LIMIT UNIT [AIM]: AIM such as '>= 0.7' is for measured / limit; LIMIT may be -.
row() {
    awk -v label="$1" -v measured="$2" -v limit="$3" -v unit="$4" -v aim="${5:-}" '
        function number(x) { return x == "-" ? x : sprintf(x < 10 ? "%.3f" : x < 1000 ? "%.1f" : "%.0f", x) }
        BEGIN {
            ratio = limit == "-" || limit == 0 ? "-" : sprintf("%.2f", measured / limit)
            split(aim, part, " ")
            missed = aim != "" && ratio != "-" && (part[1] == ">=" ? ratio + 0 < part[2] + 0 : ratio + 0 > part[2] + 0)
            printf "%-58s %10s %10s %7s %8s  %s%s\n", label, number(measured), number(limit), ratio, aim, unit,
                missed ? "  MISSED" : ""
        }'
}

# compare LABEL UNIT SCALE AIM FIELD 'PROGRAM ARGUMENTS' 'LIMIT ARGUMENTS': settings have commas for blanks.
compare() {
    local label=$1 unit=$2 scale=$3 aim=$4 number=$5 program limit ours='' limits='' i started=$SECONDS
    read -ra program <<<"$6"
    read -ra limit <<<"$7"
    for ((i = 0; i < runs; i++)); do
        ours+="$(field "$number" "${program[@]//,/ }")"$'\n'
        limits+="$(field "$number" "${limit[@]//,/ }")"$'\n'
        ((SECONDS - started < 15)) || break
    done
    row "$label" "$(median <<<"${ours%$'\n'}" | scaled "$scale")" "$(median <<<"${limits%$'\n'}" | scaled "$scale")" "$unit" "$aim"
}

scaled() { awk -v scale="$1" '{ print $1 / scale }'; }

# Settings as one word, commas between them.
words() { tr -s ' \n' ',' <<<"$1" | sed 's/^,//; s/,$//'; }

# sized ALGORITHM WORKLOAD SETTINGS: the settings with a duration that takes long enough to be measured; fails if a run does.
sized() {
    local duration=1 taken
    while ((duration < 1000000)); do
        taken=$(field 6 run "$1" "$2" "${3//,/ } duration=${duration}s") || return 1
        awk -v taken="$taken" -v enough="$enough" 'BEGIN { exit !(taken < enough) }' || break
        duration=$(awk -v d="$duration" -v t="$taken" -v e="$enough" 'BEGIN {
            f = 1.5 * e / (t + 1e-6); printf "%d", d * (f < 2 ? 2 : f > 20 ? 20 : f) }')
    done
    echo "$3,duration=${duration}s"
}

# repeats ALGORITHM: how many runs in a row of the parts that go through all algorithms.
repeats() { [[ $1 == 2pl || $1 == occ ]] && echo $((runs < 3 ? runs : 3)) || echo 1; }

algorithms() { "$build/ccsim" list algorithms | awk '$1 != "none" { print $1 }'; }

# ---- The parts ----

part_hold() {
    local n
    for n in 64 4096 65536; do
        compare "hold, $n pending" 'million events/s' 1 '>= 0.7' 1 "hold hold $n" "floor_tree $n"
    done
    for n in 64 4096; do
        compare "hold on another slot, $n slots, half empty" 'million events/s' 1 '' 1 "hold move $n" "floor_tree $((n / 2))"
    done
}

closed=$(words 'system.terminals=64 system.cpus=4 cost.cpu_access=exp(1ms) workload.accesses=10 workload.hot_rows=0
    workload.write_fraction=1 workload.order=by_key warmup=10s duration=500s')

part_closed() {
    local rows
    for rows in 1000 100000 10000000; do
        compare "closed model, $rows rows, 2pl against the floor" 'million transactions/s' 1e6 '>= 0.5' 1 \
            "run 2pl hot_row $closed,workload.rows=$rows" "floor_closed $rows 1000000"
    done
}

# Hardly any two want the same row, so what is compared is what the algorithms cost when they have nothing to decide.
part_algorithms() {
    local algorithm settings="${closed/duration=500s/duration=200s},workload.rows=100000"
    for algorithm in $(algorithms); do
        [[ $algorithm != 2pl ]] || continue
        if ! field 1 run "$algorithm" hot_row "${settings//,/ }" >/dev/null; then
            row "closed model, $algorithm: failed" - - ''
            continue
        fi
        runs=$((runs < 3 ? runs : 3)) compare "closed model, 100000 rows, $algorithm against 2pl" 'million transactions/s' \
            1e6 '>= 0.4' 1 "run $algorithm hot_row $settings" "run 2pl hot_row $settings"
    done
}

part_certify() {
    local rows
    for rows in 1000 100000 10000000; do
        compare "closed model, $rows rows, 2pl, certify on against off" 'million transactions/s' 1e6 '>= 0.67' 1 \
            "run 2pl hot_row $closed,workload.rows=$rows,certify=yes" "run 2pl hot_row $closed,workload.rows=$rows"
    done
    local scans='system.terminals=16,system.cpus=16,workload.scan_fraction=20%,workload.insert_fraction=10%,duration=20s'
    scans+=',workload.rows=10000,workload.scan_length=10,workload.requests=4'
    compare 'ycsb with 20% scans and 10% inserts, 2pl, certify on against off' 'thousand transactions/s' 1e3 '' 1 \
        "run 2pl ycsb $scans,certify=yes" "run 2pl ycsb $scans"
}

# 250,000 a second is in the middle of what in-memory testbeds execute of this mix on one core.
part_ycsb() {
    local algorithm theta settings limit aim rates i
    for theta in 0 0.6 0.9; do
        for algorithm in $(algorithms); do
            limit=- aim=
            if [[ $theta == 0.6 && ($algorithm == 2pl || $algorithm == occ) ]]; then
                limit=250 aim='>= 1'
            fi
            if ! settings=$(sized "$algorithm" ycsb "system.terminals=64,system.cpus=64,workload.theta=$theta"); then
                row "ycsb, theta $theta, $algorithm: failed" - - ''
                continue
            fi
            rates=
            for ((i = $(repeats "$algorithm"); i > 0; i--)); do
                rates+="$(field 1 run "$algorithm" ycsb "${settings//,/ }")"$'\n'
            done
            row "ycsb, theta $theta, $algorithm" "$(median <<<"${rates%$'\n'}" | scaled 1000)" "$limit" \
                'thousand transactions/s' "$aim"
        done
    done
}

# Reads only, so that the many do not wait for each other; the rows' cache misses show between the two lines.
part_large() {
    local reads='workload.hot_rows=0,workload.accesses=10' small rows aim='>= 0.5'
    small="run 2pl hot_row system.terminals=64,system.cpus=16,workload.rows=100000,$reads,duration=120s"
    for rows in 100000 100000000; do
        if ((rows > 100000 && $(awk '/MemAvailable/ { print $2 }' /proc/meminfo) < 4000000)); then
            row "10,000 terminals, 1,000 CPUs, $rows rows: 4 GB needed" - - 'thousand events/s'
            continue
        fi
        compare "10,000 terminals, 1,000 CPUs, $rows rows, against 64, 10^5" 'thousand events/s' 1 "$aim" 2 \
            "run 2pl hot_row system.terminals=10000,system.cpus=1000,workload.rows=$rows,$reads,duration=5s" "$small"
        aim=
    done
}

part_memory() {
    local algorithm
    for algorithm in 2pl occ si; do
        row "memory of an untouched row, $algorithm" "$(field 1 memory "$algorithm")" 24 bytes '<= 1'
        row "memory of a touched row, $algorithm" "$(field 2 memory "$algorithm")" 64 bytes '<= 1'
    done
}

# Twice the logarithm, twice the cost: 10,000 waiters against 100. With upgrades every waiter is a reader that blocks the
# others, and all but one are deadlock victims.
part_hot() {
    local algorithm access base few many
    for access in for_update read_write; do
        base="system.cpus=8,workload.hot_access=$access"
        [[ $access == for_update ]] || base+=',restart.delay=exp(10ms)'
        for algorithm in $(algorithms); do
            if ! few=$(sized "$algorithm" hot_row "$base,system.terminals=100") ||
                ! many=$(sized "$algorithm" hot_row "$base,system.terminals=10000"); then
                row "hot row $access, 10,000 waiters, $algorithm: failed" - - ''
                continue
            fi
            runs=$(repeats "$algorithm") compare "hot row $access, 10,000 waiters against 100, $algorithm" 'thousand events/s' 1 '>= 0.5' 2 \
                "run $algorithm hot_row $many" "run $algorithm hot_row $few"
        done
    done
}

part_startup() {
    row 'start-up of a run, 100000 rows' "$(for ((i = 0; i < runs; i++)); do field 1 startup 100000; done | median)" 5 ms '<= 1'
}

# seconds_of JOBS: wall time of the sweep.
seconds_of() {
    local start=$EPOCHREALTIME
    "$build/ccsim" run bench/sweep.ini -j "$1" -o "$scratch" --fresh --quiet --no-plot >/dev/null
    awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { print to - from }'
}

part_sweep() {
    local one='' two='' i
    if (($(nproc) < 2)); then
        row 'sweep of 400 short runs, -j2 against -j1: one core here' - - runs/s
        return
    fi
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    for ((i = 0; i < runs; i++)); do
        one+="$(seconds_of 1)"$'\n'
        two+="$(seconds_of 2)"$'\n'
    done
    row 'sweep of 400 short runs, -j2 against -j1, wall time' "$(median <<<"${two%$'\n'}" | awk '{ print 400 / $1 }')" \
        "$(median <<<"${one%$'\n'}" | awk '{ print 400 / $1 }')" runs/s '>= 1.9'
}

printf '%-58s %10s %10s %7s %8s\n' "median of $runs" measured limit ratio aim
for part in hold closed algorithms certify ycsb large memory hot startup sweep; do
    if wanted "$part"; then
        "part_$part"
    fi
done
