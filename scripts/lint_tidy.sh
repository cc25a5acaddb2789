#!/bin/bash
# clang-tidy on some files: lint_tidy.sh FLAG... -- FILE...      (a script of its own, so that xargs can run several)
flags=()
while [ "$1" != -- ]; do
    flags+=("$1")
    shift
done
shift
clang-tidy --quiet "$@" -- "${flags[@]}" 2>/dev/null
exit 0
