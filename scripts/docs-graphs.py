"""Extracts the symbol graphs of a library from the modules of the debug build to a folder, for docc: `docs-graphs.py LIBRARY FOLDER`, or prints their number of declarations
without a folder. Symbols of all re-exported targets are assigned to the library's module, through which programs import them; those of
another library have a page of their own.

Reports public types that the documentation omits, with status 1: each is in a topic of the library's page. In TandemKit, each class and
protocol, and each type with many members, has a page in the folder Types, with an overview, an example and topics of all members."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIBRARIES = {"TandemKit", "TandemBatch"}
LIBRARIES_WITH_PAGES = {"TandemKit"}
# Types with at least this number of members have a page.
MANY = 12
TYPES = {"swift.class", "swift.struct", "swift.enum", "swift.protocol"}


def exported(module):
    """The module, and the modules that its files re-export."""
    found = {module}
    for path in glob.glob(f"Sources/{module}/*.swift"):
        for line in open(path, encoding="utf-8"):
            if match := re.match(r"@_exported public import (\w+)", line):
                if match[1] not in LIBRARIES:
                    found |= exported(match[1])
    return found


def links(text):
    """The symbols that the topics of a page list, without the suffixes that distinguish overloads."""
    topics = text.partition("\n## Topics\n")[2]
    return {re.sub(r"(?<=.)-(\(.*\)|[a-z0-9.]+)$", "", link) for link in re.findall(r"^- ``(.+)``$", topics, re.M)}


def problems(library, graphs):
    """Types and members of a library that its documentation omits."""
    symbols, members = {}, {}
    for graph in graphs:
        for symbol in graph["symbols"]:
            symbols[symbol["identifier"]["precise"]] = symbol
        for relation in graph["relationships"]:
            if relation["kind"] in ("memberOf", "requirementOf", "optionalRequirementOf"):
                members.setdefault(relation["target"], set()).add(relation["source"])
    folder = f"Sources/{library}/{library}.docc"
    listed = links(open(f"{folder}/{library}.md", encoding="utf-8").read())
    for key, symbol in sorted(symbols.items(), key=lambda item: item[1]["pathComponents"]):
        name, kind = symbol["pathComponents"][-1], symbol["kind"]["identifier"]
        for line in symbol.get("docComment", {}).get("lines", []):
            if line["text"].startswith("```"):
                yield f"{'.'.join(symbol['pathComponents'])}: its comment contains an example, which isn't compiled; use a page in Types"
        if len(symbol["pathComponents"]) > 1 or kind not in TYPES:
            continue
        if name not in listed:
            yield f"{name} is in no topic of {library}.md"
        if library not in LIBRARIES_WITH_PAGES:
            continue
        own = {symbols[member]["pathComponents"][-1] for member in members.get(key, ()) if member in symbols}
        path = f"{folder}/Types/{name}.md"
        if not os.path.exists(path):
            if kind in ("swift.class", "swift.protocol") or len(own) >= MANY:
                yield f"{name} has no page {path}"
            continue
        text = open(path, encoding="utf-8").read()
        overview = text.partition("\n## Topics\n")[0].partition("```swift\n")
        if not overview[1] or len(overview[0].split()) < 15:
            yield f"{path} has no overview, or no example"
        topics = links(text)
        for member in sorted(own - topics):
            yield f"{name}.{member} is in no topic of {path}"


def extract(modules, folder):
    """Writes the symbol graphs of modules of the debug build. The module maps of C targets are those with which it was compiled."""
    swift = os.path.dirname(os.path.realpath(shutil.which("swift")))
    words = [f"{swift}/swift-symbolgraph-extract", "-I", ".build/debug/Modules", "-output-dir", folder]
    words += ["-minimum-access-level", "public", "-skip-synthesized-members"]
    triple = os.path.basename(os.path.dirname(os.path.realpath(".build/debug")))
    words += ["-target", triple]
    with open(".build/debug.yaml", encoding="utf-8") as file:
        flags = re.findall(r'"(-fmodule-map-file=[^"]+|-I/usr/include[^"]*)"', file.read())
    for flag in sorted(set(flags)):
        words += ["-Xcc", flag]
    for module in sorted(modules):
        subprocess.run(words + ["-module-name", module], check=True)


def main():
    library, folder = sys.argv[1], (sys.argv[2:] or [None])[0]
    graphs = []
    extracted = tempfile.TemporaryDirectory()
    extract(exported(library), extracted.name)
    for path in glob.glob(f"{extracted.name}/*.symbols.json"):
        name = os.path.basename(path)
        graph = json.load(open(path, encoding="utf-8"))
        graphs.append(graph)
        if folder:
            graph["module"]["name"] = library
            # docc omits members that a graph `A@B` adds to types of B, which are types of the library here.
            with open(f"{folder}/{name.replace('@', '-')}", "w", encoding="utf-8") as file:
                json.dump(graph, file)
    if not folder:
        print(sum(len(graph["symbols"]) for graph in graphs))
    if found := list(problems(library, graphs)):
        sys.exit("\n".join(found))


main()
