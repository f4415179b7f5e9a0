#!/usr/bin/env python3
"""Attacks batches on a Slurm cluster of two nodes (slurm.sh): tasks are terminated and killed, daemons killed, results lost, parts run twice,
the disk filled, the program replaced. After each attack `tandem resubmit` must complete the batch: every output whole, each result confirmed.

usage: attack.py TANDEM FOLDER [short]"""
import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

# Parts are found by the path of their program, without links: .build/debug is one.
TANDEM, FOLDER = os.path.realpath(sys.argv[1]), os.path.abspath(sys.argv[2])
SHORT = "short" in sys.argv[3:]
HERE = pathlib.Path(__file__).parent
ROOT = pathlib.Path(os.environ["SLURM_CONF"]).parent


def run(*words, status=0):
    result = subprocess.run(words, capture_output=True, text=True)
    if status is not None and result.returncode != status:
        sys.exit(f"error: {words} exited with {result.returncode}, not {status}:\n{(result.stdout + result.stderr)[-4000:]}")
    return result


def wait(what, condition, seconds=120):
    """Waits until a condition is true, and returns its value."""
    end = time.time() + seconds
    while not (value := condition()):
        if time.time() > end:
            show = run("squeue", status=None).stdout
            logs = "".join(f"== {log}\n" + open(log).read()[-2000:] for log in glob.glob(str(ROOT / "log/*.log")))
            sys.exit(f"error: not within {seconds} s: {what}\n{show}{logs}")
        time.sleep(0.1)
    return value


class Parts:
    """The parts of a batch in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.batch = f"{folder}/batch"

    def running(self):
        """Process ids of parts, by their index."""
        found = {}
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                words = open(path, "rb").read().split(b"\0")
            except OSError:
                continue
            if words[:2] == [TANDEM.encode(), b"run"] and self.batch.encode() in words and b"--shard" in words:
                found[int(words[words.index(b"--shard") + 1])] = int(path.split("/")[2])
        return found

    def task(self, part):
        """The name of a part's task for Slurm's commands."""
        lines = run("squeue", "--noheader", "--array", "--format=%F_%K %o").stdout.splitlines()
        return next(line.split()[0] for line in lines if self.batch in line and line.split()[0].endswith(f"_{part}"))

    def results(self):
        return [json.load(open(path)) for path in sorted(glob.glob(f"{self.batch}/results/*.json"))]

    def outcomes(self, name):
        return [job["outcome"] for report in self.results() for job in report["jobs"] if job["id"] == name]

    def over(self):
        state = run(TANDEM, "status", self.batch, status=None)
        return state.returncode == 0 and " 0 running, 0 waiting" in state.stdout

    def end(self, seconds=240):
        wait(f"the end of {self.batch}", self.over, seconds)


class Batch(Parts):
    """A batch of video jobs, each of some seconds of work."""

    def __init__(self, name, jobs=6, shards=3, seconds=5, size="1280x720", folder=None, options=()):
        if SHORT:
            seconds /= 2
        super().__init__(folder or f"{FOLDER}/{name}")
        self.count = jobs
        spec = f"{self.folder}/jobs.yaml"
        with open(spec, "w") as file:
            file.write("version: 1\njobs:\n")
            for number in range(jobs):
                length = int(seconds * 1000) + number % 100
                asset = f"{{ pattern: testsrc, size: {size}, frame_rate: 25, duration: {length}ms }}"
                encode = "{ codec: h264, preset: slow, crf: 30 }"
                file.write(
                    f"  j{number}: {{ asset: {asset}, tracks: [ {{ video: first, encode: {encode} }} ], "
                    f"destination: out/{number}.mp4 }}\n")
        self.submitted = run(
            TANDEM, "submit", spec, "--engine", "slurm", "--out", self.batch, "--shards", str(shards), "--detach",
            *options)

    def complete(self):
        """Resubmits what is missing, and checks that the batch is whole."""
        run(TANDEM, "resubmit", self.batch)
        done = run(TANDEM, "collect", self.batch)
        assert f"{self.count} of {self.count} jobs done" in done.stderr, done.stderr
        outputs = glob.glob(f"{self.folder}/out/*")
        assert sorted(os.path.basename(path) for path in outputs) == sorted(f"{n}.mp4" for n in range(self.count)), outputs
        left = [name for name in os.listdir(f"{self.folder}/out") if name.startswith(".")]
        assert not left, left
        for path in outputs[:: max(1, self.count // 20)]:
            run("ffmpeg", "-v", "error", "-xerror", "-i", path, "-f", "null", "-")


def undisturbed():
    batch = Batch("undisturbed", jobs=4, shards=2, seconds=1)
    batch.end()
    assert len(batch.results()) == 2 and all(batch.outcomes(f"j{n}") == ["succeeded"] for n in range(4))
    wait("the reports of the collector", lambda: os.path.exists(f"{batch.batch}/report.html"))
    assert "nothing to submit" in run(TANDEM, "resubmit", batch.batch).stderr
    batch.complete()


def film():
    """A long file whose chunks tasks encode: killed tasks and a lost file of chunks change nothing in the output."""
    batch = Parts(f"{FOLDER}/film")
    folder = batch.folder
    spec = """version: 1
assets: { film: { pattern: testsrc, size: 1280x720, frame_rate: 25, duration: %ss, tone: 440Hz } }
jobs:
  film:
    asset: film
    tracks: [ { video: first, encode: { codec: h264, preset: %s, crf: 30, parallel: %s } }, { audio: first, encode: { codec: aac } } ]
    destination: %s.mp4
"""
    for name, parallel in (("whole", "2"), ("film", "cluster")):
        with open(f"{folder}/{name}.yaml", "w") as file:
            file.write(spec % (*(("31", "veryfast") if SHORT else ("60", "medium")), parallel, name))
    run(TANDEM, "run", f"{folder}/whole.yaml", "--quiet")
    words = [TANDEM, "submit", f"{folder}/film.yaml", "--engine", "slurm", "--out", batch.batch]
    text = run(*words, "--detach", "--shards", "6").stderr
    assert "job arrays" in text and "note:" not in text, text
    killed = wait("a running part", batch.running)
    os.kill(next(iter(killed.values())), signal.SIGKILL)
    wait("a file of chunks", lambda: glob.glob(f"{batch.batch}/chunks/[0-9]*"))
    batch.end()
    run(TANDEM, "collect", batch.batch)
    with open(f"{folder}/whole.mp4", "rb") as whole, open(f"{folder}/film.mp4", "rb") as film:
        assert whole.read() == film.read(), "the output differs from that of one machine"
    assert not os.listdir(f"{batch.batch}/chunks"), "files of chunks remain"


def refused():
    """A submission that Slurm refuses leaves no folder behind, so that the command can be repeated."""
    folder = f"{FOLDER}/refused"
    os.makedirs(folder)
    with open(f"{folder}/jobs.yaml", "w") as file:
        file.write(
            "version: 1\njobs: { a: { asset: { pattern: black, size: 64x64, frame_rate: 25, duration: 1s }, "
            "tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: a.mkv } }\n")
    words = [TANDEM, "submit", f"{folder}/jobs.yaml", "--engine", "slurm", "--out", f"{folder}/batch"]
    error = run(*words, "--partition", "nowhere", status=4).stderr
    assert "error: `sbatch` failed: " in error and "artition" in error, error
    assert os.listdir(folder) == ["jobs.yaml"], os.listdir(folder)
    run(*words)


def terminated():
    """SIGTERM as before the time limit: the task is requeued, and keeps the jobs that are done."""
    batch = Batch("terminated", jobs=16, shards=2)
    part = next(iter(wait("a finished job", lambda: glob.glob(f"{batch.folder}/out/*.mp4") and batch.running())))
    run("scancel", "--batch", "--signal=TERM", batch.task(part))
    wait("the requeue", lambda: "Restarts=1" in run("scontrol", "show", "job", batch.task(part)).stdout)
    batch.end()
    log = open(f"{batch.batch}/submissions/1/logs/{part}.txt").read()
    everything = [outcome for n in range(16) for outcome in batch.outcomes(f"j{n}")]
    assert everything.count("succeeded") == 16, (everything, log)
    assert "cancelled" in everything or "not-run" in everything, everything
    batch.complete()


def killed():
    """A payload that is killed fails its part, which a resubmission completes; other parts aren't submitted again."""
    batch = Batch("killed")
    part, process = next(iter(wait("a running part", batch.running).items()))
    os.kill(process, signal.SIGKILL)
    batch.end()
    run(TANDEM, "collect", batch.batch, status=1)
    run(TANDEM, "resubmit", batch.batch)
    record = json.load(open(f"{batch.batch}/submissions/2/submission.json"))
    assert record["parts"] == [part], record
    batch.complete()


def limited():
    """A part that reaches its time limit is requeued until its jobs are done."""
    # Minutes of work in a part that is signalled one to two minutes before its limit of three.
    batch = Batch("limited", jobs=40, shards=1, seconds=10, options=["--time", "3", "--cpus", "2", "--memory", "500MB"])
    batch.end(600)
    log = open(f"{batch.batch}/submissions/1/logs/0.txt").read()
    assert len(batch.results()) > 1, log
    batch.complete()


def cancelled():
    batch = Batch("cancelled")
    wait("a running part", batch.running)
    run(TANDEM, "cancel", batch.batch)
    batch.end(60)
    wait("the end of the processes", lambda: not batch.running(), 30)
    time.sleep(3)
    assert not batch.running() and batch.over(), "a cancelled task was requeued"
    batch.complete()


def lost():
    """Outputs whose results are lost are found by their marks; a removed output is created again."""
    batch = Batch("lost", jobs=4, shards=2, seconds=1)
    batch.end()
    for path in glob.glob(f"{batch.batch}/results/0-*"):
        os.unlink(path)
    os.unlink(f"{batch.folder}/out/{next(n for n in range(4) if batch.outcomes(f'j{n}'))}.mp4")
    run(TANDEM, "collect", batch.batch, status=1)
    batch.complete()
    again = [outcome for n in range(4) for outcome in batch.outcomes(f"j{n}")]
    assert again.count("up-to-date") >= 2 and again.count("succeeded") == 3, again


def twice():
    """Parts run by hand beside the cluster's."""
    batch = Batch("twice")
    part = next(iter(wait("a running part", batch.running)))
    copies = [
        subprocess.Popen([TANDEM, "run", "--plan", batch.batch, "--shard", str(part), "--quiet"], stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    for copy in copies:
        copy.wait()
    batch.end()
    batch.complete()


def node():
    """A killed node daemon: Slurm starts the task elsewhere while the original is still alive."""
    batch = Batch("node", jobs=4, shards=2, seconds=60)
    wait("two running parts", lambda: len(batch.running()) == 2)
    os.kill(int(open(ROOT / "slurmd-n1.pid").read()), signal.SIGKILL)
    wait("the loss of the node", lambda: "down" in run("sinfo", "--noheader", "--nodes=n1", "--format=%t").stdout, 90)
    run("slurmd", "-f", os.environ["SLURM_CONF"], "-N", "n1")
    batch.end(400)
    batch.complete()


def restarted_controller(batch):
    """Kills the controller, and starts it again after some seconds. Returns the exit status of `status --follow`."""
    os.kill(int(open(ROOT / "slurmctld.pid").read()), signal.SIGKILL)
    follow = subprocess.Popen(
        [TANDEM, "status", "--follow", batch.batch], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(8)
    assert follow.poll() is None, follow.communicate()
    run("slurmctld", "-f", os.environ["SLURM_CONF"])
    output = follow.communicate(timeout=300)
    # Tasks that were launched as the controller died are duplicates for Slurm, which holds them and drains the node.
    for name in ["n1", "n2"]:
        run("scontrol", "update", f"nodename={name}", "state=resume", status=None)
    return follow.returncode, output


def controller():
    """A controller that is killed: `status --follow` continues when it is back."""
    batch = Batch("controller", seconds=15)
    wait("a running part", batch.running)
    # By then, the controller has saved its state.
    time.sleep(10)
    status, output = restarted_controller(batch)
    assert status == 0, output
    batch.complete()


def early():
    """A controller that is killed directly after a launch may forget the tasks, whose processes continue."""
    batch = Batch("early")
    wait("a running part", batch.running)
    restarted_controller(batch)
    run(TANDEM, "cancel", batch.batch)
    batch.end()
    batch.complete()


def disk():
    """A full shared disk: nothing is published in part, and a resubmission completes the batch when there is space."""
    folder = f"{FOLDER}/disk"
    os.makedirs(folder)
    run("mount", "-t", "tmpfs", "-o", "size=1200k", "none", folder)
    try:
        batch = Batch("disk", jobs=6, shards=2, seconds=20, folder=folder)
        batch.end()
        run(TANDEM, "collect", batch.batch, status=1)
        run("mount", "-o", "remount,size=64m", folder)
        batch.complete()
    finally:
        run("umount", "--lazy", folder)


def replaced():
    """A program that differs from the one that planned refuses the part."""
    global TANDEM
    original = TANDEM
    TANDEM = f"{FOLDER}/program"
    run("cp", original, TANDEM)
    batch = Batch("replaced", jobs=4, shards=2, seconds=2)
    run(TANDEM, "cancel", batch.batch)
    batch.end()
    with open(TANDEM + ".new", "wb") as file:
        file.write(open(original, "rb").read() + b"changed")
    os.chmod(TANDEM + ".new", 0o755)
    os.rename(TANDEM + ".new", TANDEM)
    run(TANDEM, "resubmit", batch.batch, status=1)
    logs = "".join(open(path).read() for path in glob.glob(f"{batch.batch}/submissions/2/logs/*"))
    assert "the program differs from the one that planned" in logs, logs
    run("cp", original, TANDEM + ".new")
    os.rename(TANDEM + ".new", TANDEM)
    batch.complete()
    TANDEM = original


def thousand():
    batch = Batch("thousand", jobs=1000, shards=20, seconds=0.4, size="320x180")
    os.kill(next(iter(wait("running parts", batch.running).values())), signal.SIGKILL)
    batch.end(900)
    batch.complete()
    counts = [batch.outcomes(f"j{n}").count("succeeded") for n in range(1000)]
    # A job that was published as its part was killed has no result but that of the next run, which finds it up to date.
    assert max(counts) == 1 and counts.count(0) <= 8, counts


attacks = [undisturbed, film, refused, terminated, killed, cancelled, lost]
if not SHORT:
    attacks += [limited, twice, controller, early, node, disk, replaced, thousand]
chosen = [name for name in sys.argv[3:] if name != "short"]
for attack in attacks:
    if chosen and attack.__name__ not in chosen:
        continue
    begun = time.time()
    attack()
    print(f"{attack.__name__}: passed in {time.time() - begun:.0f} s", flush=True)
