#!/bin/bash
# --shard=auto under a real Slurm: munge, controller and node daemon, started here on loopback in a scratch
# folder. They live in namespaces of their own: their processes end with it however this test ends, and no other
# program has their ports.
. tests/cli/cluster/cluster.bash
scratch=${1:-$(mktemp -d)}
trap 'rm -rf "$scratch"' EXIT

# Why Slurm cannot be started here, if so.
obstacle()
{
    [ "$(id -u)" -eq 0 ] || { echo "Slurm's daemons need root"; return; }
    PATH=$PATH:/usr/sbin missing munged slurmctld slurmd sbatch strace runuser
    getent passwd munge >/dev/null || { echo "no user munge"; return; }
    unshare --net --pid --fork --kill-child --mount-proc true 2>"$scratch/why" || tail -n 1 "$scratch/why"
}

if [ $# -eq 0 ]; then
    lacking=$(obstacle | paste -sd, -)
    if [ -n "$lacking" ]; then
        skip "runs under Slurm share a folder" "$lacking"
        finish
    fi
    timeout -k 5 1000 unshare --net --pid --fork --kill-child --mount-proc "$0" "$scratch"
    exit
fi

# ---- in the namespace -----------------------------------------------------------------------------

trap - EXIT # the scratch folder is the caller's
PATH=$PATH:/usr/sbin
# The loopback of this namespace, with a second address: Slurm finds no name of a host that has 127.0.0.1 alone.
python3 - <<'PYTHON'
import fcntl, socket, struct
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
with socket.socket() as s:
    fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    fcntl.ioctl(s, SIOCSIFADDR, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("10.0.0.1")))
PYTHON
port=20000

write_config()
{
    local host
    host=$(hostname -s)
    # A requeued job waits until the credentials of its first run have expired: seconds, not two minutes.
    cat >"$scratch/slurm.conf" <<CONF
ClusterName=lapedge
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge/socket,cred_expire=5
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

start_slurm()
{
    chmod 755 "$scratch"
    install -d -o munge -g munge -m 755 "$scratch/munge"
    install -d "$scratch/state" "$scratch/spool"
    install -o munge -g munge -m 400 <(head -c 128 /dev/urandom) "$scratch/munge/key"
    runuser -u munge -- "$(command -v munged)" --foreground --key-file="$scratch/munge/key" \
        --socket="$scratch/munge/socket" --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" \
        --seed-file="$scratch/munge/seed" >"$scratch/munged.out" 2>&1 &
    write_config
    export SLURM_CONF=$scratch/slurm.conf
    slurmctld -D >"$scratch/slurmctld.out" 2>&1 &
    slurmd -D >"$scratch/slurmd.out" 2>&1 &
    within 100 eval 'sinfo -h -o %T 2>/dev/null | grep -q idle'
}

# within SECONDS COMMAND...: waits until the command succeeds.
within()
{
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $until ] || return 1
        sleep 0.2
    done
}

# batch OPTION... <SCRIPT: an array job to its end; shows what it said where it failed.
batch()
{
    timeout 200 sbatch --quiet --wait --chdir="$scratch" --output="$scratch/job-%A-%a" --export=ALL "$@" && return
    tail -n 5 "$scratch"/job-*
    return 1
}

tasks_of_srun()
{
    timeout 200 srun --quiet -n4 "$LAPEDGE" -q --no-sync --shard=auto "$scratch/photos" "$scratch/srun" &&
        complete "$scratch/srun" 4
}

tasks_of_an_array()
{
    batch --array=0-3 <<'JOB' && complete "$scratch/array" 4
#!/bin/sh
exec "$LAPEDGE" -q --no-sync --shard=auto photos array
JOB
}

tasks_of_srun_in_an_array()
{
    batch -n2 --array=5-9:2 <<'JOB' && complete "$scratch/both" 6
#!/bin/sh
exec srun -n2 "$LAPEDGE" -q --no-sync --shard=auto photos both
JOB
}

# A job that may start four tasks but whose script runs the program itself, once: that is no share.
script_without_srun()
{
    ! sbatch --quiet --wait -n4 --chdir="$scratch" --output="$scratch/alone" <<'JOB' &&
#!/bin/sh
exec "$LAPEDGE" -q --no-sync --shard=auto photos alone-out
JOB
    grep -q 'no scheduler' "$scratch/alone" && [ ! -e "$scratch/alone-out" ]
}

published()
{
    find "$scratch/requeued" -name .lapedge -prune -o -type f -iname 'tile*' -print 2>/dev/null | wc -l
}

# Task 1 stops in its first life when some of its files have their names, and is killed there.
killed_and_requeued()
{
    local job share
    cat >"$scratch/held.sh" <<'JOB'
#!/bin/bash
held=()
[ "$SLURM_ARRAY_TASK_ID" -ne 1 ] || [ -n "$SLURM_RESTART_COUNT" ] ||
    held=(strace -D -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=STOP:when=8)
"${held[@]}" "$LAPEDGE" -q -j1 --no-sync --shard=auto photos requeued &
echo $! >pid-$SLURM_ARRAY_TASK_ID
wait $!
JOB
    job=$(timeout 100 sbatch --parsable --requeue --array=0-1 --open-mode=append --chdir="$scratch" \
        --output="$scratch/requeue-%a" "$scratch/held.sh") || return 1
    share=$("$LAPEDGE" -n --json -q --shard=0/2 "$scratch/photos" "$scratch/none" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["ok"])')
    half() { [ "$(published)" -gt $((share + 3)) ]; }
    within 100 half || { echo "task 1 did nothing"; cat "$scratch"/requeue-*; return 1; }
    kill -KILL "$(cat "$scratch/pid-1")" || return 1
    [ "$(published)" -lt 60 ] || { echo "killed too late"; return 1; }
    ! diff -rq -x .lapedge "$scratch/single" "$scratch/requeued" >/dev/null || return 1
    ended() { scontrol show job "${job}_1" | grep -qE 'JobState=(FAILED|CANCELLED|NODE_FAIL)'; }
    within 100 ended && scontrol requeue "${job}_1" || return 1
    finished() { scontrol show job "${job}_1" | grep -q 'JobState=COMPLETED'; }
    within 120 finished || { scontrol show job "${job}_1"; return 1; }
    complete "$scratch/requeued" 3
}

if ! start_slurm; then
    skip "runs under Slurm share a folder" \
        "Slurm does not start here: $(cat "$scratch"/*.out "$scratch"/slurm*.log 2>/dev/null | grep -m 1 -iE 'error|fatal')"
    finish
fi
check "60 photos, and a single run over them" make_photos
check "four tasks of srun share a folder" tasks_of_srun
if [ -x "$with_devices" ]; then
    check "and two devices" devices_are_shared timeout 200 srun --quiet -n4
else
    skip "and two devices" "no CPU runtime for CUDA"
fi
check "a job array of four shares a folder" tasks_of_an_array
check "an array with an offset and a step, two tasks of srun in each" tasks_of_srun_in_an_array
check "a batch script of four tasks without srun is refused, and the message names srun" script_without_srun
check "a task killed halfway and requeued" killed_and_requeued
finish
