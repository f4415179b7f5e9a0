"""Streaming packages: against ffmpeg and shaka-packager, and of several lengths: the memory should not grow with the length, and the time
linearly with the segments."""
import os

from timing import compare, measure, peers, sh, tandem, work

CLIP = 10  # seconds
SIZES = ((1280, 720), (854, 480), (640, 360))


def packages():
    encoded()
    copied()
    growth()


def encoded():
    """Compares a package of three renditions with one ffmpeg with `split` and its hls muxer."""
    for preset in ("veryfast", "medium"):
        outputs = "".join(f"""
      s{height}: {{ tracks: [ {{ video: first, encode: {{ codec: h264, crf: 23, preset: {preset}, size: {width}x{height}, fit: stretch }} }} ] }}"""
                          for width, height in SIZES)
        with open(f"{work}/package.yaml", "w") as f:
            f.write(f"""version: 1
jobs:
  one:
    asset: ./source.mp4
    outputs:{outputs}
      audio: {{ tracks: [ {{ audio: first, encode: {{ codec: aac, bitrate: 128k }} }} ] }}
    package: {{ formats: [hls], segment: 4s, destination: {{ path: tandem-package, if_exists: replace }} }}
""")
        chain = "[0:v]split=3[a][b][c];[a]scale=1280:720[x];[b]scale=854:480[y];[c]scale=640:360[z]"
        for name, peer in peers():
            theirs = [peer, "-v", "error", "-nostdin", "-y", "-i", "source.mp4", "-filter_complex", chain, "-map", "[x]", "-map", "[y]",
                      "-map", "[z]", "-map", "0:a:0", "-c:v", "libx264", "-crf", "23", "-preset", preset, "-force_key_frames",
                      "expr:gte(t,n_forced*4)", "-c:a", "aac", "-b:a", "128k", "-f", "hls", "-hls_time", "4", "-hls_playlist_type", "vod",
                      "-hls_segment_type", "fmp4", "-var_stream_map", "v:0,agroup:a v:1,agroup:a v:2,agroup:a a:0,agroup:a",
                      "-master_pl_name", "master.m3u8", "-hls_segment_filename", "ffmpeg-package/%v/%d.m4s", "ffmpeg-package/%v/main.m3u8"]
            compare(f"a package of three sizes, x264 {preset}, vs. {name}", [tandem, "run", "--force", "package.yaml"], theirs,
                    outputs=("tandem-package", "ffmpeg-package"))


def copied():
    """Compares a package of three copied renditions with shaka-packager, which `TANDEM_PACKAGER` names."""
    packager = os.environ.get("TANDEM_PACKAGER")
    if not packager:
        return print("no comparison with shaka-packager: TANDEM_PACKAGER isn't set")
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s=1280x720:r=25:d={CLIP}", "-f", "lavfi", "-i", f"sine=d={CLIP}:r=48000",
       "-filter_complex", "[0:v]noise=alls=20:allf=t,split=3[a][b][c];[b]scale=854:480[y];[c]scale=640:360[z]", "-map", "[a]", "-map", "[y]",
       "-map", "[z]", "-map", "1:a", "-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-b:v:0", "5M", "-b:v:1", "2M", "-b:v:2", "1M",
       "-c:a", "aac", "-b:a", "128k", "-shortest", "three.mkv")
    sh("ffmpeg", "-v", "error", "-y", "-stream_loop", str(600 // CLIP - 1), "-i", "three.mkv", "-map", "0", "-c", "copy", "three.mp4")
    with open(f"{work}/copied.yaml", "w") as f:
        f.write("""version: 1
jobs:
  one:
    asset: ./three.mp4
    outputs:
      v0: { tracks: [ { video: { index: 0 }, copy: true } ] }
      v1: { tracks: [ { video: { index: 1 }, copy: true } ] }
      v2: { tracks: [ { video: { index: 2 }, copy: true } ] }
      audio: { tracks: [ { audio: first, copy: true } ] }
    package: { formats: [hls, dash], segment: 4s, destination: { path: tandem-copied, if_exists: replace } }
""")
    theirs = [packager, "--quiet"]
    for index, name in enumerate(("v0", "v1", "v2", "audio")):
        theirs.append(f"in=three.mp4,stream={index},init_segment=shaka/{name}/init.mp4,segment_template=shaka/{name}/$Number$.m4s,"
                      f"playlist_name={name}.m3u8" + (",hls_group_id=audio,hls_name=audio" if name == "audio" else ""))
    theirs += ["--segment_duration", "4", "--mpd_output", "shaka/manifest.mpd", "--hls_master_playlist_output", "shaka/master.m3u8"]
    size = os.path.getsize(f"{work}/three.mp4") / 1e6
    ours = [tandem, "run", "--force", "copied.yaml"]
    outputs = ("tandem-copied", "shaka")
    compare(f"a package of three copied renditions, 10 min, {size:.0f} MB, vs. shaka-packager", ours, theirs, outputs=outputs)
    # Tandem's files are on disk when a job is done.
    compare("  and written to disk", ours, ["sh", "-c", " ".join(f"'{word}'" for word in theirs) + " && sync -f shaka"], outputs=outputs)


def growth():
    """Packages 10 minutes and 60 minutes, and copies each package into one file."""
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s=640x360:r=25:d={CLIP}", "-f", "lavfi", "-i", f"sine=d={CLIP}:r=48000",
       "-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-b:v", "800k", "-c:a", "aac", "-b:a", "96k", "-shortest", "clip.mkv")
    results = {}
    for minutes in (10, 60):
        source = f"{minutes}.mp4"
        sh("ffmpeg", "-v", "error", "-y", "-stream_loop", str(minutes * 60 // CLIP - 1), "-i", "clip.mkv", "-c", "copy", source)
        with open(f"{work}/write{minutes}.yaml", "w") as f:
            f.write(f"""version: 1
jobs:
  one:
    asset: ./{source}
    outputs: {{ v: {{ tracks: [ {{ video: first, copy: true }} ] }}, a: {{ tracks: [ {{ audio: first, copy: true }} ] }} }}
    package: {{ segment: 2s, destination: p{minutes} }}
""")
        with open(f"{work}/read{minutes}.yaml", "w") as f:
            f.write(f"""version: 1
jobs:
  one:
    asset: {{ playlist: p{minutes}/master.m3u8 }}
    tracks: [ {{ video: first, copy: true }}, {{ audio: first, copy: true }} ]
    destination: copy{minutes}.mkv
""")
        for kind in "write", "read":
            results[kind, minutes] = measure([tandem, "run", f"{kind}{minutes}.yaml"])
    for kind, name in ("write", "package"), ("read", "package copied to a file"):
        (short, small), (long, large) = results[kind, 10], results[kind, 60]
        print(f"{name}, segments of 2 s: 10 min {short:.2f} s, 60 min {long:.2f} s ({long / short:.1f} times as long); "
              f"peak of the supervisor or a worker {small:.0f} and {large:.0f} MiB", flush=True)
