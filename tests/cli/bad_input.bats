#!/usr/bin/env bats
# What a user can get wrong in configs and on the command line: each has its exact message, exit code 2, and nothing on
# standard output.
# shellcheck disable=SC2016  # the messages quote words by backticks

setup() {
    build=${CCSIM_BUILD_DIR:-$BATS_TEST_DIRNAME/../../build}
    ccsim=$(cd "$build" && pwd)/ccsim
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >c.ini <<'END'
[experiment]
algorithm = 2pl
duration = 1s
[system]
terminals = 4
[workload]
name = hot_row
[sweep]
workload.hot_rows = 1 2
END
}

line() { sed -i "$1s|.*|$2|" c.ini; }            # line NUMBER TEXT: replaces a line of the config
append() { printf '%s\n' "$@" >>c.ini; }          # the first is line 10, in [sweep]
without() { sed -i "$1d" c.ini; }                 # without LINES: deletes them

# says CODE MESSAGE ARGUMENT...: what `ccsim ARGUMENT...` must answer.
says() {
    local code=0 wanted_code=$1 wanted=$2
    shift 2
    "$ccsim" "$@" >out 2>err </dev/null || code=$?
    printf '%s\n' "$wanted" >wanted
    diff -u wanted err
    [ "$code" -eq "$wanted_code" ] || { echo "exit code $code" && false; }
    [ "$wanted_code" -eq 0 ] || [ ! -s out ] || { echo "standard output:" && cat out && false; }
}

refuses() { says 2 "$1" run --dry-run c.ini "${@:2}"; } # refuses MESSAGE [ARGUMENT...]

accepts() {
    "$ccsim" run --dry-run c.ini >out 2>err </dev/null || { cat err && false; }
    [ ! -s err ]
}

@test "the config that the others break is sound" {
    accepts
    grep -Fx '; 2 points, 5 replications: 10 runs, into results/c' out
}

# --- the file ---

@test "a missing file" {
    says 2 'nowhere.ini: cannot be opened: No such file or directory' run --dry-run nowhere.ini
}

@test "a folder" {
    mkdir folder
    says 2 'folder: cannot be read: Is a directory' run --dry-run folder
}

@test "an empty file" {
    : >empty.ini
    says 2 'empty.ini: the section [experiment] is missing; it needs `algorithm`, unless [sweep] has it
empty.ini: the section [workload] is missing; it needs `name`
empty.ini: neither system.terminals nor system.arrival_rate is given' run --dry-run empty.ini
}

@test "a binary file" {
    printf '[experiment]\nalgorithm = 2pl\0\n' >c.ini
    refuses 'c.ini:2: this is no text: the line has the byte 0x00'
    printf '\177ELF\n' >c.ini
    refuses 'c.ini:1: this is no text: the line has the byte 0x7f'
    printf '[experiment]\ntitle = caf\351\n' >c.ini
    refuses 'c.ini:2: this is no text: the line has the byte 0xe9'
}

@test "a line that is too long" {
    line 9 "workload.hot_rows = $(seq -s ' ' 1 100)"
    refuses 'c.ini:9: the line has 311 bytes, at most 198 are read; a long value goes on in indented lines'
}

@test "a line of 198 bytes, and a long list in indented lines, are taken" {
    line 9 "workload.hot_rows = 1$(printf '%177s' '')"
    sed -i 's| *$|&|' c.ini
    accepts
    printf '    %s\n' '2 3 ; a comment' '4' '# not a value' '5' >>c.ini
    accepts
    grep -Fx 'workload.hot_rows = 1 2 3 4 5' out
}

@test "a line without =" {
    line 5 'terminals 4'
    refuses 'c.ini:5: the line has no `=`: expected `key = value` or `[section]`'
}

@test "a key before any section" {
    line 1 'seed = 5'
    refuses 'c.ini:1: `seed` stands before any [section]
c.ini:2: `algorithm` stands before any [section]
c.ini:3: `duration` stands before any [section]'
}

@test "no key before the =" {
    line 5 ' = 4'
    refuses 'c.ini:5: there is no key before the `=`'
}

@test "section headers that are none" {
    line 4 '[system'
    refuses 'c.ini:4: the section header has no `]`'
    line 4 '[system] terminals = 4'
    refuses 'c.ini:4: there is something behind the `]` of the section header'
    line 4 '[]'
    refuses 'c.ini:4: the name of a section has 1 to 49 bytes'
}

@test "indented keys and headers" {
    line 5 'terminals = 4\n  cpus = 8'
    refuses 'c.ini:6: an indented line goes on with the value above; a key must stand at the beginning of its line'
    line 6 '  [cost]'
    refuses 'c.ini:6: a section header must stand at the beginning of its line'
}

@test "a repeated key" {
    line 5 'terminals = 4\nterminals = 8'
    refuses 'c.ini:6: `terminals` is given twice in [system], first in line 5'
}

@test "a missing value" {
    line 5 'terminals = ; as many as you like'
    refuses 'c.ini:5: terminals: the value is missing'
}

# --- sections and keys ---

@test "an unknown section" {
    line 4 '[sytem]'
    refuses 'c.ini:4: unknown section [sytem]; did you mean system?
c.ini: neither system.terminals nor system.arrival_rate is given'
}

@test "missing sections" {
    without '6,7'
    refuses 'c.ini: the section [workload] is missing; it needs `name`'
    without '1,3'
    refuses 'c.ini: the section [experiment] is missing; it needs `algorithm`, unless [sweep] has it
c.ini: the section [workload] is missing; it needs `name`'
}

@test "missing keys" {
    without '7'
    without '2'
    refuses 'c.ini:1: [experiment] needs `algorithm`, unless [sweep] has it
c.ini:5: [workload] needs `name`'
}

@test "an unknown key" {
    line 5 'terminals = 4\ncpu = 8'
    refuses 'c.ini:6: unknown key `cpu` in [system]; did you mean cpus?'
    line 6 'colour = 8'
    refuses 'c.ini:6: unknown key `colour` in [system]'
}

@test "a key of another section" {
    line 5 'terminals = 4\nlog_force = 1ms'
    refuses 'c.ini:6: unknown key `log_force` in [system]; it belongs to [cost]'
}

@test "an option of another workload" {
    without '8,9'
    line 7 'name = acl87\nhot_rows = 4'
    refuses 'c.ini:8: unknown key `hot_rows` in [workload]; it is an option of the workload hot_row'
}

@test "an option of another algorithm" {
    append '[no-wait]' 'lock_timeout = 5ms'
    refuses 'c.ini:11: unknown key `no-wait.lock_timeout`; it is an option of the algorithm 2pl-timeout'
}

@test "an algorithm's section takes full keys, but not all" {
    append '[2pl]' 'experiment.duration = 1s'
    refuses 'c.ini:11: `experiment.duration` cannot differ between algorithms'
    line 11 'workload.name = bank'
    refuses 'c.ini:11: `workload.name` cannot differ between algorithms'
    line 11 'restart.dely = 1ms'
    refuses 'c.ini:11: unknown key `restart.dely`; did you mean restart.delay?'
}

@test "an unknown algorithm" {
    line 2 'algorithm = 2pl no-weit nonsense'
    refuses 'c.ini:2: unknown algorithm `no-weit`; did you mean no-wait?
c.ini:2: unknown algorithm `nonsense`'
}

@test "an unknown workload" {
    line 7 'name = hotrow'
    refuses 'c.ini:7: name: unknown workload `hotrow`; did you mean hot_row?'
}

@test "variants" {
    append '[algorithm fast]' 'victim = oldest'
    refuses 'c.ini:10: [algorithm fast] needs `type`, the algorithm that it is a variant of'
    append 'type = 2lp'
    refuses 'c.ini:12: type: unknown algorithm `2lp`; did you mean 2pl?'
    line 12 'type = 2pl'
    line 11 'victim = oldst'
    refuses 'c.ini:11: victim: `oldst` is none of youngest, oldest, requester, fewest_locks, fewest_writes, least_work, least_remaining, random; did you mean oldest?'
    line 10 '[algorithm occ]'
    line 11 'victim = oldest'
    refuses 'c.ini:10: [algorithm occ]: a variant needs a name of its own, `occ` is taken'
    line 10 '[algorithm a b]'
    refuses 'c.ini:10: [algorithm a b]: a name consists of letters, digits, `_` and `-`'
}

# --- values ---

@test "a missing unit" {
    line 3 'duration = 5'
    refuses 'c.ini:3: duration: `5` has no unit (ns, us, ms, s, min, h)'
}

@test "negative durations" {
    line 3 'duration = -1s'
    refuses 'c.ini:3: duration: `-1s` is negative'
    line 3 'warmup = -1ms'
    refuses 'c.ini:3: warmup: `-1ms` is negative'
}

@test "no duration" {
    line 3 'duration = 0'
    refuses 'c.ini:3: duration: `0` is out of bounds (1us .. 100000000s)'
}

@test "a billion terminals" {
    line 5 'terminals = 1000000000'
    refuses 'c.ini:5: terminals: `1000000000` is out of bounds (1 .. 1000000)'
}

@test "values out of bounds" {
    line 5 'terminals = 0'
    refuses 'c.ini:5: terminals: `0` is out of bounds (1 .. 1000000)'
    line 3 'replications = 0'
    line 5 'terminals = 4\nio_miss = 120%'
    refuses 'c.ini:3: replications: `0` is out of bounds (1 .. 1000000)
c.ini:6: io_miss: `120%` is out of bounds (0% .. 100%)'
}

@test "values that are none" {
    line 3 'certify = perhaps'
    line 5 'terminals = 4\ncpus = many\ndisk_queues = shraed'
    refuses 'c.ini:3: certify: `perhaps` is neither yes nor no
c.ini:6: cpus: `many` is not a whole number, nor `unlimited`
c.ini:7: disk_queues: `shraed` is none of own, shared; did you mean shared?'
}

@test "distributions that are none" {
    line 5 'terminals = 4\nthink_time = expo(1ms)'
    refuses 'c.ini:6: think_time: `expo(1ms)` is none of duration, exp(duration), uniform(duration, duration), erlang(count, duration), lognormal(duration, number); did you mean exp?'
}

@test "replications, batches, comparisons and series that make no sense" {
    line 3 'warmup = atuo'
    refuses 'c.ini:3: warmup: `atuo` is not a duration (such as 250us, 1.5ms, 2s), nor `auto`'
    line 3 'series = 1us'
    refuses 'c.ini:3: series: these are 100000000 pieces a run, at most 100000 are possible'
    line 3 'precision = 2%\nprecision_of = throughput_tp\nreplications = 1'
    refuses 'c.ini:3: precision: an interval needs replications = 2 at least to begin with; 5 or more serve well
c.ini:4: precision_of: `throughput_tp` is no metric; did you mean throughput_tps?'
    without 4,5
    line 3 'precision = 2%\nreplications_max = 4'
    refuses 'c.ini:4: replications_max: 4 are fewer than the 5 replications to begin with'
    line 3 'batches = 20'
    refuses 'c.ini:3: batches: with 5 replications these give the intervals; batches need replications = 1'
    line 3 'batches = 5\nreplications = 1'
    refuses 'c.ini:3: batches: fewer than 10 say nothing; 20 to 30 serve well'
    line 3 'compare = oc\n'
    refuses 'c.ini:3: compare: `oc` is none of the algorithms of the sweep'
}

@test "terminals and arrivals exclude each other" {
    line 5 'terminals = 4\narrival_rate = 500/s'
    refuses 'c.ini:6: both system.terminals and system.arrival_rate are given; only one can be'
    without '5,6'
    refuses 'c.ini: neither system.terminals nor system.arrival_rate is given'
}

@test "options that make no sense together" {
    line 7 'name = hot_row\nrows = 10\nhot_rows = 2'
    line 11 'workload.accesses = 4 20'
    line 10 '[sweep]'
    refuses 'c.ini:7: workload hot_row: accesses = 20 needs 19 different cold rows, but rows = 10 and hot_rows = 2 leave 8 (with workload.accesses = 20)'
}

@test "all mistakes at once, in order" {
    line 2 'algorithm = 2lp'
    line 5 'terminals = x'
    line 3 'duration = 5'
    append '[figure f]' 'y = throughput_tps' '[wat]'
    refuses 'c.ini:2: unknown algorithm `2lp`; did you mean 2pl?
c.ini:3: duration: `5` has no unit (ns, us, ms, s, min, h)
c.ini:5: terminals: `x` is not a whole number
c.ini:10: [figure f] needs `x`
c.ini:12: unknown section [wat]'
}

@test "the mistakes of two files and of the arguments, in order" {
    printf '[system]\ncpus = x\n' >d.ini
    line 5 'terminals = x'
    refuses 'c.ini:5: terminals: `x` is not a whole number
d.ini:2: cpus: `x` is not a whole number, nor `unlimited`
--set system.mpl=x: `x` is not a whole number, nor `unlimited`' d.ini --set system.mpl=x
}

# --- the sweep ---

@test "sweeps of keys that are none" {
    append 'system.cpu = 1 2' 'cpus = 1 2' 'experiment.duration = 1s 2s' 'experiment.seed = 1 2'
    refuses 'c.ini:10: unknown key `system.cpu`; did you mean system.cpus?
c.ini:11: unknown key `cpus`; it belongs to [system] (a key is written section.key)
c.ini:12: `experiment.duration` cannot be swept
c.ini:13: `experiment.seed` cannot be swept'
}

@test "sweeps of the options of what is not there" {
    append 'workload.audit_fraction = 0 50%' 'occ.check = start version'
    refuses 'c.ini:10: unknown key `workload.audit_fraction`; it is an option of the workload bank
c.ini:11: the axis `occ.check` concerns no algorithm of this experiment'
    without 10
    refuses 'c.ini:10: the axis `occ.check` concerns no algorithm of this experiment'
}

@test "values of a sweep" {
    append 'system.cpus = 1 two 3' 'system.mpl = 1 2 1' 'cost.cpu_lock = 1ms 1000us'
    refuses 'c.ini:10: system.cpus: `two` is not a whole number, nor `unlimited`
c.ini:11: system.mpl: the value `1` comes twice
c.ini:12: cost.cpu_lock: the value `1000us` comes twice'
}

@test "ranges" {
    append 'system.cpus = 8..1 +1' 'system.mpl = 1..8' 'system.disks = 0..8 *2' 'cost.cpu_lock = 1ms..2s +1' \
        'workload.theta = 0..1 +0' 'workload.rows = 1..8 *1' 'cost.cpu_hop = 1ms..2ms *2ms' 'system.think_time = 1..x +1'
    refuses 'c.ini:10: system.cpus: the range `8..1 +1` is empty: it begins above its end
c.ini:11: system.mpl: the range `1..8` has no step, such as +1 or *2
c.ini:12: system.disks: the range `0..8 *2` multiplies, so it must begin above 0
c.ini:13: cost.cpu_lock: the units of the range `1ms..2s +1` do not go together
c.ini:14: workload.theta: the step of the range `0..1 +0` must be above 0
c.ini:15: workload.rows: the factor of the range `1..8 *1` must be above 1
c.ini:16: cost.cpu_hop: the factor of the range `1ms..2ms *2ms` must be a number without a unit
c.ini:17: system.think_time: `x` in a range is not a number of at most 17 digits'
}

@test "a range without the unit" {
    append 'cost.cpu_lock = 10..50 +10'
    refuses 'c.ini:10: cost.cpu_lock: `10` has no unit (ns, us, ms, s, min, h)'
}

@test "ten million points" {
    append 'system.terminals = 1..1000 +1' 'system.cpus = 1..5000 +1'
    refuses 'c.ini:8: the sweep has 10000000 points; with 5 replications each that is more than 1000000 runs'
    without 11
    line 10 'workload.rows = 1..5000000 +1'
    refuses 'c.ini:8: the sweep has 10000000 points; with 5 replications each that is more than 1000000 runs'
}

@test "an axis given twice" {
    append 'workload.hot_rows = 4 8'
    refuses 'c.ini:10: `workload.hot_rows` is given twice in [sweep], first in line 9'
    line 10 'algorithm = 2pl occ\nexperiment.algorithm = occ'
    refuses 'c.ini:11: `experiment.algorithm` is an axis already, since line 10'
    without 11
    line 2 'algorithm = 2pl si'
    refuses 'c.ini:10: `algorithm` is an axis already: [experiment] has a list of them'
}

@test "zips" {
    append 'system.terminals = 1 2 4' 'zip = workload.hot_rows system.terminals'
    refuses 'c.ini:11: zip: workload.hot_rows has 2 values, but system.terminals has 3'
    line 11 'zip = workload.hot_rows system.terminal'
    refuses 'c.ini:11: zip: `system.terminal` is no axis of the sweep; did you mean system.terminals?'
    line 11 'zip = workload.hot_rows'
    refuses 'c.ini:11: zip: needs at least two keys of [sweep]'
    line 11 'zip = workload.hot_rows workload.hot_rows'
    refuses 'c.ini:11: zip: `workload.hot_rows` comes twice'
}

@test "an algorithm cannot have its own idea of an axis" {
    append 'restart.delay = 0 1ms' '[2pl]' 'restart.delay = adaptive'
    refuses 'c.ini:12: [2pl] cannot set `restart.delay`: it is an axis of the sweep'
}

@test "figures" {
    append '[figure f]' 'x = system.terminals' 'y = troughput_tps' 'group = abort_rate' 'log = z' 'colour = red'
    refuses 'c.ini:11: x: `system.terminals` is neither an axis of the sweep nor a metric
c.ini:12: y: `troughput_tps` is no metric; did you mean throughput_tps?
c.ini:13: group: `abort_rate` is no axis of the sweep
c.ini:14: log: `z` is none of none, x, y, xy
c.ini:15: unknown key `colour` in [figure f]'
    line 10 '[figure ../f]'
    line 11 'x = workload.hot_rows'
    without '12,15'
    append 'y = commits'
    refuses 'c.ini:10: [figure ../f]: a name consists of letters, digits, `_` and `-`'
}

# --- the command line ---

@test "--set" {
    refuses '--set system.cpus: there is no `=`: expected KEY=VALUE' --set system.cpus
    refuses '--set system.cpu=4: unknown key `system.cpu`; did you mean system.cpus?' --set system.cpu=4
    refuses '--set cpus=4: unknown key `cpus`; it belongs to [system] (a key is written section.key)' --set cpus=4
    refuses '--set =4: there is no key: expected KEY=VALUE' --set =4
    refuses '--set system.cpus=: the value is missing' --set system.cpus=
    refuses '--set system.cpus=0: `0` is out of bounds (1 .. 1000000)' --set system.cpus=0
    refuses '--set system.cpus=1 0: `0` is out of bounds (1 .. 1000000)' --set 'system.cpus=1 0'
    refuses '--set system.cpus=8..1 +1: the range `8..1 +1` is empty: it begins above its end' --set 'system.cpus=8..1 +1'
    refuses '--set experiment.duration=1s 2s: `experiment.duration` cannot be swept' --set 'experiment.duration=1s 2s'
    refuses '--set algorithm=2lp: unknown algorithm `2lp`; did you mean 2pl?' --set algorithm=2lp
    refuses '--set workload.name=bnak: unknown workload `bnak`; did you mean bank?' --set workload.name=bnak
    refuses '--set experiment.title=a ; b: a value cannot have a `;` after a blank: a comment would start there' \
        --set 'experiment.title=a ; b'
    refuses '--set system.terminals=1000000000: `1000000000` is out of bounds (1 .. 1000000)' \
        --set system.terminals=1000000000
}

@test "--set of both terminals and arrivals" {
    refuses '--set system.arrival_rate=5/s: both system.terminals and system.arrival_rate are given; only one can be' \
        --set system.terminals=4 --set system.arrival_rate=5/s
}

@test "--only" {
    refuses '--only workload.hot_rows: there is no `=`: expected KEY=VALUE' --only workload.hot_rows
    refuses '--only workload.hot_rows=4: matches nothing: `4` is no value of the axis workload.hot_rows' \
        --only workload.hot_rows=4
    refuses '--only algorithm=occ: matches nothing: `occ` is no value of the axis algorithm' --only algorithm=occ
    refuses '--only workload.hot_row=1: `workload.hot_row` is no axis of the sweep; did you mean workload.hot_rows?' \
        --only workload.hot_row=1
    refuses '--only system.cpus=1: `system.cpus` is no axis of the sweep; the axes are algorithm, workload.hot_rows' \
        --only system.cpus=1
    refuses '--only workload.hot_rows=x: `x` is not a whole number' --only workload.hot_rows=x
}

@test "--only that leaves no point of zipped axes" {
    append 'system.terminals = 1 2' 'zip = workload.hot_rows system.terminals'
    refuses 'c.ini: --only leaves no point of the sweep' --only workload.hot_rows=1 --only system.terminals=2
}

@test "bad usage" {
    says 2 'ccsim: there is no command `rnu'\''; did you mean run?
Try `ccsim --help'\'' for more information.' rnu
    says 2 'ccsim: no command given
Try `ccsim --help'\'' for more information.'
    says 2 'ccsim run: no config given
Try `ccsim run --help'\'' for more information.' run
    says 2 'ccsim run: there is no option `--dry-rnu'\''; did you mean --dry-run?
Try `ccsim run --help'\'' for more information.' run --dry-rnu c.ini
    says 2 'ccsim list: there is no list of `algoritms'\''; did you mean algorithms?
Try `ccsim list --help'\'' for more information.' list algoritms
    says 2 'ccsim list: one list at a time: `metrics'\'' is one too many
Try `ccsim list --help'\'' for more information.' list options metrics
    says 2 'ccsim help: there is no entry `hot_rwo'\''; did you mean hot_row?' help hot_rwo
    says 2 'ccsim help: one word at a time: `b'\'' is one too many
Try `ccsim help --help'\'' for more information.' help a b
}

@test "standard input" {
    printf '[experiment]\nalgorithm = 2lp\n[system]\nterminals = 1\n[workload]\nname = idle\n' >stdin
    code=0
    "$ccsim" run --dry-run - >out 2>err <stdin || code=$?
    [ "$code" -eq 2 ]
    diff -u <(echo 'standard input:2: unknown algorithm `2lp`; did you mean 2pl?') err
    [ ! -s out ]
}

@test "programs that cannot tell what an algorithm needs to know" {
    line 2 'algorithm = 2pl-conservative'
    accepts
    line 7 'name = ycsb'
    line 9 'workload.insert_fraction = 0 1%'
    code=0
    "$ccsim" run --dry-run c.ini 2>err || code=$?
    [ "$code" -eq 2 ]
    grep -F 'c.ini:7: workload ycsb: its programs cannot tell beforehand what they will access with these options, as 2pl-conservative needs; those that can: hot_row, bank, ' err
    grep -F '(with workload.insert_fraction = 1%)' err
}

@test "levels that an algorithm cannot run" {
    line 7 'name = wild'
    line 9 'algorithm = si 2pl occ'
    "$ccsim" run --dry-run c.ini --set workload.level=rc
    code=0
    "$ccsim" run --dry-run c.ini --set workload.level=rc --set workload.other_level=10% 2>err || code=$?
    [ "$code" -eq 2 ]
    diff -u - err <<'E2'
c.ini:7: workload wild: some transactions ask for RC, which si cannot run; it can run SI
c.ini:7: workload wild: some transactions ask for RC, which occ cannot run; it can run SER
E2
}
