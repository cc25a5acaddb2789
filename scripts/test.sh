#!/bin/bash
# Runs everything that must hold: the cmocka groups, then the command-line tests, and adds up. The last line is the sum.
#   test.sh BUILD JOBS      BUILD holds ccsim and ccsim_tests; started in the root of the tree
set -u
build=$1 jobs=$2
failed_to_run=0 passed=0 failed=0 skipped=0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
CCSIM_BUILD_DIR=$(cd "$build" && pwd)
export CCSIM_BUILD_DIR

# The runner's own last line is kept back: the sum of all takes its place.
"$build/ccsim_tests" -j "$jobs" | tee "$scratch/cmocka" | sed '/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d'
status=${PIPESTATUS[0]}
if read -r passed _ failed _ skipped _ < <(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$scratch/cmocka"); then
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed_to_run=1
else
    passed=0 failed=0 skipped=0 failed_to_run=1
    echo "FAIL $build/ccsim_tests ended without a count, exit code $status"
fi

# One bats a file, several at a time; TAP goes to a file each, so that outputs do not mix.
run_bats() {
    local log
    log="$2/$(basename "$1").tap"
    bats --tap "$1" >"$log" 2>&1
    echo "exit $?" >>"$log"
}
export -f run_bats
shopt -s nullglob
files=(tests/cli/*.bats)
if [ ${#files[@]} -gt 0 ]; then
    printf '%s\0' "${files[@]}" | xargs -0 -P "$jobs" -I '{}' bash -c 'run_bats "$@"' _ '{}' "$scratch"
fi
for file in "${files[@]}"; do
    log="$scratch/$(basename "$file").tap"
    planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p;' "$log" | head -n 1)
    good=$(grep -c '^ok ' "$log")
    skips=$(grep -c '^ok .*# skip' "$log")
    bad=$((${planned:-0} - good))
    if [ "$bad" -lt 0 ] || { [ "$bad" -eq 0 ] && ! grep -qx 'exit 0' "$log"; } || [ "${planned:-0}" -eq 0 ]; then
        bad=1
    fi
    verdict=ok
    if [ "$bad" -gt 0 ]; then
        verdict=FAIL
        grep -vE '^(ok |1\.\.|exit )' "$log"
    fi
    printf '%-4s %s: %d tests, %d failures\n' "$verdict" "$file" "${planned:-0}" "$bad"
    passed=$((passed + good - skips)) failed=$((failed + bad)) skipped=$((skipped + skips))
done

[ "$failed_to_run" -eq 0 ] || failed=$((failed + 1))
[ "$passed" -gt 0 ] || [ "$failed" -gt 0 ] || { echo "no test was run" && failed=1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
