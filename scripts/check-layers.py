"""Checks the dependencies in `swift package dump-package` (standard input) against the layers in the comments of Package.swift
(argument), and the products against the targets that they must not contain. Then checks that tests name each type that decides,
and that collections keyed by paths compare bytes."""

import json
import pathlib
import re
import sys

# Layers whose targets may depend on each other. SwiftPM rejects cycles. In layer 10, the library of job files re-exports the
# media library.
SIDEWAYS = {0, 1, 11}
SIDEWAYS_TARGETS = {("TandemBatch", "TandemKit")}
# FFmpeg's headers are used by one target, and by tests that compare with FFmpeg.
FFMPEG = "CFFmpeg"
FFMPEG_IMPORTERS = {"LibAV", "MediaTests", "FidelityTests", "AttackTests"}
# Programs that only process media don't compile the runner of job files, its database, or the command line.
EXCLUDED = {
    "TandemKit": {"JobRun", "Engine", "CSandbox", "GRDB", "ArgumentParser"},
    "TandemBatch": {"ArgumentParser"},
}
# Folders of types that decide, with the names of these types. Some test must name each of them, since its decisions are tested
# without a run of the program.
DECIDING = {
    "Sources/JobPlan/Planning": r"\w+(?:Planner|Check|Lookup|Resolver|Finder|Selection)|ComposedClips|JoinedAudio|ShapedTrack",
    "Sources/JobPlan/Kinds": r"\w+(?:Planner|Check|Lookup|Resolver|Finder)",
    "Sources/JobPlan/Sources": r"\w+Finder|Globber",
    "Sources/JobRun/State": r"\w+Forecast",
    "Sources/PlanWork/Publishing": r"\w+",
    "Sources/PlanWork/Verification": r"\w+",
}

# Collections keyed by paths, which must be `ExactString`: Swift equates names that file systems distinguish.
KEYED_BY_PATHS = re.compile(r"\b(?:let|var) (?!formats)\w*(?:path|file|folder|destination|source|descriptions)\w*: (?:Set<String>|\[String: )", re.IGNORECASE)


def inexact():
    """Returns a problem for each collection that is keyed by paths and compares them by canonical equivalence."""
    problems = []
    for file in sorted(pathlib.Path("Sources").rglob("*.swift")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            # A name such as `pathsByName` states that the key isn't a path.
            if KEYED_BY_PATHS.search(line) and "ByName" not in line:
                problems.append(f"paths are compared as ExactString: {file}:{number}: {line.strip()}")
    return problems


def untested():
    """Returns a problem for each deciding type that no test names. Types inside of others aren't listed."""
    words = set()
    for file in pathlib.Path("Tests").rglob("*.swift"):
        words.update(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    problems = []
    for folder, name in DECIDING.items():
        declaration = re.compile(rf"(?:(?:package|public|final) )*(?:struct|class|enum|actor|protocol) ({name})\b", re.ASCII)
        for file in sorted(pathlib.Path(folder).rglob("*.swift")):
            for line in file.read_text(encoding="utf-8").splitlines():
                match = declaration.match(line)
                if match and match[1] not in words:
                    problems.append(f"no test names {match[1]} ({file})")
    return problems


def layers(text):
    layer, found = None, {}
    for line in text.splitlines():
        if match := re.match(r"\s*// Layer (\d+):", line):
            layer = int(match[1])
        elif match := re.search(r'name: "([A-Za-z]+)"', line):
            if layer is not None:
                found.setdefault(match[1], layer)
    return found


def named(dependency):
    return next((dependency[kind][0] for kind in ("byName", "target", "product") if dependency.get(kind)), None)


def reached(product, dependencies):
    """The targets and the products of other packages that a product's targets need."""
    found, pending = set(), list(product["targets"])
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += dependencies.get(name, [])
    return found


def main():
    layer = layers(open(sys.argv[1], encoding="utf-8").read())
    problems = []
    package = json.load(sys.stdin)
    dependencies = {
        target["name"]: [named(dependency) for dependency in target["dependencies"]] for target in package["targets"]
    }
    for name, others in dependencies.items():
        if name not in layer:
            problems.append(f"{name} follows no `// Layer N:` comment")
            continue
        for other in others:
            if other not in dependencies:
                continue
            if other == FFMPEG and name not in FFMPEG_IMPORTERS:
                problems.append(f"{name} depends on {FFMPEG}; use LibAV instead")
            is_sideways = layer[name] in SIDEWAYS or (name, other) in SIDEWAYS_TARGETS
            if layer[other] > layer[name] or (layer[other] == layer[name] and not is_sideways):
                problems.append(f"{name} (layer {layer[name]}) depends on {other} (layer {layer[other]})")
    products = {product["name"]: product for product in package["products"]}
    for name, excluded in EXCLUDED.items():
        if name not in products:
            problems.append(f"there is no product {name}")
            continue
        for other in sorted(reached(products[name], dependencies) & excluded):
            problems.append(f"the product {name} contains {other}")
    problems += untested() + inexact()
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if not problems:
        print(f"{len(dependencies)} targets in {len(set(layer.values()))} layers, {len(products)} products")
    sys.exit(1 if problems else 0)


main()
