#!/usr/bin/env bats
# The bytes of the results: the same on every machine, with any number of workers, compiler, optimisation and set of
# processor features. tests/golden/NAME.csv is what tests/golden/NAME.ini must give; `make golden` writes them anew, and
# a change of theirs is a change of what the simulator says.

ccsim() { "$CCSIM_BUILD_DIR/ccsim" "$@"; }

# results DIR CONFIG ARGUMENT...: runs quietly; the canary of hot_row.ini makes it end with 1.
results() {
    local directory=$1 config=$2 status=0
    shift 2
    ccsim run "tests/golden/$config.ini" -o "$directory" --no-plot --quiet "$@" 2>/dev/null || status=$?
    [ "$status" -le 1 ]
}

same_as_golden() { # CONFIG ARGUMENT...
    results "$BATS_TEST_TMPDIR/out" "$@"
    cmp "$BATS_TEST_TMPDIR/out/runs.csv" "tests/golden/$1.csv"
}

@test "hot_row gives its golden bytes with one worker" { same_as_golden hot_row -j1; }
@test "hot_row gives its golden bytes with two workers" { same_as_golden hot_row -j2; }
@test "bank gives its golden bytes with one worker" { same_as_golden bank -j1; }
@test "bank gives its golden bytes with two workers" { same_as_golden bank -j2; }

@test "the bytes do not depend on the processor's FMA and AVX units" {
    export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA
    same_as_golden hot_row
    same_as_golden bank
}

@test "the bytes do not depend on the locale, the time zone or the directory" {
    cp tests/golden/bank.ini "$BATS_TEST_TMPDIR/bank.ini"
    cd "$BATS_TEST_TMPDIR"
    LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo ccsim run bank.ini -o out --no-plot --quiet
    cd - >/dev/null
    cmp "$BATS_TEST_TMPDIR/out/runs.csv" tests/golden/bank.csv
}

@test "another seed gives other digests throughout" {
    results "$BATS_TEST_TMPDIR/out" bank --seed 2
    mlr --icsv --onidx cut -f digest tests/golden/bank.csv | sort -u >"$BATS_TEST_TMPDIR/one"
    mlr --icsv --onidx cut -f digest "$BATS_TEST_TMPDIR/out/runs.csv" | sort -u >"$BATS_TEST_TMPDIR/two"
    [ "$(comm -12 "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two" | wc -l)" -eq 0 ]
}
