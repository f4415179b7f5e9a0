#!/usr/bin/env python3
"""Kills runs and their workers at random times, and checks the results.

    batch.py PROGRAM KILLS SEED

After each kill: every output is complete or absent, no worker survives, a second run completes the missing outputs and
repeats none, and every output decodes to the same data as that of an undisturbed run.
"""
import glob, os, random, shutil, signal, subprocess, sys, tempfile, time

program, kills, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
work = tempfile.mkdtemp(prefix="tandem-torture-")
environment = dict(os.environ, SWIFT_BACKTRACE="enable=no", TMPDIR=work + "/tmp")
os.mkdir(work + "/tmp")
failures = []


def report(text):
    failures.append(text)
    print(text, flush=True)


def media():
    os.mkdir(work + "/media")
    for n in range(4):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", f"testsrc2=s=320x180:r=25:d={1 + n}", "-f",
             "lavfi", "-i", f"sine=f={300 + 100 * n}:d={1 + n}", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac",
             f"{work}/media/s{n}.mp4"], check=True)


def spec(folder):
    jobs = []
    for n in range(4):
        a = f"asset: ../media/s{n}.mp4"
        jobs += [
            f"  copy{n}: {{ {a}, tracks: [ {{ video: first, copy: true }}, {{ audio: first, copy: true }} ], destination: out/c{n}.mkv }}",
            # One thread: with several, the output of x264 isn't reproducible, in ffmpeg either (1 of 80 differs under load,
            # and 1 of 6 with two passes).
            f"  web{n}: {{ {a}, retries: 1, threads: 1, tracks: [ {{ video: first, encode: {{ codec: h264, preset: medium, crf: 23 }} }}, {{ audio: first, encode: {{ codec: aac }} }} ], optimize_for_network: true, destination: out/w{n}.mp4 }}",
            f"  sound{n}: {{ {a}, tracks: [ {{ audio: first, encode: {{ codec: flac }} }} ], destination: out/s{n}.flac }}",
            f"  two{n}: {{ {a}, threads: 1, tracks: [ {{ video: first, encode: {{ codec: h264, bitrate: 200k, passes: 2 }} }} ], destination: out/t{n}.mov }}",
        ]
    # An output with several files, which are published together.
    jobs.append('  stills: { asset: ../media/s3.mp4, images: { every: 500ms, size: 160x }, destination: "out/p-${image.number}.jpg" }')
    jobs.append("  read: { asset: { job: web3 }, tracks: [ { video: first, copy: true } ], destination: out/r.mkv }")
    with open(folder + "/jobs.yaml", "w") as f:
        f.write("version: 1\njobs:\n" + "\n".join(jobs) + "\n")


def start(folder, *more):
    log = open(folder + "/log", "a")
    return subprocess.Popen([program, "run", "--jobs", "3", *more, "jobs.yaml"], cwd=folder, env=environment,
                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def digest(path):
    got = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-nostdin", "-i", path, "-map", "0", "-f", "streamhash", "-"],
                         capture_output=True, text=True)
    return got.stdout if got.returncode == 0 and not got.stderr else f"broken: {got.stderr.strip()}"


def outputs(folder):
    return sorted(glob.glob(folder + "/out/*"))


def workers():
    """Returns the ids of this test's worker processes."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            words = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0")
            folder = os.readlink(f"/proc/{entry}/cwd")
        except OSError:
            continue
        if len(words) > 1 and words[1] == b"worker" and folder.startswith(os.path.realpath(work)):
            found.append(int(entry))
    return found


def finish(folder, expected, before, name):
    """Runs again: every output exists, and those of the killed run are the same files."""
    run = start(folder)
    try:
        status = run.wait(timeout=300)
    except subprocess.TimeoutExpired:
        run.kill()
        status = "a timeout"
    if status != 0:
        report(f"{name}: the rerun ended with {status}: {open(folder + '/log').read()[-2000:]}")
    for path in outputs(folder):
        key = os.path.basename(path)
        # If the run was killed between the renames of a set of files, the whole set is created again.
        is_part = key.startswith("p-") and any(k.startswith("p-") and k not in before for k in expected)
        if before.get(key) not in (None, os.stat(path).st_ino) and not is_part:
            report(f"{name}: {key} was created twice")
        if digest(path) != expected.get(key):
            report(f"{name}: {key} differs from the undisturbed run's: {digest(path)}")
    missing = set(expected) - {os.path.basename(p) for p in outputs(folder)}
    if missing:
        report(f"{name}: missing after the rerun: {sorted(missing)}")
    left = [p for p in glob.glob(folder + "/**/.*", recursive=True) if p.endswith((".part", ".kept"))]
    left += glob.glob(folder + "/.tandem/workers-*") + os.listdir(work + "/tmp")
    if left:
        report(f"{name}: files remain: {left}")


def main():
    media()
    calm = work + "/calm"
    os.mkdir(calm)
    spec(calm)
    clock = time.monotonic()
    if start(calm).wait() != 0:
        sys.exit("the undisturbed run failed: " + open(calm + "/log").read())
    length = time.monotonic() - clock
    expected = {os.path.basename(p): digest(p) for p in outputs(calm)}
    assert len(expected) == 25 and not any(d.startswith("broken") for d in expected.values()), expected
    tally = {"supervisor": 0, "worker": 0, "missed": 0, "published": 0}
    for number in range(kills):
        folder = f"{work}/k{number}"
        os.mkdir(folder)
        spec(folder)
        run = start(folder)
        time.sleep(rng.uniform(0, length * 1.05))
        kind = rng.choice(["supervisor", "supervisor", "worker"])
        name = f"kill {number} ({kind})"
        if kind == "supervisor":
            run.kill()
            killed = run.wait() == -signal.SIGKILL
            deadline = time.monotonic() + 5
            while workers() and time.monotonic() < deadline:
                time.sleep(0.05)
            if workers():
                report(f"{name}: workers survived: {workers()}")
        else:
            pids = workers()
            killed = bool(pids) and run.poll() is None
            if killed:
                try:
                    os.kill(rng.choice(pids), signal.SIGKILL)
                except ProcessLookupError:
                    killed = False
            status = run.wait(timeout=300)
            if status not in (0, 1):
                report(f"{name}: the run ended with {status}")
        tally[kind if killed else "missed"] += 1
        before = {}
        for path in outputs(folder):
            key = os.path.basename(path)
            tally["published"] += 1
            before[key] = os.stat(path).st_ino
            if digest(path) != expected.get(key):
                report(f"{name}: {key} is partial: {digest(path)}")
        finish(folder, expected, before, name)
        shutil.rmtree(folder)
    print(f"{kills} kills: {tally['supervisor']} supervisors, {tally['worker']} workers, {tally['missed']} after the end; "
          f"{tally['published']} outputs published before; {len(failures)} findings")
    shutil.rmtree(work)
    sys.exit(1 if failures else 0)


main()
