#!/bin/bash
# Everything that is checked by reading the sources. Each problem is a line `file:line: what`; the exit code says if
# there was any.    lint.sh [quick]      quick: without clang-tidy and cppcheck
set -u
cd "$(dirname "$0")/.." || exit 1
shopt -s nullglob

quick=${1-}
jobs=$(nproc)
language=(-std=c11 -D_GNU_SOURCE -ffp-contract=off -I.)
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
    -Wwrite-strings)
sources=(sim/*/*.c workloads/*.c bench/*.c tests/*/*.c)
headers=(sim/*/*.h workloads/*.h bench/*.h tests/*/*.h)
problems=$(mktemp)
trap 'rm -f "$problems"' EXIT

for tool in gcc clang clang-tidy cppcheck shellcheck; do
    command -v "$tool" >/dev/null || {
        echo "lint: $tool is missing; install it with: scripts/setup.sh test" >&2
        exit 1
    }
done

# The lines of the input that tell a problem, with paths from the root of the tree.
only_problems() {
    sed -n "s|^$PWD/||; s|^\./||; /^[A-Za-z_.][^: ]*:[0-9][0-9]*:/{/ note: /!p;}"
}

headers_alone() {
    local header
    for header in "${headers[@]}"; do
        echo "#include \"$header\"" | gcc "${language[@]}" "${warnings[@]}" -x c -fsyntax-only - 2>&1
    done
}

# A file of these folders is the contract's own, or an algorithm or workload that the registry lists, or a part of one:
# mix_scan.c beside mix.c.
registered() {
    local folder=$1 type=$2 file name names
    for file in "$folder"/*.c; do
        name=$(basename "$file" .c)
        case "$name" in registry | cc | workload) continue ;; esac
        names=$(sed -n "s/^const struct $type \([A-Za-z_0-9]*\) = .*/\1/p" "$file")
        [ -n "$names" ] || { [ "${name%%_*}" != "$name" ] && [ -e "$folder/${name%%_*}.c" ]; } || echo "$file:1: defines no \`const struct $type NAME = {\`"
        for name in $names; do
            grep -qw "$name" "$folder/registry.c" 2>/dev/null || echo "$file:1: $name is not listed in $folder/registry.c"
        done
    done
}

# Notes to oneself, and paths and tracker numbers that mean nothing to a reader.
words() {
    local text=(Makefile .ci/run .gitignore *.md scripts/* sim/*/* workloads/* bench/* tests/*/* configs/* configs/*/* docs/*)
    grep -nIE 'TO[D]O|FIX[M]E|XX[X]([^X]|$)' -- "${text[@]}" 2>/dev/null |
        grep -v 'XXXXXX' | sed -E 's/^([^:]*:[0-9]+):.*/\1: finish it or leave it out; no notes to oneself/'
    grep -nIE '(^|[^A-Za-z0-9_.])/(work|home|root|Users)/|\.\./shared|\b[Ii]ssue #?[0-9]' -- "${text[@]}" 2>/dev/null |
        grep -v '^scripts/lint\.sh:' |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: a path of one machine, or a number of a tracker/'
    grep -nIE '[[:space:]]$' -- "${text[@]}" 2>/dev/null | sed -E 's/^([^:]*:[0-9]+):.*/\1: blanks at the end of the line/'
}

run_checks() {
    awk -f scripts/lint.awk scripts/layers.txt "${sources[@]}" "${headers[@]}"
    registered sim/cc cc_ops
    registered workloads workload_ops
    words
    shellcheck --format=gcc scripts/*.sh bench/*.sh .ci/run 2>&1 | sed "s/: note: /: shellcheck: /"
    headers_alone
    [ ${#sources[@]} -eq 0 ] || clang "${language[@]}" "${warnings[@]}" -fsyntax-only "${sources[@]}" 2>&1
    [ "$quick" != quick ] || return 0
    printf '%s\0' "${sources[@]}" | xargs -0 -P "$jobs" -n 4 scripts/lint_tidy.sh "${language[@]}" --
    cppcheck --enable=warning,performance,portability --std=c11 --inline-suppr --quiet -j "$jobs" -I. \
        --suppress=missingIncludeSystem --suppress=unknownMacro --template='{file}:{line}: {message} [{id}]' \
        "${sources[@]}" 2>&1
}

run_checks | only_problems | sort -u -t: -k1,1 -k2,2n -k3 >"$problems"
cat "$problems"
count=$(wc -l <"$problems")
echo "lint: $count problems in $((${#sources[@]} + ${#headers[@]})) files" >&2
[ "$count" -eq 0 ]
