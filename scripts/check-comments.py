"""Rejects doc comments that begin with a pronoun or a relative clause, and those that repeat the name of the declaration.
`--list` prints the findings with status 0; without it, they are errors."""

import os
import re
import subprocess
import sys

OPENING = re.compile(
    r"^(?:It|Its|They|Their|Them|He|His|She|Her|This|That|These|Those|What|Whatever|Who|Whoever|Whom|Whose|Where|Wherever|When|"
    r"Which|How|Why|Whether it|Of|Nobody|Somebody|Everybody|Everything|Something|Nothing|Here|There|And|But|Because)\b"
    r"|^(?:As (?:it|they)|By (?:how|what|which)|(?:At|For|From|In|On|To|With|Without) (?:what|which|whom))\b"
)
# Words that are pronouns only if a verb or "of them" follows: "One packet" names its subject, "One is enough" doesn't.
PRONOUN = re.compile(
    r"^(?:All|Another|Any|Both|Each|Either|Few|Many|Most|Neither|None|One|Others|Some|Such)\s+"
    r"(?:of (?:it|its|them|these|those)|(?:is|are|was|were|has|have|had|does|do|did|can|could|may|might|must|will|would|need|"
    r"shall|should)(?:n[o']?t)?|says?|tells?|stands?|gives?|goes|go|comes?|stays?|makes?|takes?|keeps?|begins?|holds?|"
    r"lasts?|means?|wants?|knows?|fits?|remains?|belongs?|follows?)\b(?!-)"
    r"|^Same\s+(?:as|for|but|in|of|once|when|where|with)\b"
    r"|^Not\s+(?:a|an|all|any|at|by|every|for|here|if|in|of|on|once|the|there|when|where|while|with)\b"
)
# Noun phrases that begin with one of those words.
ALLOWED = re.compile(r"^(?:Whether|How (?:many|much|often|long))\b")
DECLARATION = re.compile(r"\b(?:func|var|let|case|struct|class|enum|protocol|typealias|init|subscript|actor)\b\s*`?(\w*)`?")


def words(text):
    return re.findall(r"[a-z]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).lower())


def findings(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines):
        text = line.strip()
        if not text.startswith("/// ") or (number and lines[number - 1].strip().startswith("///")):
            continue
        first = text[4:]
        if PRONOUN.match(first) or OPENING.match(first) and not ALLOWED.match(first):
            yield number + 1, "begins with a pronoun or a clause", text
            continue
        end = number
        while lines[end].strip().startswith("///"):
            end += 1
        if end - number != 1:
            continue
        name = DECLARATION.search(lines[end].split("//")[0]) if end < len(lines) else None
        content = [word for word in words(first) if word not in ("the", "a", "an", "its", "of")]
        if name and name[1] and content == [word for word in words(name[1]) if word not in ("the", "a", "an", "its", "of")]:
            yield number + 1, "repeats the name", text


def main():
    everything = "--list" in sys.argv
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("-")] or ["Sources"]
    paths = subprocess.check_output(["git", "ls-files", "--cached", "--others", "--exclude-standard"] + folders, text=True)
    count = 0
    for path in paths.split("\n"):
        if not path.endswith(".swift") or not os.path.exists(path):
            continue
        for number, why, text in findings(path):
            count += 1
            print(f"{path}:{number}: doc comment {why}: {text}", file=sys.stdout if everything else sys.stderr)
    sys.exit(1 if count and not everything else 0)


main()
