# Every command of docs/capacity-planning.md, as it stands there but for shorter runs: it must give an answer.

@test "the commands of docs/capacity-planning.md" {
    ccsim=${CCSIM_BUILD_DIR:-$PWD/build}/ccsim
    commands=$(sed -n '/^    build\/ccsim /{:more; /\\$/{N; s/ *\\\n */ /; b more}; s/^ *build\/ccsim //p}' docs/capacity-planning.md)
    [ "$(wc -l <<<"$commands")" -ge 12 ]
    while read -r command; do
        run bash -c "'$ccsim' $command --quiet --json --set experiment.replications=1 --set experiment.duration=2s \
            --set experiment.warmup=500ms --set experiment.certify=no"
        [ "$status" -eq 0 ] || { echo "$command: $output"; return 1; }
        jq -e '.answers[0].metrics.throughput_tps > 0 and (.sentence | endswith("."))' <<<"$output" || return 1
    done <<<"$commands"
}
