"""Batches of many short clips."""
import os, shutil, statistics

from timing import compare, measure, own_time, peers, rounds, sh, tandem, work


def batches():
    """Compares a thousand clips of two seconds with one ffmpeg process per processor (`xargs -P`)."""
    for folder, size in ("clips", "640x360"), ("small", "320x180"):
        os.makedirs(f"{work}/{folder}")
        sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2",
           "-c:v", "libx264", "-preset", "medium", "-c:a", "aac", f"{folder}/0.mp4")
        for i in range(1, 1000):
            shutil.copyfile(f"{work}/{folder}/0.mp4", f"{work}/{folder}/{i}.mp4")
    # Folder and number of clips, Tandem's tracks, ffmpeg's options, and the container.
    copied = ("{ audio: first, copy: true }", "-c:a copy")
    audio = ("{ audio: first, encode: { codec: aac, bitrate: 128k } }", "-c:a aac -b:a 128k")

    def encoded(preset, track):
        return ("{ video: first, encode: { codec: h264, preset: %s, crf: 23, size: 320x180 } }, %s" % (preset, track[0]),
                f"-c:v libx264 -preset {preset} -crf 23 -s 320x180 {track[1]}", "mp4")

    kinds = {
        "copied to mkv": ("clips", 1000, "{ video: first, copy: true }, { audio: first, copy: true }", "-map 0 -c copy", "mkv"),
        "640x360 encoded at 320x180, medium": ("clips", 200, *encoded("medium", audio)),
        "640x360 encoded at 320x180, ultrafast": ("clips", 200, *encoded("ultrafast", audio)),
        "320x180 encoded, medium": ("small", 200, *encoded("medium", audio)),
        "320x180 encoded, ultrafast": ("small", 200, *encoded("ultrafast", audio)),
        "320x180 encoded, ultrafast, its audio copied": ("small", 1000, *encoded("ultrafast", copied)),
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
        for peer_name, peer in peers():
            loop = ["sh", "-c", f"ls clips{number} | xargs -P $(nproc) -I {{}} {peer} -v error -nostdin -y -i clips{number}/{{}} {options} theirs{number}/{{}}.{extension}"]
            pairs = []
            for _ in range(rounds if extension == "mkv" else 1):
                sh("rm", "-rf", f"ours{number}", ".tandem")
                ours, peak = measure([tandem, "run", "clips.yaml"])
                theirs, _ = measure(loop)
                pairs.append((theirs / ours, ours, theirs))
            ratio, ours, theirs = sorted(pairs)[len(pairs) // 2]
            span = f" ({min(pairs)[0]:.1f} to {max(pairs)[0]:.1f})" if len(pairs) > 1 else ""
            print(f"{count} clips of two seconds, {name}, vs. {peer_name}: {ours:.1f} s / {theirs:.1f} s, {ratio:.1f} times as fast{span}; "
                  f"peak of the supervisor or a worker {peak:.0f} MiB", flush=True)
        if extension == "mp4":
            # The lower bound: processor time of one ffmpeg that encodes all clips.
            began = os.times()
            sh("ffmpeg", "-v", "error", "-y", "-stream_loop", "49", "-i", f"{folder}/0.mp4", *options.split(), "all.mp4")
            spent = (os.times().children_user + os.times().children_system - began.children_user - began.children_system)
            floor = spent / 50 * count / os.cpu_count()
            print(f"  one ffmpeg for all clips, with both processors busy: {floor:.1f} s", flush=True)
        again, _ = measure([tandem, "run", "clips.yaml"])
        print(f"  rerun, all up to date: {again:.2f} s", flush=True)
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
    print(f"10,000 clips, their audio copied: {wall:.1f} s, {wall / 10:.2f} ms a job, {own / 10:.2f} ms of it the supervisor's processor "
          f"time; its peak {peak:.0f} MiB", flush=True)
    walls = [measure([tandem, "run", "many.yaml"]) for _ in range(5)]
    print(f"  rerun, all up to date: {statistics.median(w for w, _ in walls):.2f} s, {walls[0][1]:.0f} MiB", flush=True)
    if not shutil.which("ninja"):
        return
    # Compares with ninja and the same number of up-to-date copies: the time to check twenty thousand files.
    os.makedirs(f"{work}/ninja")
    with open(f"{work}/ninja/build.ninja", "w") as f:
        f.write("rule cp\n command = cp $in $out\n" + "".join(f"build o{i}: cp ../many/{i}.mp4\n" for i in range(10_000)))
    sh("ninja", "-C", "ninja")
    compare("  the same vs. ninja", [tandem, "run", "many.yaml"], ["ninja", "-C", "ninja"])
