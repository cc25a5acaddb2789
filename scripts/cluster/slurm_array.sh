#!/bin/bash
#SBATCH --job-name=ccsim
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --output=ccsim-%A_%a.out
# One experiment as a Slurm job array: each task computes one shard, and `ccsim merge` joins them.
#
#   sbatch -W --array=1-8 scripts/cluster/slurm_array.sh configs/hot_row.ini results/hot_row && build/ccsim merge results/hot_row
#
# A task that was lost is named by merge, with its command; sending the whole array again computes what is missing and
# nothing else. Arrays must step by 1. The folder has to be on a file system that all nodes share.
set -eu
config=${1:?usage: sbatch --array=1-N slurm_array.sh CONFIG DIR [ARGUMENT...]} folder=${2:?no folder given}
shift 2
exec "${CCSIM:-build/ccsim}" run "$config" --shard auto -j "${SLURM_CPUS_PER_TASK:-1}" -o "$folder" --quiet "$@"
