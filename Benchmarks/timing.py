"""Timing of whole processes, alternating; the printed ratio of a pair is Tandem / ffmpeg."""
import os, shutil, statistics, subprocess, sys, tempfile, time

tandem, rounds = sys.argv[1], int(sys.argv[2])
work = tempfile.mkdtemp(prefix="tandem-bench-")


def sh(*cmd):
    subprocess.run(cmd, check=True, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def measure(cmd):
    """Runs a process, and returns its wall seconds and peak resident MiB."""
    begun = time.monotonic()
    child = subprocess.Popen(cmd, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begun
    if status != 0:
        sys.exit(f"failed with status {status}: {' '.join(cmd)}")
    return wall, usage.ru_maxrss / 1024


def own_time(cmd):
    """Runs a process, and returns its wall seconds, and processor time and peak MiB without its workers."""
    begun = time.monotonic()
    child = subprocess.Popen(cmd, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ticks = peak = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/stat") as f:
                ticks = sum(int(word) for word in f.read().rsplit(")", 1)[1].split()[11:13]) or ticks
            with open(f"/proc/{child.pid}/status") as f:
                peak = max(peak, *(int(line.split()[1]) for line in f if line.startswith("VmHWM:")))
        except (OSError, ValueError, IndexError, TypeError):
            pass
        time.sleep(0.05)
    return time.monotonic() - begun, ticks / os.sysconf("SC_CLK_TCK"), peak / 1024


def fresh(cmd, output):
    """Measures a command after its output was removed. A program that overwrites its output in place would otherwise reuse the memory of
    the old one, while a program that replaces its output needs new memory."""
    if output and os.path.isdir(f"{work}/{output}"):
        shutil.rmtree(f"{work}/{output}")
    elif output and os.path.exists(f"{work}/{output}"):
        os.remove(f"{work}/{output}")
    return measure(cmd)


def compare(name, ours, theirs, warm=True, outputs=(None, None)):
    if warm:
        measure(ours), measure(theirs)
    pairs = [(fresh(ours, outputs[0]), fresh(theirs, outputs[1])) for _ in range(rounds)]
    wall = [a[0] / b[0] for a, b in pairs]
    peak = [a[1] / b[1] for a, b in pairs]
    med = statistics.median
    print(
        f"{name}: wall {med(a[0] for a, _ in pairs):.2f} s / {med(b[0] for _, b in pairs):.2f} s, "
        f"ratio {med(wall):.3f} ({min(wall):.3f} to {max(wall):.3f}); "
        f"peak {med(a[1] for a, _ in pairs):.0f} / {med(b[1] for _, b in pairs):.0f} MiB, ratio {med(peak):.3f}",
        flush=True)


def peers():
    """Returns the installed ffmpeg, and a newer one if TANDEM_FFMPEG names it."""
    newer = os.environ.get("TANDEM_FFMPEG")
    return [("ffmpeg", "ffmpeg")] + ([("newer ffmpeg", newer)] if newer else [])
