"""Validating and planning large job files."""
import os

from timing import compare, measure, sh, tandem, work


def batch(count):
    """Writes a job file with `count` jobs and a hundred sources, and returns its name."""
    name = f"batch-{count}.yaml"
    with open(f"{work}/{name}", "w") as f:
        f.write("version: 1\nname: big\njobs:\n")
        for i in range(count):
            f.write(f"""  job{i:06d}:
    asset: media/clip{i % 100:03d}.mp4
    range: {{ start: "0:00.5", end: "0:01.5" }}
    tracks:
      - video: first
        encode: {{ codec: h264, crf: 23, preset: medium, size: x720 }}
      - audio: first
        encode: {{ codec: aac, bitrate: 128k, sample_rate: 44100 }}
    destination: out/clip{i:06d}.mp4
""")
    return name


def language():
    """Validates and plans job files, and compares with PyYAML's C loader, which only parses."""
    os.mkdir(f"{work}/media")
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=2", "-f", "lavfi", "-i",
       "sine=duration=2", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "media/clip000.mp4")
    for i in range(1, 100):
        os.link(f"{work}/media/clip000.mp4", f"{work}/media/clip{i:03d}.mp4")
    small, large = batch(10_000), batch(100_000)
    load = ["/usr/bin/python3", "-c", "import sys, yaml; yaml.load(open(sys.argv[1]), Loader=yaml.CSafeLoader)", small]
    compare("validate, 10,000 jobs, vs. PyYAML's C loader", [tandem, "validate", small], load)
    wall, peak = measure([tandem, "validate", large])
    print(f"validate, 100,000 jobs: {wall:.2f} s, {peak:.0f} MiB", flush=True)
    wall, peak = measure([tandem, "plan", small])
    print(f"plan, 10,000 jobs over 100 sources: {wall:.2f} s, {peak:.0f} MiB", flush=True)
