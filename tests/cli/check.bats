#!/usr/bin/env bats
# `ccsim check`: schedules from arguments, files and standard input; what is said to people and to programs; levels that
# are required; mistakes with their places.

setup() {
    build=${CCSIM_BUILD_DIR:-$BATS_TEST_DIRNAME/../../build}
    ccsim=$(cd "$build" && pwd)/ccsim
    cases=$(cd "$BATS_TEST_DIRNAME/../schedules" && pwd)/check.jsonl
    cd "$BATS_TEST_TMPDIR" || return 1
}

# says CODE MESSAGE ARGUMENT...: what `ccsim check ARGUMENT...` must answer on standard error, with nothing on the other.
says() {
    local code=0 wanted_code=$1
    printf '%s\n' "$2" >wanted
    shift 2
    "$ccsim" check "$@" >out 2>err </dev/null || code=$?
    diff -u wanted err
    [ "$code" -eq "$wanted_code" ] || { echo "exit code $code" && false; }
    [ ! -s out ]
}

# field NAME: of the first JSON object in `out`, as compact JSON.
field() { sed -n "s/\"conflicts\":.*//; 1s/.*\"$1\": \(\[[^]]*\]\|[^,}]*\).*/\1/p" out; }

# phenomena: the list in every object of standard input, sorted.
phenomena() {
    sed 's/.*"phenomena": \[\([^]]*\)\].*/\1/' | while read -r list; do
        tr -d ' ' <<<"$list" | tr , '\n' | sort | tr '\n' ' '
        echo
    done
}

@test "the verdict for a person" {
    "$ccsim" check 'r1(x) r2(y) w1(y) w2(x) c1 c2' >out
    grep -Fx 'r1(x) r2(y) w1(y) w2(x) c1 c2' out
    grep -Fx '2 committed' out
    grep -F '  conflict-serializable  no    the cycle T1 -> T2 -> T1. T1 read x (r1(x), step 1) before T2 wrote it' out
    grep -Fx '  T1 -> T2    r1(x) before w2(x)' out
    grep -Fx '  T2 -> T1    r2(y) before w1(y)' out
    grep -F '  A5B       write skew: T1 read x (r1(x), step 1) and T2 read y (r2(y), step 2)' out
    grep -F '  G2-item   ' out
    grep -Fx 'Isolation levels that allow it: READ UNCOMMITTED, READ COMMITTED, SNAPSHOT ISOLATION' out
    [ "$(grep -c '.\{113\}' out)" -eq 0 ]
}

@test "reasons name who did what to whom" {
    "$ccsim" check 'w1(x) r2(x) c2 a1' >out
    grep -F '  recoverable            no    T2 read x from T1 and committed, but T1 was rolled back' out
    grep -F '  cascadeless            no    T2 read x from T1, which had not committed (r2(x), step 2)' out
    "$ccsim" check 'w1(x) r2(x) c2 c1' >out
    grep -F '  recoverable            no    T2 read x from T1 and committed before T1 did' out
}

@test "view-serializability speaks of transactions, not of single writes" {
    "$ccsim" check 'w1(x) r2(x) w1(x)' >out
    tr -s ' \n' ' ' <out | grep -F 'view-serializable yes in the serial order T1 T2 every read is from the same transaction'
    "$ccsim" check 'r1(x) r2(x) w1(x) w2(x)' >out
    tr -s ' \n' ' ' <out | grep -F 'view-serializable no in no serial order of the committed transactions is every read from'
    "$ccsim" help view-serializable >out
    tr -s ' \n' ' ' <out | grep -F 'others are only through blind writes'
}

@test "the verdict as JSON has the fields that scripts rely on" {
    "$ccsim" check --json 'r1(x) r2(x) w1(x) w2(x) c1 c2' >out
    [ "$(wc -l <out)" -eq 1 ]
    [ "$(field conflict_serializable)" = false ]
    [ "$(field cycle)" = '[1, 2]' ]
    [ "$(field view_serializable)" = false ]
    [ "$(field recoverable)" = true ]
    [ "$(field strict)" = false ]
    [ "$(field phenomena)" = '["P0", "P2", "P4"]' ]
    [ "$(field anomalies)" = '["G-single", "G2-item", "G2"]' ]
    [ "$(grep -c serial_order out)" -eq 0 ]
    "$ccsim" check --json 'w3(x) r1(x) w2(y) c1 c2 c3' >out
    [ "$(field serial_order)" = '[2, 3, 1]' ]
    [ "$(grep -c '"cycle"' out)" -eq 0 ]
    [ "$(field levels)" = '["ru", "rc", "rr", "ser"]' ]
}

@test "more than eight transactions leave view-serializability open" {
    "$ccsim" check --json 'w1(x) w2(x) w3(x) w4(x) w5(x) w6(x) w7(x) w8(x) w9(x)' >out
    [ "$(field view_serializable)" = null ]
    "$ccsim" check --json 'w1(x) w2(x) w3(x) w4(x) w5(x) w6(x) w7(x) w8(x)' >out
    [ "$(field view_serializable)" = true ]
}

@test "every known case through a file at once" {
    sed 's/.*"schedule": "\([^"]*\)".*/\1/' "$cases" >all.txt
    "$ccsim" check --json all.txt >out
    [ "$(wc -l <out)" -eq "$(wc -l <"$cases")" ]
    for key in conflict_serializable recoverable cascadeless strict rigorous; do
        diff <(sed "s/.*\"$key\": \([a-z]*\).*/\1/" "$cases") <(sed "s/.*\"$key\": \([a-z]*\)[,}].*\"reasons\".*/\1/" out)
    done
    diff <(phenomena <"$cases") <(phenomena <out)
}

@test "a file: comments, header lines, several schedules, one going on in the next line" {
    cat >lecture.txt <<'END'
# who saw the new row?
init x=10 y=20
pred P: v>=10
q1(P) i2(z,15) c2
    q1(P) c1

# the same with a value outside
q1(P) i2(z,5) c2 q1(P) c1
END
    "$ccsim" check --json lecture.txt >out
    [ "$(wc -l <out)" -eq 2 ]
    [ "$(field phenomena)" = '["P3"]' ]
    sed -i 1d out
    [ "$(field phenomena)" = '[]' ]
    "$ccsim" check lecture.txt >out
    grep -Fx '== lecture.txt:4' out
    grep -Fx '== lecture.txt:8' out
}

@test "standard input, and headers from the command line" {
    echo 'q1(P) i2(z,5) c2 q1(P) c1' | "$ccsim" check - --json --pred 'P: v>=10' >out
    [ "$(field phenomena)" = '[]' ]
    echo 'q1(P) i2(z,5) c2 q1(P) c1' | "$ccsim" check - --json --pred 'P: v>=5' >out
    [ "$(field phenomena)" = '["P3"]' ]
    "$ccsim" check --json --init x=3 --pred P:v=3 'q1(P) w2(x,4,if=4) w2(x,4,if=3) c1 c2' >out
    [ "$(field phenomena)" = '["P2", "P3"]' ]
}

@test "the conflict graph for graphviz" {
    "$ccsim" check --dot 'r1(x) w2(x) w1(x) w3(y) c1 c2 c3' >out
    head -n 1 out | grep -Fx 'digraph schedule_1 {'
    grep -Fx '  T3;' out
    grep -Fx '  T1 -> T2 [label="r1(x) before w2(x)"];' out
    grep -Fx '  T2 -> T1 [label="w2(x) before w1(x)"];' out
    if command -v dot >/dev/null; then
        dot -Tsvg out | grep -q '<svg'
    fi
}

@test "a required level decides the exit code" {
    allows() { # allows LEVELS SCHEDULE: these, and no others
        for level in ru rc rr si ser; do
            code=0
            "$ccsim" check --require $level "$2" >out || code=$?
            case " $1 " in *" $level "*) [ $code -eq 0 ] ;; *) [ $code -eq 1 ] ;; esac
        done
    }
    allows 'ru rc rr si ser' 'r1(x) w1(x) c1 r2(x) c2'
    allows 'ru rc si' 'r1(x) r2(y) w1(y) w2(x) c1 c2'
    allows 'ru rc' 'r1(x) w2(x) c2 w1(x) c1'
    allows 'ru rc rr' 'q1(P) i2(z,5) c2 q1(P) c1'
    allows 'ru' 'w1(x) r2(x) c2 a1'
    allows 'ru' 'w1(x) r2(x) c2'
    allows '' 'w1(x) w2(x) w2(y) c2 w1(y) c1'
    printf 'r1(x) c1\nw1(x) r2(x) c2 a1\n' >two.txt
    run "$ccsim" check --require rc two.txt
    [ "$status" -eq 1 ]
    grep -q 'READ COMMITTED, as required, does not allow it: G1a: ' <<<"$output"
}

@test "mistakes are all told, with file, line and column" {
    printf '# fine\nr1(x) w2(x;5)\ninit x\nq1(y)\n' >bad.txt
    says 2 'bad.txt:2:11: expected `,'\'' or `)'\''
bad.txt:3:7: expected `='\'' and the value of x
bad.txt:4:4: y is a row, and q asks with a predicate; did you mean r1(y)?' bad.txt
    says 2 'schedule:1:7: `k'\'' begins no step: a step begins with one of b r w u s q i d p f c a' 'r1(x) k1(x)'
    says 2 '--pred:1:3: expected v (the value), id or true' --pred P:w=1 'q1(P)'
    says 2 '--init:1:3: expected a value, a whole number' --init x=y 'r1(x)'
    says 2 '-:1:1: there is no schedule here' -
}

@test "the order of begins and ends" {
    says 2 'schedule:1:10: T1 has committed: what follows needs another number' 'r1(x) c1 r1(x)'
    says 2 'schedule:1:10: T1 has been rolled back: to begin it anew write b1' 'r1(x) a1 r1(x) c1 w2(y) a2 b2 c2'
    says 2 'schedule:1:7: T1 has begun already' 'r1(x) b1 c1'
    "$ccsim" check 'w1(x) a1 b1 w1(x) c1' | grep -Fx '1 committed, 1 rolled back'
}

@test "bad usage" {
    says 2 'ccsim check: no schedule given
Try `ccsim check --help'\'' for more information.'
    says 2 'ccsim check: one schedule or file at a time: put the steps of a schedule into quotes
Try `ccsim check --help'\'' for more information.' 'r1(x)' 'w2(x)'
    says 2 'ccsim check: --require: `sre'\'' is none of ru, rc, rr, si, ser; did you mean ser?
Try `ccsim check --help'\'' for more information.' --require sre c1
    says 2 'ccsim check: --json or --dot, not both
Try `ccsim check --help'\'' for more information.' --json --dot c1
    says 2 'nowhere.txt: cannot be opened: No such file or directory' nowhere.txt
    says 2 'b1.txt: cannot be opened: No such file or directory' b1.txt
    says 2 'schedule:1:1: there is no schedule here' ''
    says 2 'schedule:1:3: expected `('\'' after r1' r1
    says 2 'schedule:1:3: expected `('\'' after r1' 'r1[x]'
    says 2 'schedule:1:4: `foo'\'' is none of ro, deferrable, immediate, ru, rc, rr, si, ser' b1:foo
    mkdir folder
    says 2 'folder: cannot be read: Is a directory' folder
    head -c 4096 /dev/zero >zeros
    says 2 'zeros:1:1: no step begins with this byte, 0x00' zeros
}

@test "too much to judge is said" {
    { printf 'r1(x0'; for ((i = 1; i < 100; i++)); do printf ',x%d' "$i"; done; printf ')'; } >rows.txt
    { cat rows.txt; for ((i = 0; i < 3; i++)); do printf ' q%d(P)' "$i"; done; } >few.txt
    "$ccsim" check few.txt >out
    { cat rows.txt; yes ' q2(P)' | head -n 50000 | tr -d '\n'; } >many.txt
    says 2 'many.txt:1:1: too much to judge: its steps touch more than 4000000 rows' many.txt
}
