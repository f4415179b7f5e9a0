#!/usr/bin/env python3
"""Runs several figures of the judge on one source and output: `figures.py JUDGE SOURCE OUTPUT [--range S E] -- FIGURE…`.

Prints a line of JSON per figure. The figures run the same commands, each of which decodes the whole source: seven times for `pts`
and `frames`. So the output of a command is kept for the others, and with a range, the source is read until two seconds after it.
"""
import contextlib, io, runpy, subprocess, sys

judge, source, output, *rest = sys.argv[1:]
split = rest.index("--")
ranges, figures = rest[:split], rest[split + 1:]
run, known = subprocess.run, {}


def shortened(command):
    """Returns a command of ffmpeg or ffprobe that reads the source until two seconds after the range."""
    if not ranges or source not in command or "-read_intervals" in command:
        return command
    length = str(float(ranges[2]) + 2)
    if command[0] == "ffprobe":
        return [command[0], "-read_intervals", "%+" + length, *command[1:]]
    position = command.index(source) - 1
    return [*command[:position], "-t", length, *command[position:]]


def remembered(command, **options):
    command = shortened(list(command))
    key = (tuple(command), tuple(sorted(options.items())))
    if key not in known:
        known[key] = run(command, **options)
    return known[key]


subprocess.run = remembered
for figure in figures:
    sys.argv = [judge, figure, source, output, *ranges]
    lines = io.StringIO()
    with contextlib.redirect_stdout(lines):
        runpy.run_path(judge, run_name="__main__")
    print(lines.getvalue().strip(), flush=True)
