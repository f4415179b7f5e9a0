#!/usr/bin/env python3
"""Measures `quality` on real files with four encoders. Usage: qualities.py FOLDER [FILE…]

FFmpeg scales the source to the size of the output and compares the frames, without the product. A file that differs from the target by
more than `within` without a warning is an error. TANDEM names the program. With COST=FILE, the search and a plain encode of FILE, a video of
more than 30 s, are timed with each encoder instead: probes with a target that can't be reached end before the file is encoded."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

tandem = os.path.abspath(os.environ.get("TANDEM", os.path.join(os.path.dirname(__file__), "..", ".build", "debug", "tandem")))
files = ["big_buck_bunny_0_30.webm", "bikes.mp4", "bt601.mov", "chaplin.mp4", "example.mp4", "sample.avi"]
encoders = {"x264": "codec: h264, preset: veryfast", "x265": "codec: hevc, preset: ultrafast",
            "vp9": "codec: vp9, preset: good, options: { cpu-used: 5 }", "svt-av1": "codec: av1, encoder: libsvtav1, preset: 10"}
targets = {"ssim": (0.97, 0.002), "psnr": (40, 0.3)}


def run(folder, path, encode):
    with open(f"{folder}/j.yaml", "w") as f:
        f.write(f"""version: 1
jobs:
  one:
    asset: {json.dumps(path)}
    tracks:
      - {{ video: first, encode: {{ {encode} }} }}
    destination: {{ path: out.mkv, if_exists: replace }}
""")
    if os.path.exists(f"{folder}/out.mkv"):
        os.remove(f"{folder}/out.mkv")
    begin = time.time()
    done = subprocess.run([tandem, "run", "--force", "j.yaml", "--events", "e.json"], cwd=folder, capture_output=True, text=True)
    seconds = time.time() - begin
    with open(f"{folder}/e.json") as f:
        events = [json.loads(line) for line in f if line.strip()]
    return next((e for e in events if e["event"] == "job_finished"), {}), done.stderr.strip(), seconds


def measured(metric, folder, source):
    graph = f"[0:v]setpts=N,settb=1/25[a];[1:v]setpts=N,settb=1/25[b];[a][b]{metric}"
    text = subprocess.run(["ffmpeg", "-hide_banner", "-i", f"{folder}/out.mkv", "-i", source, "-lavfi", graph, "-f", "null", "-"],
                          capture_output=True, text=True).stderr
    found = re.findall(r"All:([0-9.]+)" if metric == "ssim" else r"average:([0-9.]+|inf)", text)
    return float(found[-1]) if found else None


def main():
    if "COST" in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.abspath(os.environ["COST"])
            print("| encoder | target | value | crf | windows | encodes | search | encode | search / encode |\n" + "| --- " * 9 + "|", flush=True)
            for encoder, settings in encoders.items():
                for metric, (target, within) in {"ssim": (0.98, 0.002), "psnr": (38, 0.3)}.items():
                    event, _, _ = run(folder, path, f"{settings}, quality: {{ {metric}: {target} }}")
                    quality = event["quality"]
                    last, windows = quality["encodes"][-1], [p["windows"] for p in quality["probes"]]
                    unreachable = "1.0" if metric == "ssim" else "80"
                    limits = f"crf: [{last['crf']}, {last['crf'] + 1}]"
                    _, failed, both = run(folder, path, f"{settings}, quality: {{ {metric}: {unreachable}, {limits} }}")
                    assert "can't be reached" in failed, failed
                    # These probes encode a part of the windows, then all of them, at the `crf` of the result.
                    search = both * sum(windows) / (max(windows) + len(range(2, max(windows), 4)))
                    _, _, plain = run(folder, path, f"{settings}, crf: {last['crf']}")
                    print(f"| {encoder} | {metric} {target} | {last['value']:.4f} | {last['crf']} | {windows} | {len(quality['encodes'])} |"
                          f" {search:.1f} s | {plain:.1f} s | {search / plain:.2f} |", flush=True)
        return
    source = sys.argv[1]
    problems = 0
    print("| file | encoder | target | reported | FFmpeg | crf | probes | encodes | note |\n" + "| --- " * 9 + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or files:
            # Four seconds, scaled, without loss: the encoder's input is then a file.
            path = f"{folder}/source.mkv"
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", os.path.join(source, name), "-t", "4", "-map", "0:v:0", "-vf",
                            "scale=-2:240,format=yuv420p", "-c:v", "ffv1", path], check=True)
            for encoder, settings in encoders.items():
                for metric, (target, within) in targets.items():
                    event, errors, _ = run(folder, path, f"{settings}, quality: {{ {metric}: {target} }}")
                    warnings = " ".join(event.get("warnings", []))
                    if "quality" not in event:
                        problems += "can't be reached" not in errors
                        print(f"| {name} | {encoder} | {metric} {target} | – | – | – | – | – | {errors[-160:]!r} |", flush=True)
                        continue
                    quality = event["quality"]
                    last = quality["encodes"][-1]
                    value = measured(metric, folder, path)
                    problems += abs(value - target) > within + 0.01 * within and not warnings
                    # PSNR of FFmpeg's summary is that of the mean square error.
                    problems += abs(value - last["value"]) > (0.0005 if metric == "ssim" else 0.02)
                    print(f"| {name} | {encoder} | {metric} {target} | {last['value']:.4f} | {value:.4f} | {last['crf']} |"
                          f" {len(quality['probes'])} | {len(quality['encodes'])} | {warnings} |", flush=True)
    print(f"\n{problems} problems")
    sys.exit(1 if problems else 0)


main()
