"""Compositions of several sources."""
import shutil

from timing import compare, peers, sh, tandem, work


def compositions():
    """Clips of different formats, converted to one; and clips of one format, stream-copied except for a title in the first five seconds."""
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
        compare(f"five clips of different formats to 720p, x264 veryfast, vs. one {name} -filter_complex",
                [tandem, "run", "--force", "--only", "forms", "compositions.yaml"],
                start + inputs + ["-filter_complex", chain, "-map", "[v]", "-map", "[a]", "-c:v", "libx264", "-crf", "23", "-preset", "veryfast"] + audio + ["ffmpeg.mp4"])
        inputs = [word for i in range(20) for word in ("-i", f"camera{i}.mp4")]
        chain = "".join(f"[{i}:v][{i}:a]" for i in range(20)) + "concat=n=20:v=1:a=1[w][a];[w]drawtext=text=Title:fontsize=80:fontcolor=white:enable=lt(t\\,5)[v]"
        compare(f"twenty clips copied under a title of five seconds, vs. one {name} -filter_complex, x264 medium",
                [tandem, "run", "--force", "--only", "joined", "compositions.yaml"],
                start + inputs + ["-filter_complex", chain, "-map", "[v]", "-map", "[a]", "-c:v", "libx264", "-crf", "23"] + audio + ["ffmpeg.mp4"])
