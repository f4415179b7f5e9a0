"""Smart cuts."""
import os

from timing import compare, sh, tandem, work


def cut(name, source, start, end, mode):
    """Writes a job file that cuts a range, and returns the command that runs it."""
    with open(f"{work}/{name}.yaml", "w") as f:
        f.write(f"""version: 1
jobs:
  one:
    asset: ./{source}
    range: {{ start: {start}, end: {end} }}
    cut: {mode}
    tracks: [ {{ video: first, copy: true }}, {{ audio: first, copy: true, optional: true }} ]
    destination: {{ path: tandem-{name}.mp4, if_exists: replace }}
""")
    return [tandem, "run", "--force", f"{name}.yaml"]


def cuts(media):
    """Compares cuts of two minutes with ffmpeg's re-encoding, and with smartcut if TANDEM_SMARTCUT names it."""
    sh("ffmpeg", "-v", "error", "-y", "-stream_loop", "5", "-i", "source.mp4", "-c", "copy", "loop.mp4")
    exact = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-ss", "31.7", "-i", "loop.mp4", "-t", "120", "-c:v", "libx264", "-c:a", "aac", "e.mp4"]
    with open(f"{work}/breaks.yaml", "w") as f:
        f.write("""version: 1
jobs:
  one:
    asset: ./loop.mp4
    range: [ { start: 3.3, end: 31.7 }, { start: 42.1, end: 71.3 }, { start: 80.9, end: 110.5 } ]
    cut: smart
    tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]
    destination: { path: breaks.mp4, if_exists: replace }
""")
    chain = "".join(
        f"[0:v]trim={a}:{b},setpts=PTS-STARTPTS[v{n}];[0:a]atrim={a}:{b},asetpts=PTS-STARTPTS[a{n}];"
        for n, (a, b) in enumerate([(3.3, 31.7), (42.1, 71.3), (80.9, 110.5)])) + "[v0][a0][v1][a1][v2][a2]concat=3:1:1[v][a]"
    compare("three ranges of 720p, 87 s, joined by smart cuts, vs. ffmpeg's trim and concat",
            [tandem, "run", "--force", "breaks.yaml"],
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "loop.mp4", "-filter_complex", chain, "-map", "[v]", "-map", "[a]",
             "-c:v", "libx264", "-c:a", "aac", "b.mp4"])
    compare("smart cut, two minutes of 720p, vs. ffmpeg's exact one", cut("two", "loop.mp4", 31.7, 151.7, "smart"), exact)
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=130,noise=alls=4:allf=t", "-pix_fmt",
       "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "30", "-x264-params",
       "open-gop=1:keyint=48:min-keyint=48:scenecut=0:b-adapt=0:bframes=3:b-pyramid=normal:ref=3", "open.mp4")
    compare("the same of open groups", cut("open", "open.mp4", 3.3, 123.4, "smart"),
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-ss", "3.3", "-i", "open.mp4", "-t", "120.1", "-c:v", "libx264", "e.mp4"])
    peer = os.environ.get("TANDEM_SMARTCUT")
    if not peer:
        return
    compare("the same vs. smartcut", cut("two", "loop.mp4", 31.7, 151.7, "smart"), [peer, "loop.mp4", "p.mp4", "--keep", "31.7,151.7"])
    for name in ("bikes.mp4", "bigbuckbunny.mp4", "interlaced_crop.mp4"):
        if os.path.exists(f"{media}/{name}"):
            sh("cp", f"{media}/{name}", name)
            compare(f"{name}, 1.1 s to 3.3 s, vs. smartcut", cut(name, name, 1.1, 3.3, "smart-or-exact"), [peer, name, "p.mp4", "--keep", "1.1,3.3"])
