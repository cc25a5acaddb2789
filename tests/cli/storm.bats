#!/usr/bin/env bats
# ccsim storm: random worlds hold, the canary is caught, what breaks is reported with a command that shows it again.

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
}

refused() {
    local message=$1 status=0
    shift
    "$ccsim" storm "$@" >out 2>err || status=$?
    [ "$status" -eq 2 ]
    [ ! -s out ]
    grep -qF -- "$message" err || { cat err; return 1; }
}

@test "every algorithm holds, and the canary is caught" {
    "$ccsim" storm --seed 1 --worlds 60 >out 2>err
    [ ! -s err ]
    [ "$(head -n 1 out)" = 'seed 1' ]
    while read -r name; do
        grep -Eq "^$name +[A-Za-z]+ +60 +[1-9][0-9]* +[0-9]+ +[0-9]+ +0$" out
    done < <("$ccsim" list algorithms | sed 's/ .*//')
    grep -Eq '^occ +SER +60 .* 0 +0$' out # none of whose transactions asks for less
    grep -Eq '^0 violations in [0-9.]+ s; [1-9][0-9]* runs were repeated$' out
    grep -Eq '^none, which must be caught, was: in [1-9][0-9]* of 60 worlds, first in number [0-9]+, after 0\.' out
}

@test "a seed is a storm, whatever the number of workers" {
    counts() { "$ccsim" storm --worlds 20 "$@" | grep -E '^[a-z0-9-]+ +[A-Za-z]+ +20 '; }
    counts --seed 3 -j 1 >one
    counts --seed 3 -j 3 >three
    counts --seed 4 >other
    [ -s one ]
    cmp one three
    [ "$(cat one)" != "$(cat other)" ]
}

@test "it ends when time is up" {
    timeout 20 "$ccsim" storm --seconds 1 --algorithm 2pl,occ >out
    grep -Eq '^seed [0-9]+$' out
    grep -Eq '^0 violations in 1\.[0-9] s' out
}

@test "without gap locks there are phantoms: reported, and the replay shows the same one again" {
    status=0
    "$ccsim" storm --seed 5 --worlds 60 --algorithm 2pl --set phantoms=none >out 2>err || status=$?
    [ "$status" -eq 1 ]
    grep -Eq '^2pl +SER +60 .* [1-9][0-9]*$' out
    grep -q '^world [0-9]*: 2pl breaks what it promises: .*phantom' err
    replay=$(sed -n 's/^  replay: ccsim //p' err | head -n 1)
    status=0
    # shellcheck disable=SC2086 # the words of a command
    "$ccsim" $replay >again 2>witness || status=$?
    [ "$status" -eq 1 ]
    head -n "$(wc -l <witness)" err | diff witness -
    grep -q '^2pl on wild, .* algorithm.phantoms=none' again
    # with them that world is whole
    replay=${replay% --set *}
    # shellcheck disable=SC2086
    "$ccsim" $replay
}

@test "a canary that is not caught is a failure; a single world is none" {
    missed=
    for seed in $(seq 1 40); do
        status=0
        "$ccsim" storm --seed "$seed" --worlds 1 --algorithm none >out || status=$?
        if [ "$status" -eq 1 ]; then
            missed=$seed
            break
        fi
    done
    [ -n "$missed" ]
    grep -q '^none, which must be caught, was NOT: in none of 1 worlds$' out
    "$ccsim" storm --seed "$missed" --world 1 --algorithm none >out
    absent=$(grep -c 'was NOT' out || true)
    [ "$absent" -eq 0 ]
}

@test "a crash costs one world, and is a violation" {
    "$ccsim" storm --seconds 3 --seed 1 -j 1 >out 2>err &
    pid=$!
    victim=
    while [ -z "$victim" ] && kill -0 $pid; do
        victim=$(pgrep -P $pid | head -n 1 || true)
    done
    sleep 0.5
    kill -ABRT "$victim"
    status=0
    wait $pid || status=$?
    [ "$status" -eq 1 ]
    grep -Eq '^world [0-9]+: [-a-z0-9]+ crashed: Aborted$' err
    grep -Eq '^  replay: ccsim storm --seed 1 --world [0-9]+ --algorithm [-a-z0-9]+$' err
    grep -q '^1 violations' out
}

@test "interrupted: what was found so far" {
    "$ccsim" storm --seconds 60 --seed 1 >out 2>err &
    pid=$!
    sleep 1
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" -eq 130 ]
    grep -q '^0 violations' out
}

@test "bad usage" {
    refused "there is no algorithm \`2lp'; did you mean 2pl?" --algorithm 2lp
    refused "--seconds: \`soon' is no time to storm" --seconds soon
    refused "--seconds: \`-1' is no time to storm" --seconds=-1
    refused "--world: \`0' is not a whole number" --world 0
    refused '--world needs --seed' --world 3
    refused "--set: \`phantoms' is not KEY=VALUE" --set phantoms
    refused '--set: no algorithm here has all of' --set phantom=none
    refused "\`some\` is none of next_key, none" --set phantoms=some
    refused "there is no option \`--secondo'; did you mean --seconds?" --secondo 3
    refused "\`now' is one argument too many" now
}
