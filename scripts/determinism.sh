#!/usr/bin/env bash
# One SHA-256 of runs.csv for both compilers, two levels of optimisation, one and two workers, and with the processor's FMA
# and AVX2 units switched off; another one for another seed. Builds four flavours under build-determinism/.
set -euo pipefail
config=${1:-configs/hot_row_minimal.ini}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

digest() { # LABEL PROGRAM ARGUMENT...
    local label=$1 program=$2
    shift 2
    "$program" run "$config" -o "$out/run" --no-plot --quiet --fresh "$@"
    printf '%s  %s\n' "$(sha256sum <"$out/run/runs.csv" | cut -d' ' -f1)" "$label"
}

{
    for compiler in gcc clang; do
        for opt in -O0 -O3; do
            build=build-determinism/$compiler$opt
            make --no-print-directory CC="$compiler" OPT="$opt" BUILD="$build" all >/dev/null
            digest "$compiler $opt, 1 worker" "$build/ccsim" -j1
            digest "$compiler $opt, 2 workers" "$build/ccsim" -j2
        done
    done
    export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA
    digest "gcc -O3, no FMA, no AVX2" build-determinism/gcc-O3/ccsim -j2
} | tee "$out/digests"
unset GLIBC_TUNABLES
digest "another seed" build-determinism/gcc-O3/ccsim --seed 99 | tee "$out/other"
if [ "$(cut -d' ' -f1 "$out/digests" | sort -u | wc -l)" -ne 1 ]; then
    echo "the bytes depend on how the program was built or run" >&2
    exit 1
fi
if [ "$(cut -d' ' -f1 "$out/other")" = "$(head -n 1 "$out/digests" | cut -d' ' -f1)" ]; then
    echo "another seed gives the same bytes" >&2
    exit 1
fi
