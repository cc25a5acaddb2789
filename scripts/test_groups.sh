#!/bin/bash
# Prints the C table of the test groups, from the names of their files: tests/unit/test_heap.c is the group heap.
set -eu
echo '#include "tests/support/harness.h"'
table=
for path in "$@"; do
    name=$(basename "$path" .c)
    name=${name#test_}
    echo "extern const struct CMUnitTest ${name}_tests[];"
    echo "extern const size_t ${name}_tests_count;"
    table+="    {\"$path\", \"$name\", ${name}_tests, &${name}_tests_count},"$'\n'
done
echo 'const struct test_group test_groups[] = {'
printf '%s    {NULL, NULL, NULL, NULL}};\n' "$table"
echo "const size_t test_groups_count = $#;"
