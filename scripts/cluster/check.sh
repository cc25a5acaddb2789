#!/bin/bash
# The launchers of docs/cluster.md, for real, on this machine: one sweep computed whole, in three shards, by a Slurm job
# array, by GNU parallel and by mpirun gives the same bytes; a task of the array that is killed is named by merge and its
# command mends it. Needs what `scripts/setup.sh cluster` installs, and root for a Slurm of its own, which it ends again.
#   check.sh BUILD
set -eu
ccsim=$(cd "${1:?usage: check.sh BUILD}" && pwd)/ccsim
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
cd "$scratch"

cat >sweep.ini <<'INI'
[experiment]
title        = Shards and launchers
replications = 6
warmup       = 100ms
duration     = 60s
[system]
cpus         = 4
[workload]
name         = hot_row
[sweep]
algorithm        = 2pl occ no-wait
system.terminals = 2 8 32
INI

start_slurm() {
    local host
    host=$(hostname -s)
    mkdir -p /run/munge state spool
    chown munge:munge /run/munge
    [ -s /etc/munge/munge.key ] || { head -c 1024 /dev/urandom >/etc/munge/munge.key && chown munge:munge /etc/munge/munge.key && chmod 400 /etc/munge/munge.key; }
    runuser -u munge -- munged --force
    cat >slurm.conf <<CONF
ClusterName=check
SlurmctldHost=$host
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
NodeName=$host CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF=$scratch/slurm.conf
    slurmctld
    slurmd
    for _ in $(seq 100); do
        [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && return 0
        sleep 0.1
    done
    echo "Slurm does not become idle" >&2
    tail -n 5 slurmctld.log slurmd.log >&2
    return 1
}

stop_slurm() {
    local daemon pid
    for daemon in slurmd slurmctld; do
        [ -e "$scratch/$daemon.pid" ] || continue
        pid=$(cat "$scratch/$daemon.pid")
        kill "$pid" 2>/dev/null || continue
        for _ in $(seq 100); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    done
    [ ! -e /run/munge/munged.pid ] || kill "$(cat /run/munge/munged.pid)" || true
}
trap 'stop_slurm; cd /; rm -rf "$scratch"' EXIT

expect_same() { # NAME
    "$ccsim" merge "$1" --quiet --no-plot
    cmp whole/runs.csv "$1/runs.csv"
    cmp whole/summary.csv "$1/summary.csv"
    echo "$(sha256sum <"$1/runs.csv" | cut -c1-16)  $1"
}

"$ccsim" run sweep.ini -o whole --quiet --no-plot -j1
echo "$(sha256sum <whole/runs.csv | cut -c1-16)  whole"

for shard in 1 2 3; do "$ccsim" run sweep.ini --shard $shard/3 -o shards --quiet; done
expect_same shards

parallel --joblog parallel.log --resume "$ccsim" run sweep.ini --shard '{}/4' -o parallel --quiet ::: 1 2 3 4
expect_same parallel

for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null || continue
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "mpirun.$mpi" -n 2 \
        "$ccsim" run sweep.ini --shard auto -o "$mpi" -j1 --quiet 2>"$mpi.log" || { cat "$mpi.log" && exit 1; }
    expect_same "$mpi"
done

start_slurm
export CCSIM=$ccsim
sbatch -W --array=1-4 "$here/slurm_array.sh" sweep.ini slurm >/dev/null
expect_same slurm
sbatch -W --array=5-8 "$here/slurm_array.sh" sweep.ini slurm_from_5 >/dev/null
expect_same slurm_from_5
srun -n 2 "$ccsim" run sweep.ini --shard auto -o srun -j1 --quiet 2>srun.log || { cat srun.log && exit 1; }
expect_same srun

# A task killed with -9 while it computes, as a node that goes down would leave it.
job=$(sbatch --parsable --array=1-2 "$here/slurm_array.sh" sweep.ini killed)
for _ in $(seq 200); do
    victim=$(pgrep -f -o -- '--shard auto.* -o killed' || true)
    [ -n "$victim" ] && [ -s killed/runs-1-of-2.part ] && kill -9 "$victim" && break
    sleep 0.02
done
while [ -n "$(squeue -h -j "$job" 2>/dev/null)" ]; do sleep 0.2; done
status=0
"$ccsim" merge killed 2>missing || status=$?
if [ "$status" -ne 3 ] || ! grep -q 'runs are missing: ccsim run sweep.ini --shard ./2 -o killed' missing; then
    echo "the killed task was not missed: exit code $status" >&2
    cat missing >&2
    exit 1
fi
cat missing
sed -n 's/.* missing: ccsim //p' missing | while read -r command; do eval "$ccsim $command --quiet"; done
expect_same killed
echo "all launchers give the same bytes"
