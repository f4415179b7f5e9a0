#!/usr/bin/env python3
"""Compares tandem with ffmpeg at the same settings: whole processes, alternating, and medians of the ratios of each pair."""
import os, shutil, sys

from audio import audio
from batches import batches
from caches import caches
from compositions import compositions
from cuts import cuts
from encodes import chunks, dense, encodes, ladder, memory, remux
from language import language
from packages import packages
from stills import posters, stills
from timing import sh, work

# 30 s of 720p with audio: real footage if it exists, otherwise generated.
media = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/media"))
real = f"{media}/example.mp4"
if os.path.exists(real):
    sh("ffmpeg", "-v", "error", "-y", "-i", real, "-t", "30", "-c", "copy", "source.mp4")
else:
    sh("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-f", "lavfi", "-i",
       "aevalsrc='0.2*sin(440*2*PI*t)+0.2*sin(554*2*PI*t)+0.1*sin(2*PI*(100+20*t)*t)':s=48000", "-t", "30", "-c:v", "libx264", "-preset",
       "veryfast", "-pix_fmt", "yuv420p", "-ac", "2", "-c:a", "aac", "-b:a", "160k", "source.mp4")
print("source:", "real footage" if os.path.exists(real) else "generated")

parts = {"encodes": encodes, "audio": audio, "dense": dense, "chunks": chunks, "remux": remux, "ladder": ladder, "stills": stills, "posters": posters,
         "compositions": compositions, "cuts": lambda: cuts(media), "batches": batches, "memory": memory, "language": language,
         "packages": packages, "caches": caches}
try:
    for name in sys.argv[3:] or parts:
        parts[name]()
finally:
    shutil.rmtree(work, ignore_errors=True)
