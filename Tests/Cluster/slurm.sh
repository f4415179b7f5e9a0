# Starts a Slurm cluster with two nodes on this machine, without systemd, as root: `slurm_start DIR`, `slurm_stop`. Sets SLURM_CONF. Two
# processors of this machine are one node's, so that both nodes run parts at once.
slurm_packages=(slurm-wlm munge)

# slurm_start DIR: DIR is created; its path must be short, as that of a socket.
slurm_start() {
    slurm_root=$1
    local host
    host=$(hostname -s)
    mkdir -p "$slurm_root"/{state,log,munge,spool/n1,spool/n2}
    # Other users, such as munge, enter the folder.
    chmod 755 "$slurm_root" "$(dirname "$slurm_root")"
    chmod 711 "$slurm_root/munge"
    head -c 1024 /dev/urandom >"$slurm_root/munge/munge.key"
    chmod 600 "$slurm_root/munge/munge.key"
    chown -R munge:munge "$slurm_root/munge"
    setpriv --reuid munge --regid munge --clear-groups munged --force --key-file="$slurm_root/munge/munge.key" \
        --socket="$slurm_root/munge/munge.sock" --pid-file="$slurm_root/munge/munged.pid" \
        --log-file="$slurm_root/munge/munged.log" --seed-file="$slurm_root/munge/seed" || return 1
    cat >"$slurm_root/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm_root/munge/munge.sock,cred_expire=5
CredType=cred/munge
SlurmctldPort=26817
StateSaveLocation=$slurm_root/state
SlurmctldPidFile=$slurm_root/slurmctld.pid
SlurmdPidFile=$slurm_root/slurmd-%n.pid
SlurmdSpoolDir=$slurm_root/spool/%n
SlurmctldLogFile=$slurm_root/log/slurmctld.log
SlurmdLogFile=$slurm_root/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$slurm_root/log/jobs.txt
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=15
KillWait=5
MinJobAge=3600
MaxArraySize=1001
MaxJobCount=20000
JobRequeue=1
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0,bf_interval=2,default_queue_depth=1000
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=27001 CPUs=2 RealMemory=1000
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=27002 CPUs=2 RealMemory=1000
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$slurm_root/slurm.conf
    slurm_controller
    slurm_node n1
    slurm_node n2
    local tries
    for tries in $(seq 100); do
        [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ] && return
        sleep 0.2
    done
    sinfo >&2 || true
    tail -n 20 "$slurm_root"/log/*.log >&2
    return 1
}

slurm_controller() { slurmctld -f "$SLURM_CONF"; }
slurm_node() { slurmd -f "$SLURM_CONF" -N "$1"; }

# slurm_kill NAME: kills slurmctld or slurmd-n1, slurmd-n2 with SIGKILL.
slurm_kill() { kill -KILL "$(cat "$slurm_root/$1.pid")"; }

slurm_stop() {
    [ -n "${slurm_root:-}" ] || return 0
    scancel --full --signal=KILL --user="$(id -un)" 2>/dev/null || true
    local file
    for file in "$slurm_root"/*.pid "$slurm_root/munge/munged.pid"; do
        [ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null || true
    done
}
