#!/usr/bin/env python3
"""Runs tandem on media with random damage.

    media.py TANDEM COUNT [SEED]

Each run must end with an error and no files, or with an output that decodes without errors: no crash, no hang, no more
memory than the limit. A mutation depends only on the seed and its number, so that findings are reproducible:

    media.py TANDEM --only NUMBER [SEED]      keeps the files and prints their folder
"""
import concurrent.futures, os, random, resource, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MEDIA = os.environ.get("TANDEM_TEST_MEDIA", os.path.join(HERE, "../../../shared/media"))
TIME_LIMIT, MEMORY_LIMIT = 120, 2 << 30

GENERATED = [
    ("h264.mp4", ["-c:v", "libx264", "-c:a", "aac"]),
    ("hevc.mkv", ["-c:v", "libx265", "-x265-params", "log-level=none", "-c:a", "flac"]),
    ("mpeg2.ts", ["-c:v", "mpeg2video", "-c:a", "mp2"]),
    ("vp9.webm", ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-c:a", "libopus"]),
    ("mpeg4.avi", ["-c:v", "mpeg4", "-bf", "2", "-c:a", "libmp3lame"]),
    ("prores.mov", ["-c:v", "prores_ks", "-c:a", "pcm_s16le"]),
    ("sound.ogg", ["-vn", "-c:a", "libvorbis"]),
    ("sound.wav", ["-vn"]),
]


def sources(folder):
    """Returns the paths of generated media files, and of real ones if they exist."""
    found = []
    for name, options in GENERATED:
        path = os.path.join(folder, name)
        subprocess.run(
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=s=320x180:d=3", "-f", "lavfi",
             "-i", "sine=d=3", *options, path], check=True)
        found.append(path)
    if os.path.isdir(MEDIA):
        for root, _, names in os.walk(MEDIA):
            found += [os.path.join(root, n) for n in sorted(names) if not n.endswith((".tsv", ".png"))]
    return [path for path in found if os.path.getsize(path) > 0]


def mutate(data, rng):
    """Returns data with a random kind of damage, and the name of that kind."""
    data = bytearray(data)
    kind = rng.choice(["bits", "bits", "head", "truncate", "zero", "delete", "repeat", "noise"])
    at, n = rng.randrange(len(data)), len(data)
    if kind == "bits":
        for _ in range(rng.choice([1, 4, 16, 64, 512])):
            data[rng.randrange(n)] ^= 1 << rng.randrange(8)
    elif kind == "head":
        # Most boxes, tables and parameter sets are near the start or the end.
        for _ in range(rng.choice([1, 3, 10])):
            offset = rng.randrange(min(n, 4096))
            data[offset if rng.random() < 0.5 else n - 1 - offset] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    elif kind == "truncate":
        data = data[: max(1, n * rng.randrange(1, 20) // 20)]
    elif kind == "zero":
        length = min(n - at, rng.choice([16, 512, 8192]))
        data[at : at + length] = bytes(length)
    elif kind == "delete":
        del data[at : at + rng.choice([1, 16, 188, 4096])]
    elif kind == "repeat":
        data[at:at] = data[at : at + rng.choice([16, 188, 4096])]
    else:
        length = min(n - at, rng.choice([16, 512, 8192]))
        data[at : at + length] = rng.randbytes(length)
    return bytes(data), kind


def job(source, rng):
    """Returns a job file, its description, and whether it copies; policy and tracks are part of the mutation."""
    policy = rng.choice(["fail", "skip"])
    if rng.random() < 0.3:
        container = rng.choice(["mkv", "mov", "mp4", "ts"])
        tracks = ["{ video: first, optional: true, copy: true }", "{ audio: first, optional: true, copy: true }"]
        cut = ""
        if rng.random() < 0.5:
            cut = "\n    range: { start: 0.3s, end: 60% }\n    cut: " + rng.choice(["keyframe", "smart-or-exact"] if policy == "fail" else ["keyframe", "exact"])
        copies = True
    else:
        container, cut, copies = "mov", "", False
        tracks = [
            "{ video: first, optional: true, encode: { codec: h264, preset: ultrafast, size: x120, pixel_format: yuv420p } }",
            "{ audio: all, optional: true, encode: { codec: aac } }"]
        if rng.random() < 0.3:
            cut = "\n    range: { start: 10%, end: 60% }"
    text = f"""version: 1
jobs:
  one:
    asset: "{source}"{cut}
    on_damage: {policy}
    tracks: [ {", ".join(tracks)} ]
    container: {container}
    destination: out.bin
"""
    return text, f"{policy}, {'copy' if copies else 'encode'} to {container}{' ranged' if cut else ''}", copies


def limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def one(tandem, paths, number, seed, base, keep=False):
    rng = random.Random(f"{seed}:{number}")
    path = rng.choice(paths)
    with open(path, "rb") as f:
        data, kind = mutate(f.read(), rng)
    folder = os.path.join(base, str(number))
    os.mkdir(folder)
    source = os.path.join(folder, "source" + os.path.splitext(path)[1])
    with open(source, "wb") as f:
        f.write(data)
    text, what, copies = job(source, rng)
    with open(os.path.join(folder, "jobs.yaml"), "w") as f:
        f.write(text)
    name = f"{number}: {os.path.basename(path)}, {kind}, {what}"
    problem, ending = None, "error"
    # Without workers, so that a crash is the exit status of this process.
    process = subprocess.Popen(
        ["timeout", "-s", "KILL", str(TIME_LIMIT), tandem, "run", "--isolation", "none", "jobs.yaml"],
        cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=open(os.path.join(folder, "log"), "wb"), preexec_fn=limited,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    output = os.path.join(folder, "out.bin")
    left = set(os.listdir(folder)) - {os.path.basename(source), "jobs.yaml", "log", "out.bin", ".tandem"}
    if code not in (0, 1, 3):
        problem = f"ended with {code}"
    elif usage.ru_maxrss * 1024 > MEMORY_LIMIT and "asan" not in tandem:
        problem = f"used {usage.ru_maxrss // 1024} MiB"
    elif left:
        problem = f"files remain: {sorted(left)}"
    elif code == 0:
        ending = "output"
        if not os.path.exists(output):
            problem = "succeeded without an output"
        elif not copies:
            # Copied packets may contain damage that only a decoder detects; encoded tracks may not. Timestamps are passed
            # through, since ffmpeg would otherwise round them to a constant frame rate and report errors.
            check = subprocess.run(
                ["ffmpeg", "-v", "error", "-nostdin", "-xerror", "-err_detect", "explode", "-i", output, "-fps_mode",
                 "passthrough", "-enc_time_base:v", "-1", "-f", "null", "-"],
                capture_output=True, text=True)
            if check.returncode or check.stderr.strip():
                problem = "its output doesn't decode: " + check.stderr.strip()[:200]
    elif os.path.exists(output):
        problem = "failed, but an output exists"
    if problem is None and not keep:
        shutil.rmtree(folder)
    return name, ending, problem, usage.ru_maxrss // 1024


def main():
    tandem, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    only = None
    if arguments[0] == "--only":
        only, arguments = int(arguments[1]), arguments[1:]
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    base = tempfile.mkdtemp(prefix="tandem-torture-")
    generated = os.path.join(base, "generated")
    os.mkdir(generated)
    paths = sources(generated)
    numbers = [only] if only is not None else range(int(arguments[0]))
    endings, problems, peak = {"output": 0, "error": 0}, [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done, (name, ending, problem, memory) in enumerate(
                pool.map(lambda n: one(tandem, paths, n, seed, base, only is not None), numbers), 1):
            endings[ending] += 1
            peak = max(peak, memory)
            if problem:
                problems.append(f"{name}: {problem}")
                print("FINDING", problems[-1], flush=True)
            if done % 100 == 0:
                print(f"{done} mutations, {len(problems)} findings", flush=True)
    print(f"{sum(endings.values())} mutations of {len(paths)} files: {endings['output']} outputs, {endings['error']} errors, "
          f"{len(problems)} findings; peak {peak} MiB")
    if problems or only is not None:
        print("files kept in", base)
    else:
        shutil.rmtree(base)
    sys.exit(1 if problems else 0)


main()
