#!/usr/bin/env bats
# Every command that the documents show is run: the blocks marked `sh` of README.md and docs/*.md, in order, in a scratch copy
# of the tree, with little simulated time. What a block marked `ini` calls itself in its first line is written under that name
# before. `make TARGET` must name a target; the tutorial's `make`, with its algorithm, is really run by make check-long.

setup() {
    build=$(cd "${CCSIM_BUILD_DIR:-$BATS_TEST_DIRNAME/../../build}" && pwd)
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -r "$root/configs" "$root/docs" "$root/scripts" "$root/sim" "$root/workloads" "$root/Makefile" .
    mkdir build bin
    ln -s ../build/ccsim bin/ccsim
    cat >build/ccsim <<SH
#!/bin/bash
# The program, told to be quick where the command leaves that open.
small=()
unless() { [[ " \${words} " == *"\$1"* ]] || small+=("\${@:2}"); }
words="\$*"
case "\${1-}" in
plan)
    unless experiment.duration --set experiment.duration=2s
    unless experiment.warmup --set experiment.warmup=500ms
    unless experiment.replications --set experiment.replications=1
    unless experiment.certify --set experiment.certify=no
    ;;
run | trace)
    unless experiment.duration --set experiment.duration=20ms
    unless experiment.warmup --set experiment.warmup=0
    unless experiment.precision --set experiment.precision=0
    unless experiment.replications --set experiment.replications=2
    ;;
storm) set -- "\$@" --seconds 1 ;;
esac
exec "\${CCSIM_PROGRAM:-$build/ccsim}" "\$@" "\${small[@]}"
SH
    # Is there such a target?
    cat >bin/make <<'SH'
#!/bin/bash
for word in "${@:-all}"; do
    [[ "$word" == *=* ]] || grep -qE "^([a-z-]+ )*$word( [a-z-]+)*:" Makefile || { echo "no target $word" >&2 && exit 2; }
done
SH
    chmod +x build/ccsim bin/make
    PATH=$PWD/bin:$PATH
}

# commands FILE: one a line.
commands() { awk -v kind=sh -f scripts/doc_blocks.awk "$1"; }

# Writes the configs that the document writes.
write_configs() {
    awk -v kind=ini -f scripts/doc_blocks.awk "$1" | awk '/^; configs\/[a-z_]*\.ini: / { file = substr($2, 1, length($2) - 1) }
        file { print >file }'
}

# What cannot be run here: it would install, or needs another machine.
is_elsewhere() { [[ "$1" =~ ^(git\ clone|sudo|apt-get|sbatch|srun|mpirun|parallel|scripts/cluster/) ]]; }

# Each command must do what it is said to: exit with 0, or with N where its comment says `exit code N`.
run_all() {
    local file=$1 command expected status count=0
    write_configs "$file"
    while IFS= read -r command; do
        is_elsewhere "$command" && continue
        expected=0
        [[ "$command" =~ exit\ code\ ([0-9]+) ]] && expected=${BASH_REMATCH[1]}
        status=0
        timeout 100 bash -c "$command" >output 2>&1 </dev/null || status=$?
        [ "$status" -eq "$expected" ] || { echo "$file: $command: exit code $status" && tail -n 5 output && return 1; }
        count=$((count + 1))
    done < <(commands "$file")
    echo "$file: $count commands"
}

@test "README.md" {
    [ "$(commands "$root/README.md" | wc -l)" -gt 10 ]
    run_all "$root/README.md"
}

@test "docs, all but the tutorial and the capacity planning" {
    for file in "$root"/docs/*.md; do
        [[ "$file" =~ /(tutorial|capacity-planning).md$ ]] || run_all "$file"
    done
}

@test "docs/capacity-planning.md: every command gives an answer" {
    [ "$(commands "$root/docs/capacity-planning.md" | wc -l)" -ge 12 ]
    while IFS= read -r command; do
        bash -c "$command --quiet --json" >answer </dev/null || { echo "$command" && false; }
        jq -e '.answers[0].metrics.throughput_tps > 0 and (.sentence | endswith("."))' answer || { echo "$command" && false; }
    done < <(commands "$root/docs/capacity-planning.md")
}

@test "every picture of the gallery is there, and a config draws it" {
    pictures=$(sed -n 's|.*(gallery/\([a-z0-9_]*-[a-z0-9_]*\)\.svg).*|\1|p' "$root/docs/gallery.md")
    [ "$(wc -l <<<"$pictures")" -ge 15 ]
    for picture in $pictures; do
        stem=${picture%-*} figure=${picture#*-}
        grep -q '</svg>' "$root/docs/gallery/$picture.svg" || { echo "no picture $picture" && false; }
        if [ -e "$root/configs/trace/$stem.ini" ]; then
            [[ "$figure" == timeline || "$figure" == waits ]]
        else
            grep -qxF "[figure $figure]" "$root/configs/$stem.ini" || { echo "no config draws $picture" && false; }
        fi
    done
    [ "$(ls "$root/docs/gallery" | wc -l)" -eq "$(wc -l <<<"$pictures")" ]
}

# The part that needs the reader's own algorithm begins with the `make` alone.
@test "the tutorial, up to the algorithm; the algorithm compiles where the tutorial puts it" {
    sed '/^make$/,$d' "$root/docs/tutorial.md" >before.md
    [ "$(commands before.md | wc -l)" -gt 10 ]
    run_all before.md
    awk -v kind=c -f scripts/doc_blocks.awk "$root/docs/tutorial.md" >sim/cc/cautious.c
    awk -v kind=diff -f scripts/doc_blocks.awk "$root/docs/tutorial.md" | patch -F0 -p0
    for file in cautious registry; do
        gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -c -o "$file.o" "sim/cc/$file.c"
    done
    nm registry.o | grep -q 'U cc_cautious'
}

@test "the tutorial from the algorithm on, with a program that has it" {
    [ -n "${CCSIM_LONG:-}" ] || skip "make check-long"
    write_configs "$root/docs/tutorial.md"
    build/ccsim run configs/mine.ini >/dev/null
    awk -v kind=c -f scripts/doc_blocks.awk "$root/docs/tutorial.md" >sim/cc/cautious.c
    awk -v kind=diff -f scripts/doc_blocks.awk "$root/docs/tutorial.md" | patch -F0 -p0
    /usr/bin/make BUILD=own LTO=no OPT=-O0 own/ccsim
    export CCSIM_PROGRAM=$PWD/own/ccsim
    sed -n '/^make$/,$p' "$root/docs/tutorial.md" | sed '1i ```sh' >after.md
    [ "$(commands after.md | wc -l)" -ge 5 ]
    run_all after.md
}
