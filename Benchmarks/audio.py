"""Two minutes of 5.1 audio: encoders at equal settings, and loudness normalization."""
import os

from timing import compare, peers, sh, tandem, work


def job(name, container, settings):
    with open(f"{work}/audio-{name}.yaml", "w") as f:
        f.write(f"""version: 1
jobs:
  one:
    asset: ./surround.mkv
    tracks: [ {{ audio: first, encode: {{ {settings} }} }} ]
    destination: {{ path: tandem-{name}.{container}, if_exists: replace }}
""")
    return [tandem, "run", "--force", f"audio-{name}.yaml"]


def audio():
    """Compares with ffmpeg, and with ffmpeg-normalize if TANDEM_NORMALIZE names it."""
    # Noise and tones of changing volume, different in each channel, so that no encoder has an easy signal.
    channel = "0.25*sin({0}*2*PI*t)*abs(sin(t/{1}))+0.06*(random({2})-0.5)"
    channels = "|".join(channel.format(180 + 70 * n, 2 + n, n) for n in range(6))
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"aevalsrc='{channels}':s=48000:c=5.1", "-t", "120", "-c:a", "pcm_s16le", "surround.mkv")
    for name, container, settings, options in (
        ("aac", "m4a", "codec: aac, bitrate: 384k", ["-c:a", "aac", "-b:a", "384k"]),
        ("flac", "flac", "codec: flac", ["-c:a", "flac"]),
        ("opus", "opus", "codec: opus, bitrate: 256k", ["-c:a", "libopus", "-b:a", "256k"]),
        ("mp3", "mp3", "codec: mp3, bitrate: 192k, channels: stereo", ["-c:a", "libmp3lame", "-b:a", "192k", "-ac", "2"]),
    ):
        for peer_name, peer in peers():
            theirs = [peer, "-v", "error", "-nostdin", "-y", "-i", "surround.mkv", *options, f"ffmpeg.{container}"]
            # `ffmpeg` maps 5.1 to the layout that libopus accepts only if it is named.
            if name == "opus":
                theirs[-1:-1] = ["-af", "aformat=channel_layouts=5.1"]
            compare(f"2 min of 5.1 to {name}, vs. {peer_name}", job(name, container, settings), theirs,
                    outputs=(f"tandem-{name}.{container}", f"ffmpeg.{container}"))
    peer = os.environ.get("TANDEM_NORMALIZE")
    if not peer:
        return
    theirs = [peer, "surround.mkv", "-f", "-t", "-16", "-tp", "-1", "-ar", "48000", "-c:a", "aac", "-b:a", "384k", "-o", "normalized.m4a"]
    compare("2 min of 5.1 normalized to -16 LUFS, AAC, vs. ffmpeg-normalize",
            job("normalized", "m4a", "codec: aac, bitrate: 384k, normalize: -16"), theirs, outputs=("tandem-normalized.m4a", "normalized.m4a"))
