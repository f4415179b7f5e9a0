"""Checks the dependencies in `swift package dump-package` (standard input) against the layers in the comments of Package.swift
(argument)."""

import json
import re
import sys

# Layers whose targets may depend on each other. SwiftPM rejects cycles.
SIDEWAYS = {0, 1, 9}
# FFmpeg's headers are used by one target, and by tests that compare with FFmpeg.
FFMPEG = "CFFmpeg"
FFMPEG_IMPORTERS = {"LibAV", "MediaTests", "FidelityTests", "AttackTests"}


def layers(text):
    layer, found = None, {}
    for line in text.splitlines():
        if match := re.match(r"\s*// Layer (\d+):", line):
            layer = int(match[1])
        elif match := re.search(r'name: "([A-Za-z]+)"', line):
            if layer is not None:
                found.setdefault(match[1], layer)
    return found


def main():
    layer = layers(open(sys.argv[1], encoding="utf-8").read())
    problems = []
    targets = json.load(sys.stdin)["targets"]
    names = {target["name"] for target in targets}
    for target in targets:
        name = target["name"]
        if name not in layer:
            problems.append(f"{name} follows no `// Layer N:` comment")
            continue
        for dependency in target["dependencies"]:
            other = (dependency.get("byName") or dependency.get("target") or [None])[0]
            if other not in names:
                continue
            if other == FFMPEG and name not in FFMPEG_IMPORTERS:
                problems.append(f"{name} depends on {FFMPEG}; use LibAV instead")
            if layer[other] > layer[name] or (layer[other] == layer[name] and layer[name] not in SIDEWAYS):
                problems.append(f"{name} (layer {layer[name]}) depends on {other} (layer {layer[other]})")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if not problems:
        print(f"{len(names)} targets in {len(set(layer.values()))} layers")
    sys.exit(1 if problems else 0)


main()
