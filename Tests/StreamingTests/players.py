"""Plays packages with GStreamer, mpv and VLC: players.py FOLDER…

For each package, each player that is installed plays `master.m3u8` and `manifest.mpd`, which a server with byte ranges
offers. GStreamer must reach the end and show as many frames as ffprobe counts in one of the video renditions; mpv and VLC must
end without errors. Prints a line for each player and manifest, and
`all players play`. Fails if nothing was played.

    apt-get install gstreamer1.0-tools gstreamer1.0-plugins-{base,good,bad} gstreamer1.0-libav mpv vlc-bin vlc-plugin-base
"""

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves files and their byte ranges."""

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            return self.send_error(404)
        # hlsdemux2 of GStreamer 1.22 loses tracks if all data arrives before the pipeline is complete.
        time.sleep(0.02)
        with open(path, "rb") as file:
            data = file.read()
        size, wanted = len(data), re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        self.send_response(206 if wanted else 200)
        if wanted:
            first, last = int(wanted[1]), min(int(wanted[2] or size), size - 1)
            data = data[first:last + 1]
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def run(command):
    """Returns the exit status and the output of a player, or "timeout" after a minute."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
        return result.returncode, result.stdout + result.stderr
    except subprocess.TimeoutExpired:
        return "timeout", ""


def frames(folder):
    """Returns the numbers of frames of the video renditions, by ffprobe."""
    counts = set()
    for name in sorted(os.listdir(folder)):
        playlist = f"{folder}/{name}/playlist.m3u8"
        if not os.path.exists(playlist):
            continue
        found = subprocess.run(
            ["ffprobe", "-v", "error", "-allowed_extensions", "ALL", "-select_streams", "v", "-count_packets", "-show_entries",
             "stream=nb_read_packets", "-of", "csv=p=0", playlist], capture_output=True, text=True, check=True).stdout.split()
        if found:
            counts.add(int(found[0].strip(",")))
    return counts


def gstreamer(url, folder):
    sinks = ["video-sink=fakesink name=video sync=false silent=false", "audio-sink=fakesink name=audio sync=false"]
    status, output = run(["gst-launch-1.0", "-v", "playbin3", f"uri={url}", *sinks])
    shown = len(re.findall(r"GstFakeSink:video: last-message = chain", output))
    wanted = frames(folder)
    if url.endswith(".mpd") and "<SegmentBase" in open(f"{folder}/manifest.mpd").read():
        # dashdemux2 of GStreamer 1.22 omits the last subsegment, also of shaka-packager's files.
        return None if status == 0 and "EOS" in output and (shown > 0 or not wanted) else f"status {status}, {shown} frames"
    if status != 0 or "EOS" not in output:
        return f"status {status}"
    return None if shown in (wanted or {0}) else f"{shown} frames, expected {sorted(wanted)}"


def mpv(url, _):
    status, output = run(["mpv", "--no-config", "--vo=null", "--ao=null", "--untimed", "--speed=8", "--msg-level=all=error", url])
    return None if status == 0 and not output.strip() else f"status {status}: {output.strip()[-200:]}"


def vlc(url, _):
    # VLC refuses to run as root.
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        status, output = run([*user, "env", f"HOME={home}", "cvlc", "--play-and-exit", "--vout=vdummy", "--aout=adummy", "--rate=8", url])
    # Without a sound card, AC-3 has no output; dav1d's first timestamp precedes the clock.
    harmless = "audio output|Timestamp conversion|Could not convert timestamp"
    bad = [
        line for line in output.splitlines()
        if re.search(r"(demux|decoder|adaptive|avcodec|stream) error", line) and not re.search(harmless, line)
    ]
    return None if status == 0 and not bad else f"status {status}: {bad[:2]}"


def main():
    failed = played = 0
    for folder in map(os.path.abspath, sys.argv[1:]):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for program, play in [("gst-launch-1.0", gstreamer), ("mpv", mpv), ("cvlc", vlc)]:
            for manifest in ["master.m3u8", "manifest.mpd"]:
                name = f"{os.path.basename(folder)}/{manifest} {program}"
                if not os.path.exists(f"{folder}/{manifest}"):
                    continue
                if not shutil.which(program):
                    print(f"{name}: skipped, not installed")
                    continue
                problem = play(f"http://127.0.0.1:{server.server_port}/{manifest}", folder)
                failed += problem is not None
                played += 1
                print(f"{name}: {problem or 'plays'}", flush=True)
        server.shutdown()
    if failed or not played:
        sys.exit(f"{failed} of {played} failed")
    print("all players play")


main()
