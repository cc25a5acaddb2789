#!/bin/bash
# Is what building needs there? Says what is not, with the command that installs it.
#   need.sh LEVEL COMPILER HEADER...      LEVEL as in setup.sh
set -u
level=$1 compiler=$2
shift 2
if ! command -v "$compiler" >/dev/null; then
    echo "ccsim: no compiler \`$compiler\`; install it, or name another: make CC=gcc" >&2
    exit 1
fi
missing=
for header in "$@"; do
    echo "#include <$header>" | "$compiler" -E -x c - >/dev/null 2>&1 ||
        missing+=" $header"
done
if [ -n "$missing" ]; then
    echo "ccsim: not found:$missing" >&2
    echo "install what is missing with: scripts/setup.sh $level" >&2
    exit 1
fi
