#!/usr/bin/env bats
# ccsim play: what a lecturer sees, what a program reads, what goes wrong.

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
}

# set -e does not mind a `! grep`.
absent() { ! grep -q "$@"; }

# Exit code 2, nothing on stdout, and this on stderr.
refused() {
    local message=$1
    shift
    set +e
    "$ccsim" play "$@" >out 2>err </dev/null
    local status=$?
    set -e
    [ "$status" -eq 2 ]
    [ ! -s out ]
    grep -qF -- "$message" err || { cat err; return 1; }
}

@test "the table: a line a step, waits and wake-ups in their transaction's column" {
    "$ccsim" play 'w1(x,1) w2(x,2) r2(y) c1 c2' --init x=10,y=20 >table 2>err
    [ ! -s err ]
    cat >expected <<'TABLE'
2pl: rigorous two-phase locking, deadlocks detected
at the start: x=10 y=20

step  T1                T2
   1  w1(x,1) -> 1 row
   2                    w2(x,2) -> waits for T1
   3                    r2(y) -> put off
   4  c1 -> committed   :
                        w2(x,2) resumes -> 1 row
                        r2(y) now -> y=20
   5                    c2 -> committed

order of ending: T1 commit, T2 commit
final state:     x=2 y=20
as it ran:       w1(x,1) c1 w2(x,2) r2(y) c2
serializable:    yes, as T1 T2
rollbacks:       recoverable, cascadeless, strict, rigorous
TABLE
    diff expected table
}

@test "a deadlock is told with its circle, and what was found by name" {
    "$ccsim" play 'r1(x) r2(x) w1(x,$x+1) w2(x,$x+1) c1 c2' >table
    grep -q '^      deadlock: T2 waits for T1, T1 waits for T2$' table
    grep -q 'w2(x,$x+1) -> ABORTED (deadlock)' table
    "$ccsim" play 'r1(x) r2(x) w1(x,$x+1) w2(x,$x+1) c1 c2' --algorithm none >table
    grep -q '^serializable:    no: T1 -> T2 -> T1$' table
    grep -q 'P4 (lost update)' table
}

@test "--locks: the lock table after every step" {
    "$ccsim" play 'r1(x) r2(x) w3(x,1) r4(x)' --locks >table
    grep -qx '      \[x: T2 S, T1 S (queue: T3 X, T4 S)\]' table
    grep -qx '      \[x: T3 X (queue: T4 S)\]' table
    grep -qx '      \[no locks\]' table
    # an algorithm without locks shows none
    "$ccsim" play 'r1(x)' --locks --algorithm occ >table
    absent '\[' table
}

@test "--dot: a graph that graphviz takes" {
    "$ccsim" play 'w1(x,1) w2(y,2) w1(y,1) w2(x,2) c1 c2' --dot >graph
    grep -q 'T1 -> T2 \[label="w1(y,1)"\];' graph
    grep -q 'T2 -> T1 \[label="deadlock", style=bold\];' graph
    if command -v dot >/dev/null; then
        dot -Tsvg graph >graph.svg
    fi
}

@test "several algorithms: each its table, then side by side" {
    "$ccsim" play 'r1(x) r2(y) w1(y,1) w2(x,2) c1 c2' --algorithm 2pl,si >table
    cat >expected <<'TABLE'
algorithm  T1      T2                waits  final state  serializable
2pl        commit  abort (deadlock)  1      x=0 y=1      yes, as T1
si         commit  commit            0      x=2 y=1      no: T1 -> T2 -> T1
TABLE
    tail -n 3 table | diff expected -
    "$ccsim" play 'r1(x)' --algorithm all >table
    for name in none 2pl occ si wound-wait; do
        grep -q "^$name: " table
    done
}

@test "--json: one object a line for each algorithm" {
    "$ccsim" play 'w1(x,1) w2(x,2) c1 c2' --algorithm 2pl,si --json >lines
    [ "$(wc -l <lines)" -eq 2 ]
    grep -q '^{"algorithm": "2pl", "steps": \[{"op": "w1(x,1)", "outcome": "ok", "count": 1}, {"op": "w2(x,2)", "outcome": "ok", "waits_for": \[1\], "resumed_after": 2, "count": 1}' lines
    grep -q '"ends": \[\[1, "commit"\], \[2, "abort"\]\], "killed": \[\], "final": {"x": 1}' lines
    grep -q '"conflict_serializable": true, .*"serial_order": \[1, 2\]' lines
    grep '"si"' lines | grep -q '"strict": null, "rigorous": null'
    "$ccsim" play 'w1(x,1) w2(x,2)' --json --locks | grep -q '"locks": \[{"row": "x", "gap": false, "transaction": 1, "mode": "X", "granted": true}'
}

@test "files, standard input, several schedules" {
    printf '# Two\ninit x=5\nr1(x) c1\n\nw1(x,+=1) c1\n' >two.txt
    "$ccsim" play two.txt >table
    grep -qx '== two.txt:3' table
    grep -qx '== two.txt:5' table
    grep -qx 'final state:     x=6' table
    "$ccsim" play - <two.txt --json >lines
    [ "$(wc -l <lines)" -eq 2 ]
    printf 'r1(x)' | "$ccsim" play - | grep -q 'x=0'
}

@test "--init and --pred stand above what the file says" {
    printf 'init x=5\npred P: v=5\nq1(P) c1\n' >one.txt
    "$ccsim" play one.txt | grep -q 'q1(P) -> x=5$'
    "$ccsim" play one.txt --init x=7,y=8 | grep -q 'q1(P) -> no row$'
    "$ccsim" play one.txt --init x=7,y=8 --pred 'P: v>=7' | grep -q 'q1(P) -> x=7 y=8$'
}

@test "--set: options of the algorithms" {
    "$ccsim" play 'w1(x) w2(y) w1(y) w2(x) c1 c2' --set victim=oldest | grep -q 'w1(y) resumes -> ABORTED (deadlock)'
    "$ccsim" play 'w1(x) w2(y) w1(y) w2(x) c1 c2' --algorithm 2pl,si --set 2pl.victim=oldest >table
    [ "$(grep -c 'w2(x) -> ABORTED (deadlock)' table)" -eq 1 ]
    "$ccsim" play 'w1(x) w2(x) c1' --set 'detect=after(1s)' >table
    refused 'none of the algorithms has such an option' 'r1(x)' --set victims=oldest
    refused 'victim' 'r1(x)' --set victim=eldest
    refused "has no \`='" 'r1(x)' --set victim
}

@test "bad usage" {
    refused 'no schedule given'
    refused 'one schedule at a time' 'r1(x)' 'r2(x)'
    refused "there is no algorithm \`2lp'; did you mean 2pl?" 'r1(x)' --algorithm 2lp
    refused 'nosuch.txt' nosuch.txt
    refused "there is no option \`--jason'; did you mean --json?" 'r1(x)' --jason
    refused '--json or --dot, not both' 'r1(x)' --json --dot
    mkdir folder
    refused 'folder' folder
}

@test "malformed schedules: the column, and no crash" {
    refused 'schedule:1:7: ' 'r1(x) x2(y)'
    refused 'schedule:1:4: ' 'r1()'
    refused 'schedule:1:13: ' 'r1(x) w2(x,5'
    refused 'schedule:1:1: ' 'f1(s)'
    refused '--init:1:' 'r1(x)' --init 'x=ten'
    printf 'r1(x)\nr1(x) w2(\n' >bad.txt
    refused 'bad.txt:2:' bad.txt
    : >empty.txt
    refused 'there is no schedule here' empty.txt
    printf '\0\377(' >binary.txt
    refused 'binary.txt:1:' binary.txt
}

@test "a full disk is noticed" {
    set +e
    "$ccsim" play 'r1(x) c1' >/dev/full 2>err
    status=$?
    set -e
    [ "$status" -eq 3 ]
    grep -q 'No space left' err
}

@test "the same bytes every time; long schedules are quick" {
    "$ccsim" play 'r1(x) r2(y) w1(y) w2(x) c1 c2' --algorithm all --locks >one
    "$ccsim" play 'r1(x) r2(y) w1(y) w2(x) c1 c2' --algorithm all --locks >two
    cmp one two
    for i in $(seq 1 2000); do printf 'w%d(x,+=1) r%d(y) c%d ' "$i" "$i" "$i"; done >long.txt
    timeout 20 "$ccsim" play long.txt --json >out
    grep -q '"final": {"x": 2000, "y": 0}' out
}

@test "2pl-basic, 2pl-strict, 2pl: the same schedule shows the dirty read and the cascade in the first only" {
    local name schedule='w1(x,99) r2(x) w2(y,$x+1) a1 c2'
    "$ccsim" play "$schedule" --init x=10,y=0 --algorithm 2pl-basic >table
    grep -q 'r2(x) -> x=99' table
    grep -q 'ABORTED (cascade)' table
    grep -q '^final state:     x=10 y=0$' table
    for name in 2pl-strict 2pl; do
        "$ccsim" play "$schedule" --init x=10,y=0 --algorithm "$name" >table
        grep -q 'r2(x) -> waits for T1' table
        grep -q 'r2(x) resumes -> x=10' table
        absent 'x=99\|cascade)' table
        grep -q '^final state:     x=10 y=11$' table
    done
}

@test "a level asked for: by whom it can be run, and what mixing costs" {
    late='r2(y) w1(y,1) c1 r3(y) r3(x) c3 w2(x,1) c2'
    refused 'schedule:1:1: b1:rc asks for RC, which si cannot run; it can run SI' "b1:rc b2 $late" --algorithm si,2pl
    "$ccsim" play "b1:si b2 $late" --algorithm ssi >table
    grep -q '^levels:          broken: G2-item' table
    grep -q '^ *T2 -rw-> T1: ' table
    "$ccsim" play "b1:ru b2 $late" --algorithm all >table
    grep -q '^2pl: ' table
    absent '^ssi: ' table
    grep -q '^levels:          each transaction got the level that it asked for' table
    absent '^levels: *broken' table
    [ "$("$ccsim" play --json "b1:si b2 $late" --algorithm ssi | grep -c '"levels_broken": true')" -eq 1 ]
    [ "$("$ccsim" play --json "b2 $late" --algorithm ssi | grep -c levels_broken)" -eq 0 ]
}

@test "a version read after a wait was committed by then" {
    for late in 'w2(x,+=1)' 'u2(x)' 'i2(x,1)' 'w2(P,+=1)' 'd2(x)'; do
        "$ccsim" play "i1(x,1) $late c1 c2" --init y=1 --algorithm mvcc-rc >table
        grep -q '^rollbacks:       recoverable, cascadeless$' table
        "$ccsim" play "w1(x,+=1) $late c1 c2" --init x=1 --algorithm mvcc-rc >table
        grep -q '^rollbacks:       recoverable, cascadeless$' table
    done
}

@test "timestamp ordering: a row written behind a step that has read it and waits for another" {
    "$ccsim" play 'b1 b2 b3 w1(z,1) r2(x) r2(y,z) w3(x,7) w3(y,5) c3 c1 c2' --algorithm to >table
    grep -q '^ *r2(y,z) resumes -> y=0 z=1$' table
    grep -q '^serializable:    yes, as T1 T2 T3$' table
    "$ccsim" play 'b1 b2 b3 w1(z,1) w2(z,@y+1) w3(y,5) c3 c1 c2' --algorithm to >table
    grep -q '^serializable:    yes, as T1 T2 T3$' table
}
