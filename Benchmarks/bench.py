#!/usr/bin/env python3
"""Times tandem beside ffmpeg at the same settings: whole processes, in turn, medians of the ratios of each pair."""
import os, shutil, statistics, subprocess, sys, tempfile, time

tandem, rounds = sys.argv[1], int(sys.argv[2])
work = tempfile.mkdtemp(prefix="tandem-bench-")


def sh(*cmd):
    subprocess.run(cmd, check=True, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def measure(cmd):
    """Wall seconds and peak resident MiB of one finished process."""
    begun = time.monotonic()
    child = subprocess.Popen(cmd, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begun
    if status != 0:
        sys.exit(f"failed with status {status}: {' '.join(cmd)}")
    return wall, usage.ru_maxrss / 1024


def own_time(cmd):
    """Wall seconds, and processor time and peak MiB of the process alone, without its workers."""
    begun = time.monotonic()
    child = subprocess.Popen(cmd, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ticks = peak = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/stat") as f:
                ticks = sum(int(word) for word in f.read().rsplit(")", 1)[1].split()[11:13]) or ticks
            with open(f"/proc/{child.pid}/status") as f:
                peak = max(peak, *(int(line.split()[1]) for line in f if line.startswith("VmHWM:")))
        except (OSError, ValueError, IndexError, TypeError):
            pass
        time.sleep(0.05)
    return time.monotonic() - begun, ticks / os.sysconf("SC_CLK_TCK"), peak / 1024


def job(name, source, preset, size=None):
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


def compare(name, ours, theirs):
    measure(ours), measure(theirs)  # warm
    pairs = [(measure(ours), measure(theirs)) for _ in range(rounds)]
    wall = [a[0] / b[0] for a, b in pairs]
    peak = [a[1] / b[1] for a, b in pairs]
    med = statistics.median
    print(
        f"{name}: wall {med(a[0] for a, _ in pairs):.2f} s / {med(b[0] for _, b in pairs):.2f} s, "
        f"ratio {med(wall):.3f} ({min(wall):.3f} to {max(wall):.3f}); "
        f"peak {med(a[1] for a, _ in pairs):.0f} / {med(b[1] for _, b in pairs):.0f} MiB, ratio {med(peak):.3f}",
        flush=True)


def batch(count):
    """A job file of so many jobs over a hundred sources."""
    name = f"batch-{count}.yaml"
    with open(f"{work}/{name}", "w") as f:
        f.write("version: 1\nname: big\njobs:\n")
        for i in range(count):
            f.write(f"""  job{i:06d}:
    asset: media/clip{i % 100:03d}.mp4
    range: {{ start: "0:00.5", end: "0:01.5" }}
    tracks:
      - video: first
        encode: {{ codec: h264, crf: 23, preset: medium, size: x720 }}
      - audio: first
        encode: {{ codec: aac, bitrate: 128k, sample_rate: 44100 }}
    destination: out/clip{i:06d}.mp4
""")
    return name


def language():
    """Checking and planning job files; PyYAML's C loader, which only parses, is the peer."""
    os.mkdir(f"{work}/media")
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=2", "-f", "lavfi", "-i",
       "sine=duration=2", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "media/clip000.mp4")
    for i in range(1, 100):
        os.link(f"{work}/media/clip000.mp4", f"{work}/media/clip{i:03d}.mp4")
    small, large = batch(10_000), batch(100_000)
    load = ["/usr/bin/python3", "-c", "import sys, yaml; yaml.load(open(sys.argv[1]), Loader=yaml.CSafeLoader)", small]
    compare("validate, 10,000 jobs, beside PyYAML's C loader", [tandem, "validate", small], load)
    wall, peak = measure([tandem, "validate", large])
    print(f"validate, 100,000 jobs: {wall:.2f} s, {peak:.0f} MiB", flush=True)
    wall, peak = measure([tandem, "plan", small])
    print(f"plan, 10,000 jobs over 100 sources: {wall:.2f} s, {peak:.0f} MiB", flush=True)


def ffmpeg(source, preset):
    return ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", source, "-c:v", "libx264", "-crf", "23", "-preset", preset, "-c:a", "aac",
            "-b:a", "128k", "ffmpeg.mp4"]


def cut(name, source, start, end, mode):
    """A job file that cuts a range with its middle copied."""
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


def batches():
    """A thousand clips of two seconds, beside as many ffmpegs at a time as there are processors (`xargs -P`)."""
    for folder, size in ("clips", "640x360"), ("small", "320x180"):
        os.makedirs(f"{work}/{folder}")
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2",
           "-c:v", "libx264", "-preset", "medium", "-c:a", "aac", f"{folder}/0.mp4")
        for i in range(1, 1000):
            shutil.copyfile(f"{work}/{folder}/0.mp4", f"{work}/{folder}/{i}.mp4")
    # Which clips and how many, what is asked of us, what of ffmpeg, and the container.
    copied = ("{ audio: first, copy: true }", "-c:a copy")
    sound = ("{ audio: first, encode: { codec: aac, bitrate: 128k } }", "-c:a aac -b:a 128k")

    def encoded(preset, audio):
        return ("{ video: first, encode: { codec: h264, preset: %s, crf: 23, size: 320x180 } }, %s" % (preset, audio[0]),
                f"-c:v libx264 -preset {preset} -crf 23 -s 320x180 {audio[1]}", "mp4")

    kinds = {
        "copied to mkv": ("clips", 1000, "{ video: first, copy: true }, { audio: first, copy: true }", "-map 0 -c copy", "mkv"),
        "640x360 compressed anew at 320x180, medium": ("clips", 200, *encoded("medium", sound)),
        "640x360 compressed anew at 320x180, ultrafast": ("clips", 200, *encoded("ultrafast", sound)),
        "320x180 compressed anew, medium": ("small", 200, *encoded("medium", sound)),
        "320x180 compressed anew, ultrafast": ("small", 200, *encoded("ultrafast", sound)),
        "320x180 compressed anew, ultrafast, the sound copied": ("small", 1000, *encoded("ultrafast", copied)),
    }
    for number, (name, (folder, count, tracks, options, extension)) in enumerate(kinds.items()):
        os.makedirs(f"{work}/clips{number}")
        for i in range(count):
            os.link(f"{work}/{folder}/{i}.mp4", f"{work}/clips{number}/{i}.mp4")
        with open(f"{work}/clips.yaml", "w") as f:
            f.write(f"""version: 1
assets: {{ clips: {{ path: "clips{number}/*.mp4" }} }}
jobs:
  one: {{ asset: clips, tracks: [ {tracks} ], destination: "ours{number}/${{asset.stem}}.{extension}" }}
""")
        os.makedirs(f"{work}/theirs{number}")
        loop = ["sh", "-c", f"ls clips{number} | xargs -P $(nproc) -I {{}} ffmpeg -v error -nostdin -y -i clips{number}/{{}} {options} theirs{number}/{{}}.{extension}"]
        pairs = []
        for _ in range(rounds if extension == "mkv" else 1):
            sh("rm", "-rf", f"ours{number}", ".tandem")
            ours, peak = measure([tandem, "run", "clips.yaml"])
            theirs, _ = measure(loop)
            pairs.append((theirs / ours, ours, theirs))
        ratio, ours, theirs = sorted(pairs)[len(pairs) // 2]
        span = f" ({min(pairs)[0]:.1f} to {max(pairs)[0]:.1f})" if len(pairs) > 1 else ""
        print(f"{count} clips of two seconds, {name}: {ours:.1f} s / {theirs:.1f} s, {ratio:.1f} times as fast{span}; "
              f"peak of the supervisor or a worker {peak:.0f} MiB", flush=True)
        if extension == "mp4":
            # Nobody can be faster than the encoders alone: one ffmpeg over all of it, as processor time.
            began = os.times()
            sh("ffmpeg", "-v", "error", "-y", "-stream_loop", "49", "-i", f"{folder}/0.mp4", *options.split(), "all.mp4")
            spent = (os.times().children_user + os.times().children_system - began.children_user - began.children_system)
            floor = spent / 50 * count / os.cpu_count()
            print(f"  the encoders alone: {floor:.1f} s, at most {theirs / floor:.1f} times as fast", flush=True)
        again, _ = measure([tandem, "run", "clips.yaml"])
        print(f"  again, with nothing to do: {again:.2f} s", flush=True)
    os.makedirs(f"{work}/many")
    for i in range(10_000):
        os.link(f"{work}/clips/{i % 1000}.mp4", f"{work}/many/{i}.mp4")
    with open(f"{work}/many.yaml", "w") as f:
        f.write("""version: 1
assets: { clips: { path: "many/*.mp4" } }
jobs:
  one: { asset: clips, tracks: [ { audio: first, copy: true } ], destination: "ours10/${asset.stem}.m4a" }
""")
    wall, own, peak = own_time([tandem, "run", "many.yaml"])
    print(f"10,000 clips, their sound copied: {wall:.1f} s, {wall / 10:.2f} ms a job, {own / 10:.2f} ms of it the supervisor's processor "
          f"time; its peak {peak:.0f} MiB", flush=True)
    walls = [measure([tandem, "run", "many.yaml"]) for _ in range(5)]
    print(f"  again, with nothing to do: {statistics.median(w for w, _ in walls):.2f} s, {walls[0][1]:.0f} MiB", flush=True)
    if not shutil.which("ninja"):
        return
    # As many copies, nothing of which is to be done: what a machine needs to look at twenty thousand files.
    os.makedirs(f"{work}/ninja")
    with open(f"{work}/ninja/build.ninja", "w") as f:
        f.write("rule cp\n command = cp $in $out\n" + "".join(f"build o{i}: cp ../many/{i}.mp4\n" for i in range(10_000)))
    sh("ninja", "-C", "ninja")
    compare("  the same beside ninja", [tandem, "run", "many.yaml"], ["ninja", "-C", "ninja"])


def cuts(media):
    """Cuts of two minutes beside ffmpeg's exact one, and beside the peer where it is at hand (TANDEM_SMARTCUT)."""
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
    compare("three ranges of 720p, 87 s, joined by smart cuts, beside ffmpeg's trim and concat",
            [tandem, "run", "--force", "breaks.yaml"],
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "loop.mp4", "-filter_complex", chain, "-map", "[v]", "-map", "[a]",
             "-c:v", "libx264", "-c:a", "aac", "b.mp4"])
    compare("smart cut, two minutes of 720p, beside ffmpeg's exact one", cut("two", "loop.mp4", 31.7, 151.7, "smart"), exact)
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=130,noise=alls=4:allf=t", "-pix_fmt",
       "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "30", "-x264-params",
       "open-gop=1:keyint=48:min-keyint=48:scenecut=0:b-adapt=0:bframes=3:b-pyramid=normal:ref=3", "open.mp4")
    compare("the same of open groups", cut("open", "open.mp4", 3.3, 123.4, "smart"),
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-ss", "3.3", "-i", "open.mp4", "-t", "120.1", "-c:v", "libx264", "e.mp4"])
    peer = os.environ.get("TANDEM_SMARTCUT")
    if not peer:
        return
    compare("the same beside smartcut", cut("two", "loop.mp4", 31.7, 151.7, "smart"), [peer, "loop.mp4", "p.mp4", "--keep", "31.7,151.7"])
    for name in ("bikes.mp4", "bigbuckbunny.mp4", "interlaced_crop.mp4"):
        if os.path.exists(f"{media}/{name}"):
            sh("cp", f"{media}/{name}", name)
            compare(f"{name}, 1.1 s to 3.3 s, beside smartcut", cut(name, name, 1.1, 3.3, "smart-or-exact"), [peer, name, "p.mp4", "--keep", "1.1,3.3"])


def encodes():
    """Startup, and half a minute of 720p."""
    measure(["ffmpeg", "-version"])
    compare("startup", [tandem, "--version"], ["ffmpeg", "-version"])
    compare("720p, 30 s, x264 ultrafast", job("ultrafast", "source.mp4", "ultrafast"), ffmpeg("source.mp4", "ultrafast"))
    compare("720p, 30 s, x264 medium", job("medium", "source.mp4", "medium"), ffmpeg("source.mp4", "medium"))


def peers():
    """ffmpeg as installed, and a newer one where it is at hand (TANDEM_FFMPEG)."""
    newer = os.environ.get("TANDEM_FFMPEG")
    return [("ffmpeg", "ffmpeg")] + ([("newer ffmpeg", newer)] if newer else [])


def dense():
    """What weighs most where packets are large: 720p of 28 Mbit/s encoded, and 420 MB remuxed."""
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30,noise=alls=20:allf=t", "-f", "lavfi", "-i",
       "sine=sample_rate=48000", "-t", "20", "-c:v", "libx264", "-preset", "veryfast", "-b:v", "28M", "-pix_fmt", "yuv420p", "-c:a", "aac", "dense.mp4")
    sh("ffmpeg", "-v", "error", "-y", "-stream_loop", "5", "-i", "dense.mp4", "-c", "copy", "large.mp4")
    with open(f"{work}/remux.yaml", "w") as f:
        f.write("""version: 1
jobs:
  one:
    asset: ./large.mp4
    tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]
    destination: { path: tandem-large.mkv, if_exists: replace }
""")
    for name, peer in peers():
        for preset in ("medium", "veryfast", "ultrafast"):
            compare(f"720p of 28 Mbit/s, 20 s, x264 {preset}, beside {name}", job(f"dense-{preset}", "dense.mp4", preset),
                    [peer] + ffmpeg("dense.mp4", preset)[1:])
        size = os.path.getsize(f"{work}/large.mp4") / 1e6
        compare(f"remux of {size:.0f} MB, beside {name}", [tandem, "run", "--force", "remux.yaml"],
                [peer, "-v", "error", "-nostdin", "-y", "-i", "large.mp4", "-c", "copy", "ffmpeg.mkv"])


def ladder():
    """Three sizes of one decode, beside one ffmpeg with `split`."""
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
            compare(f"a ladder of three sizes, x264 {preset}, beside one {name} with split", [tandem, "run", "--force", "ladder.yaml"], theirs)


def stills():
    """Stills and a waveform of one source, and posters of many."""
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=120,noise=alls=8:allf=t",
       "-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "two-minutes.mp4")
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "aevalsrc=0.5*sin(2*PI*220*t)*sin(t)|0.3*random(0):s=48000:d=1200",
       "-c:a", "aac", "-b:a", "128k", "twenty-minutes.m4a")
    # Ten thousand take ffmpeg a quarter of an hour a round.
    count = int(os.environ.get("TANDEM_POSTERS", "300"))
    sh("sh", "-c", f"""mkdir clips ff && ffmpeg -v error -f lavfi -i testsrc2=size=1280x720:rate=25:duration=2 -c:v libx264 -preset veryfast clips/1.mp4
        for i in $(seq 2 {count}); do cp clips/1.mp4 clips/$i.mp4; done""")
    with open(f"{work}/stills.yaml", "w") as f:
        f.write("""version: 1
defaults: { destination: { if_exists: replace } }
jobs:
  every: { asset: ./two-minutes.mp4, images: { every: 5s }, destination: "tandem/every-${image.number}.jpg" }
  keys: { asset: ./two-minutes.mp4, images: { keyframes: true }, destination: "tandem/key-${image.number}.jpg" }
  wave: { asset: ./twenty-minutes.m4a, waveform: { size: 1200x200 }, destination: tandem/wave.png }
  poster: { asset: { path: "clips/*.mp4" }, images: { at: 0s }, destination: "tandem/${asset.stem}.jpg" }
""")
    peer = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
    for name, job_id, theirs in (
        ("stills every 5 s of two minutes, beside ffmpeg's fps filter", "every",
         peer + ["-i", "two-minutes.mp4", "-vf", "fps=1/5", "-q:v", "2", "ff/every-%04d.jpg"]),
        ("stills of key frames, beside ffmpeg -skip_frame nokey", "keys",
         peer + ["-skip_frame", "nokey", "-i", "two-minutes.mp4", "-fps_mode", "passthrough", "-q:v", "2", "ff/key-%04d.jpg"]),
        ("a waveform of twenty minutes, beside ffmpeg's showwavespic", "wave",
         peer + ["-i", "twenty-minutes.m4a", "-filter_complex", "showwavespic=s=1200x200", "-frames:v", "1", "ff/wave.png"]),
        (f"posters of {count} clips, beside xargs -P2 ffmpeg", "poster",
         ["sh", "-c", "cd clips && ls *.mp4 | xargs -P2 -I{} ffmpeg -v error -nostdin -y -i {} -frames:v 1 -q:v 2 ../ff/{}.jpg"]),
    ):
        compare(name, [tandem, "run", "--force", "--only", job_id, "stills.yaml"], theirs)


def compositions():
    """Clips that differ in everything, brought to one form; and clips that fit together, copied, with a title over the first five seconds."""
    forms = ((640, 360, 25, 44100, 1), (1280, 720, 30, 48000, 2), (720, 576, 25, 48000, 2), (1920, 1080, 24, 48000, 6), (854, 480, 50, 32000, 1))
    for i, (width, height, rate, frequency, channels) in enumerate(forms):
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate={rate}:duration=10", "-f", "lavfi", "-i",
           f"sine=f={200 * (i + 1)}:sample_rate={frequency}:duration=10", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p",
           "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-c:a", "aac", "-ac", str(channels), f"form{i}.mp4")
    with open(f"{work}/compositions.yaml", "w") as f:
        f.write(f"""version: 1
defaults: {{ destination: {{ if_exists: replace }} }}
jobs:
  forms:
    composition: {{ size: 1280x720, frame_rate: 30, sample_rate: 48000, channels: stereo, sequence: [ {", ".join(f"./form{i}.mp4" for i in range(5))} ] }}
    tracks: [ {{ video: first, encode: {{ codec: h264, crf: 23, preset: veryfast }} }}, {{ audio: first, encode: {{ codec: aac, bitrate: 128k }} }} ]
    destination: tandem-forms.mp4
  joined:
    cut: smart
    composition:
      sequence: [ {", ".join(f"./camera{i}.mp4" for i in range(20))} ]
      layers: [ {{ text: A title, at: 0s, duration: 5s, size: 80 }} ]
    tracks: [ {{ video: first, copy: true }}, {{ audio: first, copy: true }} ]
    destination: tandem-joined.mp4
""")
    for i in range(2):
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=size=1280x720:rate=25:duration=30,hue=h={60 * i}", "-f", "lavfi", "-i",
           f"sine=f={200 * (i + 1)}:duration=30", "-c:v", "libx264", "-preset", "medium", "-g", "50", "-pix_fmt", "yuv420p", "-c:a", "aac", f"camera{i}.mp4")
    for i in range(2, 20):
        shutil.copy(f"{work}/camera{i % 2}.mp4", f"{work}/camera{i}.mp4")
    for name, peer in peers():
        start = [peer, "-v", "error", "-nostdin", "-y"]
        inputs = [word for i in range(5) for word in ("-i", f"form{i}.mp4")]
        fit = "scale=1280:720:force_original_aspect_ratio=decrease:flags=bicubic,pad=1280:720:-1:-1,setsar=1,fps=30,format=yuv420p"
        chain = "".join(f"[{i}:v]{fit}[v{i}];[{i}:a]aformat=sample_rates=48000:channel_layouts=stereo[a{i}];" for i in range(5))
        chain += "".join(f"[v{i}][a{i}]" for i in range(5)) + "concat=n=5:v=1:a=1[v][a]"
        audio = ["-c:a", "aac", "-b:a", "128k"]
        compare(f"five clips of different form to 720p, x264 veryfast, beside one {name} -filter_complex",
                [tandem, "run", "--force", "--only", "forms", "compositions.yaml"],
                start + inputs + ["-filter_complex", chain, "-map", "[v]", "-map", "[a]", "-c:v", "libx264", "-crf", "23", "-preset", "veryfast"] + audio + ["ffmpeg.mp4"])
        inputs = [word for i in range(20) for word in ("-i", f"camera{i}.mp4")]
        chain = "".join(f"[{i}:v][{i}:a]" for i in range(20)) + "concat=n=20:v=1:a=1[w][a];[w]drawtext=text=Title:fontsize=80:fontcolor=white:enable=lt(t\\,5)[v]"
        compare(f"twenty clips copied under a title of five seconds, beside one {name} -filter_complex, x264 medium",
                [tandem, "run", "--force", "--only", "joined", "compositions.yaml"],
                start + inputs + ["-filter_complex", chain, "-map", "[v]", "-map", "[a]", "-c:v", "libx264", "-crf", "23"] + audio + ["ffmpeg.mp4"])


def memory():
    """Memory must not grow with the length: one minute against thirty, of a small picture."""
    for minutes in (1, 30):
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000",
           "-t", str(60 * minutes), "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", f"{minutes}min.mp4")

    def growth(name, command):
        peaks = {m: measure(command(m))[1] for m in (1, 30)}
        print(f"memory, {name}: {peaks[1]:.0f} MiB for 1 minute, {peaks[30]:.0f} MiB for 30, ratio {peaks[30] / peaks[1]:.3f}", flush=True)

    # What grows is the index that an mp4 keeps until its end, in both programs.
    growth("tandem", lambda m: job(f"long{m}", f"{m}min.mp4", "ultrafast"))
    growth("ffmpeg", lambda m: ffmpeg(f"{m}min.mp4", "ultrafast"))


# 30 s of 720p with sound: real footage where it is at hand, made otherwise.
media = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/media"))
real = f"{media}/example.mp4"
if os.path.exists(real):
    sh("ffmpeg", "-v", "error", "-y", "-i", real, "-t", "30", "-c", "copy", "source.mp4")
else:
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-f", "lavfi", "-i",
       "aevalsrc='0.2*sin(440*2*PI*t)+0.2*sin(554*2*PI*t)+0.1*sin(2*PI*(100+20*t)*t)':s=48000", "-t", "30", "-c:v", "libx264", "-preset",
       "veryfast", "-pix_fmt", "yuv420p", "-ac", "2", "-c:a", "aac", "-b:a", "160k", "source.mp4")
print("source:", "real footage" if os.path.exists(real) else "generated")

parts = {"encodes": encodes, "dense": dense, "ladder": ladder, "stills": stills, "compositions": compositions, "cuts": lambda: cuts(media), "batches": batches, "memory": memory, "language": language}
for name in sys.argv[3:] or parts:
    parts[name]()
subprocess.run(["rm", "-rf", work])
