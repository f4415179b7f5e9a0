"""Outputs that an earlier run has stored (`tandem run --cache`)."""
import os, shutil

from timing import measure, sh, tandem, work


def caches():
    """Runs a batch in a new folder, as a fresh checkout is one: without a cache, storing in an empty one, and from the cache."""
    count = 200
    os.makedirs(f"{work}/cached/source/in")
    for i in range(count):
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=2", "-f", "lavfi", "-i",
           f"sine=f={300 + i}:d=2", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", f"cached/source/in/{i}.mp4")
    with open(f"{work}/cached/source/jobs.yaml", "w") as f:
        f.write("""version: 1
assets: { clips: { path: "in/*.mp4" } }
jobs:
  web:
    asset: clips
    tracks: [ { video: first, encode: { codec: h264, crf: 23 } }, { audio: first, encode: { codec: aac } } ]
    destination: "out/${asset.stem}.mp4"
""")
    times = []
    for name, options in ("plain", []), ("storing", ["--cache", f"{work}/cached/cache"]), ("cached", ["--cache", f"{work}/cached/cache"]):
        # Sources have new times, and no state.
        shutil.copytree(f"{work}/cached/source", f"{work}/cached/{name}", copy_function=shutil.copyfile)
        wall, _ = measure([tandem, "run", "--quiet", f"cached/{name}/jobs.yaml", *options])
        times.append(wall)
    for i in range(count):
        with open(f"{work}/cached/storing/out/{i}.mp4", "rb") as one, open(f"{work}/cached/cached/out/{i}.mp4", "rb") as other:
            assert one.read() == other.read(), i
    plain, storing, cached = times
    print(f"{count} clips of two seconds, encoded: {plain:.1f} s; storing in a cache: {storing:.1f} s; from the cache in a new folder: "
          f"{cached:.1f} s, {plain / cached:.1f} times as fast", flush=True)
