"""Streaming packages of copied media of several lengths: the memory should not grow with the length, and the time linearly with the segments."""
from timing import measure, sh, tandem, work

CLIP = 10  # seconds


def packages():
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
