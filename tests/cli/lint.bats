#!/usr/bin/env bats
# The linter finds what it is there for: each test plants one mistake in a small tree that is otherwise clean.

setup() {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree/sim/base" "$tree/sim/kernel" "$tree/sim/cc" "$tree/sim/lab" "$tree/workloads" "$tree/.ci"
    cp -r scripts "$tree/scripts"
    cp .ci/run "$tree/.ci/run"
    for name in sim/base/thing sim/kernel/tick workloads/workload sim/cc/cc sim/lab/table; do
        base=$(basename "$name")
        printf '/* %s.h - a thing. */\n#ifndef %s_H\n#define %s_H\nint %s(int x);\n#endif\n' \
            "$base" "$base" "$base" "$base" >"$tree/$name.h"
        printf '#include "%s.h"\n\nint %s(int x) { return x; }\n' "$name" "$base" >"$tree/$name.c"
    done
    printf '#include "sim/cc/cc.h"\nint cc_one;\n' >"$tree/sim/cc/registry.c"
}

lint() { run "$tree/scripts/lint.sh" quick; }

finds() { # finds FILE:LINE TEXT
    lint
    [ "$status" -eq 1 ]
    grep -F "$1:" <<<"$output" | grep -F -- "$2" || { echo "$output" && false; }
}

@test "a clean tree has no problems" {
    lint
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a lower layer may not include a higher one" {
    echo '#include "sim/kernel/tick.h"' >>"$tree/sim/base/thing.c"
    finds sim/base/thing.c:4 "sim/base may not include sim/kernel/tick.h"
}

@test "workloads may not see the algorithms" {
    echo '#include "sim/cc/cc.h"' >>"$tree/workloads/workload.c"
    finds workloads/workload.c:4 "may not include"
}

@test "permission is transitive: lab may include workloads and base" {
    printf '#include "workloads/workload.h"\n#include "sim/base/thing.h"\n' >>"$tree/sim/lab/table.c"
    lint
    [ "$status" -eq 0 ]
}

@test "a folder that is no layer" {
    mkdir "$tree/sim/extra"
    echo 'int extra;' >"$tree/sim/extra/extra.c"
    finds sim/extra/extra.c:1 "is no layer"
}

@test "its own header comes first" {
    printf '#include <stdio.h>\n#include "sim/kernel/tick.h"\nint tick_x;\n' >"$tree/sim/kernel/tick.c"
    finds sim/kernel/tick.c:1 "its own header, first"
}

@test "an include is written from the root" {
    echo '#include "tick.h"' >>"$tree/sim/kernel/tick.c"
    finds sim/kernel/tick.c:4 "from the root of the tree"
}

@test "a header compiles alone" {
    sed -i 's/int thing(int x);/int thing(size_t x);/' "$tree/sim/base/thing.h"
    finds sim/base/thing.h:4 "size_t"
}

@test "a function of 71 lines is too long, one of 70 is not" {
    { printf 'int long_one(int x);\nint long_one(int x) {\n'; yes '    x++;' | head -n 67; printf '    return x;\n}\n'; } \
        >>"$tree/sim/base/thing.c"
    lint
    [ "$status" -eq 0 ]
    sed -i 's/^    return x;/    x++;\n    return x;/' "$tree/sim/base/thing.c"
    finds sim/base/thing.c:5 "a function of 71 lines"
}

@test "a file of 601 lines is too long" {
    yes '/* . */' | head -n 598 >>"$tree/sim/base/thing.c"
    finds sim/base/thing.c:601 "a file of 601 lines"
}

@test "calls that are not allowed, and where they are" {
    printf '#include <stdlib.h>\nvoid *f(void);\nvoid *f(void) { return malloc(1); }\n' >>"$tree/sim/base/thing.c"
    finds sim/base/thing.c:6 "no malloc() here"
    printf '#include <math.h>\ndouble g(double);\ndouble g(double x) { return log(x); }\n' >>"$tree/sim/kernel/tick.c"
    cp "$tree/sim/kernel/tick.c" "$tree/sim/lab/tick.c"
    finds sim/kernel/tick.c:6 "no log() here"
    [[ "$output" != *sim/lab/tick.c:6* ]]
    printf '#include <time.h>\nlong h(void);\nlong h(void) { return time(NULL); }\n' >>"$tree/sim/cc/cc.c"
    finds sim/cc/cc.c:6 "no time() here"
}

@test "names in comments, strings and fields are no calls; an exception says so" {
    cat >>"$tree/sim/base/thing.c" <<'C'
#include <stdlib.h>
struct ops { int (*time)(int); };
const char *text(struct ops *ops, void *block);
const char *text(struct ops *ops, void *block) { /* not malloc(1), nor
    rand() */
    free(block); /* lint: free, a library allocated it */
    return ops->time(1) ? "atoi(\"1\")" : "time(0)"; // sprintf()
}
C
    lint
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "an algorithm is in the registry" {
    printf '#include "sim/cc/cc.h"\nstruct cc_ops { int x; };\nextern const struct cc_ops cc_two;\n%s\n' \
        'const struct cc_ops cc_two = {1};' >"$tree/sim/cc/two.c"
    finds sim/cc/two.c:1 "cc_two is not listed in sim/cc/registry.c"
    echo 'int cc_two;' >>"$tree/sim/cc/registry.c"
    lint
    [ "$status" -eq 0 ]
    echo 'int nothing;' >"$tree/workloads/nothing.c"
    finds workloads/nothing.c:1 'defines no `const struct workload_ops'
    echo 'int nothing_more;' >"$tree/workloads/nothing_more.c" # a part of it
    lint
    [[ "$output" != *nothing_more.c* ]]
}

@test "notes to oneself, and paths of one machine" {
    printf '/* %s%s: later */\n' TO DO >>"$tree/sim/base/thing.c"
    finds sim/base/thing.c:4 "no notes to oneself"
    printf '/* see %s/me/notes */\n' /home >>"$tree/sim/kernel/tick.c"
    finds sim/kernel/tick.c:4 "a path of one machine"
}

@test "what the compiler warns about" {
    printf 'int h(long x);\nint h(long x) { return x; }\n' >>"$tree/sim/base/thing.c"
    finds sim/base/thing.c:5 "-Wshorten-64-to-32"
}

@test "what shellcheck finds" {
    printf '#!/bin/bash\nrm $1\n' >"$tree/scripts/extra.sh"
    finds scripts/extra.sh:2 "SC2086"
}
