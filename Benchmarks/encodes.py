"""Single files: startup, encoding, remuxing, several sizes from one decode, and memory."""
import os

from timing import compare, measure, peers, sh, tandem, work


def job(name, source, preset):
    text = f"""version: 1
jobs:
  one:
    asset: ./{source}
    tracks:
      - {{ video: first, encode: {{ codec: h264, crf: 23, preset: {preset} }} }}
      - {{ audio: first, encode: {{ codec: aac, bitrate: 128k }} }}
    destination: {{ path: tandem-{name}.mp4, if_exists: replace }}
"""
    with open(f"{work}/{name}.yaml", "w") as f:
        f.write(text)
    return [tandem, "run", "--force", f"{name}.yaml"]


def ffmpeg(source, preset):
    return ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", source, "-c:v", "libx264", "-crf", "23", "-preset", preset, "-c:a", "aac",
            "-b:a", "128k", "ffmpeg.mp4"]


def encodes():
    """Startup, and half a minute of 720p."""
    measure(["ffmpeg", "-version"])
    compare("startup", [tandem, "--version"], ["ffmpeg", "-version"])
    compare("720p, 30 s, x264 ultrafast", job("ultrafast", "source.mp4", "ultrafast"), ffmpeg("source.mp4", "ultrafast"))
    compare("720p, 30 s, x264 medium", job("medium", "source.mp4", "medium"), ffmpeg("source.mp4", "medium"))


def dense_source():
    """Creates 20 s of 720p at 28 Mbit/s, to measure the cost of large packets."""
    if not os.path.exists(f"{work}/dense.mp4"):
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30,noise=alls=20:allf=t", "-f", "lavfi", "-i",
           "sine=sample_rate=48000", "-t", "20", "-c:v", "libx264", "-preset", "veryfast", "-b:v", "28M", "-pix_fmt", "yuv420p", "-c:a", "aac", "dense.mp4")


def dense():
    dense_source()
    for name, peer in peers():
        for preset in ("medium", "veryfast", "ultrafast"):
            compare(f"720p of 28 Mbit/s, 20 s, x264 {preset}, vs. {name}", job(f"dense-{preset}", "dense.mp4", preset),
                    [peer] + ffmpeg("dense.mp4", preset)[1:])


def chunks():
    """Compares chunks of one track with the encoder's own threads, in tandem and in ffmpeg."""
    for name, codec, options, theirs in (
        ("x264 medium", "h264", "crf: 23, preset: medium", ["libx264", "-crf", "23", "-preset", "medium"]),
        ("x265 veryfast", "hevc", "crf: 28, preset: veryfast", ["libx265", "-crf", "28", "-preset", "veryfast", "-x265-params", "log-level=error"]),
        ("libvpx-vp9, speed 8", "vp9", "crf: 35, options: { cpu-used: 8 }", ["libvpx-vp9", "-crf", "35", "-b:v", "0", "-cpu-used", "8"]),
    ):
        def ours(parallel):
            with open(f"{work}/chunks-{parallel}.yaml", "w") as f:
                f.write(f"""version: 1
jobs:
  one:
    asset: ./source.mp4
    tracks: [ {{ video: first, encode: {{ codec: {codec}, {options}, parallel: {parallel} }} }} ]
    destination: {{ path: tandem-{parallel}.mkv, if_exists: replace }}
""")
            return [tandem, "run", "--force", f"chunks-{parallel}.yaml"]
        outputs = ("tandem-auto.mkv", "ffmpeg.mkv")
        peer = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "source.mp4", "-an", "-c:v"] + theirs + ["ffmpeg.mkv"]
        compare(f"720p, 30 s, {name}, in chunks, vs. ffmpeg", ours("auto"), peer, outputs=outputs)
        compare("  vs. as a whole", ours("auto"), ours("off"), outputs=("tandem-auto.mkv", "tandem-off.mkv"))


def remux():
    """420 MB from mp4 to Matroska."""
    dense_source()
    sh("ffmpeg", "-v", "error", "-y", "-stream_loop", "5", "-i", "dense.mp4", "-c", "copy", "large.mp4")
    with open(f"{work}/remux.yaml", "w") as f:
        f.write("""version: 1
jobs:
  one:
    asset: ./large.mp4
    tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]
    destination: { path: tandem-large.mkv, if_exists: replace }
""")
    size = os.path.getsize(f"{work}/large.mp4") / 1e6
    for name, peer in peers():
        ours = [tandem, "run", "--force", "remux.yaml"]
        theirs = [peer, "-v", "error", "-nostdin", "-y", "-i", "large.mp4", "-c", "copy", "ffmpeg.mkv"]
        outputs = ("tandem-large.mkv", "ffmpeg.mkv")
        compare(f"remux of {size:.0f} MB, vs. {name}", ours, theirs, outputs=outputs)
        # Tandem's outputs are on disk when a job is done.
        compare("  and written to disk", ours, ["sh", "-c", " ".join(theirs) + " && sync ffmpeg.mkv"], outputs=outputs)


def ladder():
    """Compares three sizes from one decode with one ffmpeg with `split`."""
    sizes = ((1280, 720), (854, 480), (640, 360))
    for preset in ("veryfast", "medium"):
        outputs = "".join(f"""
      s{height}:
        tracks:
          - {{ video: first, encode: {{ codec: h264, crf: 23, preset: {preset}, size: {width}x{height}, fit: stretch }} }}
          - {{ audio: first, encode: {{ codec: aac, bitrate: 128k }} }}""" for width, height in sizes)
        with open(f"{work}/ladder.yaml", "w") as f:
            f.write(f"""version: 1
jobs:
  one:
    asset: ./source.mp4
    destination: {{ path: "tandem-${{output}}.mp4", if_exists: replace }}
    outputs:{outputs}
""")
        chain = "[0:v]split=3[a][b][c];[a]scale=1280:720[x];[b]scale=854:480[y];[c]scale=640:360[z]"
        options = ["-map", "0:a:0", "-c:v", "libx264", "-crf", "23", "-preset", preset, "-c:a", "aac", "-b:a", "128k"]
        for name, peer in peers():
            theirs = [peer, "-v", "error", "-nostdin", "-y", "-i", "source.mp4", "-filter_complex", chain]
            for label, (_, height) in zip("xyz", sizes):
                theirs += ["-map", f"[{label}]"] + options + [f"ffmpeg-{height}.mp4"]
            compare(f"a ladder of three sizes, x264 {preset}, vs. one {name} with split", [tandem, "run", "--force", "ladder.yaml"], theirs)


def memory():
    """Compares memory for one and thirty minutes of small frames; it must not grow with the duration."""
    for minutes in (1, 30):
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000",
           "-t", str(60 * minutes), "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", f"{minutes}min.mp4")

    def growth(name, command):
        peaks = {m: measure(command(m))[1] for m in (1, 30)}
        print(f"memory, {name}: {peaks[1]:.0f} MiB for 1 minute, {peaks[30]:.0f} MiB for 30, ratio {peaks[30] / peaks[1]:.3f}", flush=True)

    # Only the mp4 index, which is written at the end, grows in both programs.
    growth("tandem", lambda m: job(f"long{m}", f"{m}min.mp4", "ultrafast"))
    growth("ffmpeg", lambda m: ffmpeg(f"{m}min.mp4", "ultrafast"))
