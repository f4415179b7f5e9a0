"""Image outputs, posters and waveforms."""
import os

from timing import compare, sh, tandem, work

quiet = ["ffmpeg", "-v", "error", "-nostdin", "-y"]


def stills():
    """Compares images and a waveform of one source each with ffmpeg."""
    sh(*quiet, "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=120,noise=alls=8:allf=t",
       "-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "two-minutes.mp4")
    sh(*quiet, "-f", "lavfi", "-i", "aevalsrc=0.5*sin(2*PI*220*t)*sin(t)|0.3*random(0):s=48000:d=1200",
       "-c:a", "aac", "-b:a", "128k", "twenty-minutes.m4a")
    os.makedirs(f"{work}/ff", exist_ok=True)
    with open(f"{work}/stills.yaml", "w") as f:
        f.write("""version: 1
defaults: { destination: { if_exists: replace } }
jobs:
  every: { asset: ./two-minutes.mp4, images: { every: 5s }, destination: "tandem/every-${image.number}.jpg" }
  keys: { asset: ./two-minutes.mp4, images: { keyframes: true }, destination: "tandem/key-${image.number}.jpg" }
  wave: { asset: ./twenty-minutes.m4a, waveform: { size: 1200x200 }, destination: tandem/wave.png }
""")
    for name, job, theirs in (
        ("stills every 5 s of two minutes, vs. ffmpeg's fps filter", "every",
         ["-i", "two-minutes.mp4", "-vf", "fps=1/5", "-q:v", "2", "ff/every-%04d.jpg"]),
        ("still images of keyframes, vs. ffmpeg -skip_frame nokey", "keys",
         ["-skip_frame", "nokey", "-i", "two-minutes.mp4", "-fps_mode", "passthrough", "-q:v", "2", "ff/key-%04d.jpg"]),
        ("a waveform of twenty minutes, vs. ffmpeg's showwavespic", "wave",
         ["-i", "twenty-minutes.m4a", "-filter_complex", "showwavespic=s=1200x200", "-frames:v", "1", "ff/wave.png"]),
    ):
        compare(name, [tandem, "run", "--force", "--only", job, "stills.yaml"], quiet + theirs)


def posters():
    """Extracts the first frame of each of many clips (TANDEM_POSTERS is their number, default 300)."""
    count = int(os.environ.get("TANDEM_POSTERS", "300"))
    os.makedirs(f"{work}/posters")
    os.makedirs(f"{work}/ff", exist_ok=True)
    sh(*quiet, "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=2", "-c:v", "libx264", "-preset", "veryfast", "posters/1.mp4")
    sh("sh", "-c", f"for i in $(seq 2 {count}); do cp posters/1.mp4 posters/$i.mp4; done")
    with open(f"{work}/posters.yaml", "w") as f:
        f.write("""version: 1
jobs:
  poster:
    asset: { path: "posters/*.mp4" }
    images: { at: 0s }
    destination: { path: "tandem/${asset.stem}.jpg", if_exists: replace }
""")
    # With thousands of clips, a round takes ffmpeg minutes, so the warm-up is omitted.
    compare(f"posters of {count} clips, vs. xargs -P2 ffmpeg", [tandem, "run", "--force", "posters.yaml"],
            ["sh", "-c", "cd posters && ls *.mp4 | xargs -P2 -I{} ffmpeg -v error -nostdin -y -i {} -frames:v 1 -q:v 2 ../ff/{}.jpg"],
            warm=count < 1000)
