"""Copies the symbol graphs of a library to a folder, for docc: `docs-graphs.py LIBRARY FOLDER`, or prints their number of declarations
without a folder. Symbols of all re-exported targets are assigned to the library's module, through which programs import them; those of
another library have a page of their own."""

import glob
import json
import os
import re
import sys

LIBRARIES = {"TandemKit", "TandemBatch"}


def exported(module):
    """The module, and the modules that its files re-export."""
    found = {module}
    for path in glob.glob(f"Sources/{module}/*.swift"):
        for line in open(path, encoding="utf-8"):
            if match := re.match(r"@_exported public import (\w+)", line):
                if match[1] not in LIBRARIES:
                    found |= exported(match[1])
    return found


def main():
    library, folder = sys.argv[1], (sys.argv[2:] or [None])[0]
    modules = exported(library)
    count = 0
    for path in glob.glob(".build/*/symbolgraph/*.symbols.json"):
        name = os.path.basename(path)
        if name.removesuffix(".symbols.json").split("@")[0] not in modules:
            continue
        graph = json.load(open(path, encoding="utf-8"))
        count += len(graph["symbols"])
        if folder:
            graph["module"]["name"] = library
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                json.dump(graph, file)
    if not folder:
        print(count)


main()
