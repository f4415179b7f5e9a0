#!/usr/bin/env python3
"""Measures `target_size` on real files: three sizes and four encoders each. Usage: sizes.py FOLDER [FILE…]

A file that is larger than its size, or smaller than 97 % of it without a warning, is an error. TANDEM names the program."""
import json
import os
import subprocess
import sys
import tempfile

tandem = os.environ.get("TANDEM", os.path.join(os.path.dirname(__file__), "..", ".build", "debug", "tandem"))
files = ["000000000.ts", "big_buck_bunny_0_30.webm", "bikes.mp4", "bt601.mov", "chaplin.mp4", "example.mp4", "interlaced_crop.mp4",
         "mp4-init-nonkeyframe.mp4", "nasa_13013.mp4", "sample.avi", "sample_with_chapters.mp4", "trim_optimization_failure.mp4"]
encoders = {"x264": "codec: h264, preset: veryfast", "x265": "codec: hevc, preset: ultrafast",
            "vp9": "codec: vp9, preset: good, frame_rate: 25, options: { cpu-used: 5 }", "svt-av1": "codec: av1, preset: 10"}
# Bits per pixel and frame of the three sizes.
densities = (0.02, 0.06, 0.2)


def probe(path):
    entries = "stream=codec_type,width,height,avg_frame_rate:format=duration"
    text = subprocess.run(["ffprobe", "-v", "error", "-show_entries", entries, "-of", "json", path], capture_output=True, text=True).stdout
    found = json.loads(text)
    video = next(s for s in found["streams"] if s["codec_type"] == "video")
    frames, seconds = map(int, video["avg_frame_rate"].split("/"))
    return video["width"] * video["height"] * (frames / seconds if seconds else 25), float(found["format"]["duration"])


def measure(path, encoder, target, folder):
    text = f"""version: 1
jobs:
  one:
    asset: {json.dumps(path)}
    range: {{ end: 4s }}
    tracks:
      - {{ video: first, encode: {{ {encoders[encoder]}, size: x240, target_size: {target} }} }}
      - {{ audio: first, optional: true, encode: {{ codec: opus, bitrate: 48k, channels: stereo }} }}
    destination: {{ path: out.mkv, if_exists: replace }}
"""
    if probe(path)[1] <= 4:
        text = text.replace("    range: { end: 4s }\n", "")
    with open(f"{folder}/j.yaml", "w") as f:
        f.write(text)
    if os.path.exists(f"{folder}/out.mkv"):
        os.remove(f"{folder}/out.mkv")
    run = subprocess.run([tandem, "run", "--force", "j.yaml", "--events", "e.json"], cwd=folder, capture_output=True, text=True)
    with open(f"{folder}/e.json") as f:
        events = [json.loads(line) for line in f if line.strip()]
    event = next((e for e in events if e["event"] == "job_finished"), {})
    size = os.path.getsize(f"{folder}/out.mkv") if os.path.exists(f"{folder}/out.mkv") else None
    return size, event.get("encodes", []), event.get("warnings", []), run.stderr.strip().splitlines()


def main():
    source = sys.argv[1]
    problems, counts = 0, {}
    print("| file | encoder | size | reached | % | encodes | note |\n| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or files:
            path = os.path.join(os.path.abspath(source), name)
            pixels, duration = probe(path)
            duration = min(duration, 4)
            for encoder in encoders:
                for density in densities:
                    # The frames are scaled to 240 lines, and the audio has 48 kb/s.
                    target = int((426 * 240 * 25 * density + 48_000) * duration / 8 + 4000)
                    size, encodes, warnings, errors = measure(path, encoder, target, folder)
                    is_good = size is not None and size <= target and (size >= 0.97 * target or warnings)
                    refused = size is None and any("target-size" in line for line in errors)
                    problems += not (is_good or refused)
                    counts[len(encodes)] = counts.get(len(encodes), 0) + 1
                    note = "; ".join(w for w in warnings if "target_size" in w) or (" ".join(errors[-8:]) if size is None else "")
                    percent = f"{100 * size / target:.1f}" if size else "–"
                    print(f"| {name} | {encoder} | {target} | {size} | {percent} | {len(encodes)} | {note} |", flush=True)
    print(f"\n{problems} problems; encodes: {dict(sorted(counts.items()))}")
    sys.exit(1 if problems else 0)


main()
