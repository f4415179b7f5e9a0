"""Rejects declarations in Sources whose name occurs nowhere else, in sources, tests or the fuzzer."""

import collections
import os
import re
import subprocess
import sys

# Names that are used only by the standard library's protocols, the compiler or `Codable`.
REQUIRED = {
    "allKeys": "KeyedDecodingContainerProtocol",
    "columnKind": "a key of SARIF",
    "unownedExecutor": "Actor",
    "checkIsolated": "SerialExecutor",
    "Program": "@main",
    "failureReason": "LocalizedError",
    "helpAnchor": "LocalizedError",
}
DECLARATION = re.compile(
    r"^\s*(?:@?[a-z]+(?:\([^)]*\))?\s+)*(?:func|var|let|struct|class|enum|protocol|typealias|actor)\s+`?([A-Za-z_]\w*)`?"
)
# A constant that only `Encodable` reads: a member of an encodable type, which is one level deeper than the type.
ENCODABLE = re.compile(r"^(\s*)(?:\w+ )*struct \w+: .*(?:Encodable|Codable)")
CONSTANT = re.compile(r"^(\s*)let `?\w+`? = ")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def encoded_constants(lines):
    """Returns the places of constants of encodable types, as (path, line number)."""
    places, encodable = set(), {}
    for path, number, line in lines:
        if number == 1:
            encodable = {}
        # A type ends with a brace as deep as its first line.
        if match := re.match(r"^(\s*)}", line):
            encodable = {depth: value for depth, value in encodable.items() if depth < len(match[1])}
        if match := re.match(r"^(\s*)(?:\w+ )*(?:struct|class|enum|extension|actor|protocol) ", line):
            encodable[len(match[1])] = bool(ENCODABLE.match(line))
        if (match := CONSTANT.match(line)) and encodable.get(len(match[1]) - 4):
            places.add((path, number))
    return places


def main():
    names = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "Sources", "Tests", "Fuzz"], text=True)
    lines = []
    for path in names.split():
        if path.endswith((".swift", ".c", ".h")) and os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                lines += [(path, number, line.split("//")[0]) for number, line in enumerate(file, 1)]
    uses = collections.Counter(word for _, _, line in lines for word in WORD.findall(line))
    encoded = encoded_constants(lines)
    found = [
        f"{path}:{number}: `{match[1]}` is unused"
        for path, number, line in lines
        if path.startswith("Sources/") and path.endswith(".swift")
        for match in [DECLARATION.match(line)]
        if match and uses[match[1]] == 1 and match[1] not in REQUIRED and (path, number) not in encoded
    ]
    print("\n".join(found), file=sys.stderr)
    sys.exit(1 if found else 0)


main()
