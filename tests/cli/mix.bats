#!/usr/bin/env bats
# The mixes in configs/: what they say they show.
# shellcheck disable=SC2016  # the messages quote words by backticks

setup() {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    configs=$(cd "$BATS_TEST_DIRNAME/../../configs" && pwd)
    cd "$BATS_TEST_TMPDIR" || return 1
}

# A short run of a config; exit code 1, a broken promise, is none of a level that is not promised.
short() { "$ccsim" run "$configs/$1" --quiet --no-plot --fresh -o out --set experiment.replications=1 --set experiment.warmup=0 "${@:2}"; }

@test "every mix is a sound config" {
    for config in "$configs"/mix/*.ini "$configs/inventory.ini"; do
        "$ccsim" run --dry-run "$config" >/dev/null
    done
}

@test "the inventory loses no piece" {
    short inventory.ini --set experiment.duration=500ms --set system.terminals=8
    [ "$(mlr --icsv --onidx cut -f audit then count-distinct -f audit out/runs.csv)" = "ok 3" ]
    [ "$(mlr --icsv --onidx filter '$commits > 0' then count-distinct -f type out/types.csv | sort | cut -d' ' -f1 | tr '\n' ' ')" = "expire pay reserve " ]
}

@test "doctors: nobody on call under si alone" {
    short mix/doctors.ini --set experiment.duration=2s
    [ "$(mlr --icsv --onidx --ofs : cut -o -f algorithm,audit out/runs.csv | tr '\n' ' ')" = "si:broken ssi:ok 2pl:ok " ]
}

@test "seats: read committed oversells, snapshots do not" {
    short mix/seats.ini --set experiment.duration=500ms
    [ "$(mlr --icsv --onidx --ofs : cut -o -f algorithm,audit out/runs.csv | tr '\n' ' ')" = "mvcc-rc:broken si:ok ssi:ok 2pl:ok " ]
}

@test "who asks for less has not been promised the invariant" {
    cat >lost.ini <<'INI'
[experiment]
algorithm = 2pl
replications = 1
warmup = 0
duration = 500ms
[system]
terminals = 8
[restart]
delay = adaptive
[workload]
name = mix
[table account]
rows = 5
value = 100
[transaction transfer]
isolation = rc
let a = uniform(account)
let b = uniform(account) not a
steps = r(account a) r(account b) w(account a, $a-10) w(account b, $b+10)
[invariant]
total = sum(account) constant
INI
    "$ccsim" run lost.ini --quiet --no-plot -o out
    [ "$(mlr --icsv --onidx cut -f audit out/runs.csv)" = broken ]
    "$ccsim" run lost.ini --quiet --no-plot -o out --set transaction.transfer.isolation=own
    [ "$(mlr --icsv --onidx cut -f audit out/runs.csv)" = ok ]
}

@test "weights are swept and set, for one algorithm too; the effective config is the same plan" {
    cat >bank.ini <<'INI'
[experiment]
algorithm = 2pl mvcc-rc
duration = 200ms
warmup = 0
replications = 1
[system]
terminals = 4
[workload]
name = mix
[table account]
rows = 100
[transaction transfer]
let a = uniform(account)
let b = uniform(account) not a
steps = w(account a, -=10) w(account b, +=10)
[transaction look]
let a = uniform(account)
steps = r(account a)
[invariant]
level = rc
total = sum(account) constant
[sweep]
transaction.transfer.weight = 0 1
transaction.transfer.let a = uniform(account) zipf(account, 0.9)
[mvcc-rc]
transaction.look.weight = 3
INI
    "$ccsim" run bank.ini --quiet --no-plot -o out
    [ "$(head -1 out/runs.csv | cut -d, -f1-4)" = "algorithm,workload,transaction.transfer.weight,transaction.transfer.let a" ]
    [ "$(mlr --icsv --onidx filter '$type == "transfer" && ${transaction.transfer.weight} == 0' then stats1 -a sum -f commits out/types.csv)" = 0 ]
    jq -r .config out/manifest.json >again.ini
    "$ccsim" run again.ini --quiet --no-plot -o again
    cmp out/runs.csv again/runs.csv
    cmp out/types.csv again/types.csv
    "$ccsim" run bank.ini --quiet --no-plot -o set --set 'transaction.transfer.let a=uniform(account)' --set transaction.transfer.weight=1
    [ "$(mlr --icsv --onidx filter '${transaction.transfer.weight} == 1 && ${transaction.transfer.let a} == "uniform(account)"' then cut -f digest out/runs.csv)" = \
        "$(mlr --icsv --onidx cut -f digest set/runs.csv)" ]
}

@test "help mix tells the sections" {
    "$ccsim" help mix >out
    grep -qF '[transaction NAME]' out
    grep -qF 'transaction NAME.weight' out
    "$ccsim" list workloads | grep -q '^mix '
}
