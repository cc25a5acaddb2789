#!/usr/bin/env bats
# `ccsim list` and `ccsim help`: everything that can be named has a line and an entry; the printed pages are not stale.

setup() {
    build=${CCSIM_BUILD_DIR:-$BATS_TEST_DIRNAME/../../build}
    ccsim=$(cd "$build" && pwd)/ccsim
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "docs/OPTIONS.md is what the program prints (else: make docs)" {
    diff -u "$root/docs/OPTIONS.md" <("$ccsim" help --options-markdown)
}

@test "docs/METRICS.md is what the program prints (else: make docs)" {
    diff -u "$root/docs/METRICS.md" <("$ccsim" help --metrics-markdown)
}

@test "every name that is listed has an entry" {
    count=0
    for kind in algorithms workloads metrics options reasons; do
        while read -r name; do
            "$ccsim" help "$name" >entry 2>&1 || { echo "no entry of $name" && false; }
            grep -q . entry
            count=$((count + 1))
        done < <("$ccsim" list "$kind" | sed -E 's/( [(].*[)])?  .*//')
    done
    [ "$count" -gt 100 ]
}

@test "every section and anomaly has an entry" {
    for name in experiment system cost restart workload sweep g0 G1a G-single g_single P4 a5b write_skew; do
        "$ccsim" help "$name" | grep -q .
    done
}

@test "every algorithm has a file that begins with its name in the list" {
    while read -r name; do
        [ -e "$root/sim/cc/${name//-/_}.c" ] || { echo "no file of $name" && false; }
    done < <("$ccsim" list algorithms | sed 's/ .*//')
}

@test "the entry of a key" {
    run "$ccsim" help system.terminals
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "system.terminals" ]
    [ "${lines[1]}" = "    whole number; 1 .. 1000000; default: none, for example 16" ]
    run "$ccsim" help terminals
    [ "${lines[0]}" = "system.terminals" ]
}

@test "the entry of a command is its --help" {
    for command in run plot list help; do
        "$ccsim" help "$command" >entry
        "$ccsim" "$command" --help >help
        diff -u help entry
        head -n 1 entry | grep -q "^Usage: ccsim $command"
    done
}

@test "a list as JSON has the same names" {
    for kind in algorithms workloads metrics reasons; do
        diff -u <("$ccsim" list "$kind" | sed 's/ .*//') \
            <("$ccsim" list "$kind" --json | sed -n 's/^ *"name": "\(.*\)",\{0,1\}$/\1/p')
    done
}

@test "without a kind all lists are shown" {
    run "$ccsim" list
    [ "$status" -eq 0 ]
    for kind in algorithms workloads metrics options reasons; do
        grep -qx "$kind" <<<"$output"
    done
    "$ccsim" list --json | grep -q '^  "reasons": \['
}

@test "help alone is an overview" {
    run "$ccsim" help
    [ "$status" -eq 0 ]
    grep -q '^  run ' <<<"$output"
    grep -q '^  workload ' <<<"$output"
}

@test "a dry run shows a config that is the plan" {
    printf '[experiment]\nalgorithm = 2pl occ\n[system]\nterminals = 4\n[workload]\nname = hot_row\n' >c.ini
    "$ccsim" run --dry-run c.ini --set 'system.terminals=1..8 *2' --only algorithm=occ >once.ini
    cp once.ini c.ini
    "$ccsim" run --dry-run c.ini >twice.ini
    diff -u once.ini twice.ini
    grep -Fx '; 4 points, 5 replications: 20 runs, into results/c' once.ini
}
