"""Collects the libraries of a program, and writes a wheel that contains both (PEP 427, 600, 639, 770).

The libraries are in the scheme's folder `data`, which pip places beside `bin`: PREFIX/bin/tandem finds PREFIX/lib/NAME. With the same
inputs and SOURCE_DATE_EPOCH, the wheel has the same bytes: entries are sorted, with fixed modes and times."""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import sys
import time
import zipfile

from debian_packages import output_of, package_of

# Libraries that every system with the glibc of the tag has (PEP 600): glibc, and the runtime of GCC, of which drivers that are loaded from
# the system may require a later version.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s|mvec|anl|nsl))\.so(\.\d+)*$")
PROJECT_LICENCES = ["LICENSE"]
SUMMARY = "Declarative batch runner for media: YAML job files, planned, run in a sandbox, and checked"


def collect(arguments):
    """Copies the libraries, and lists each: name, path, package, version, source package, version of the source package."""
    found = {}
    for file in [arguments.program, arguments.loaded]:
        text = output_of("ldd", file)
        if missing := re.findall(r"(\S+) => not found", text):
            sys.exit(f"error: missing libraries of {file}: {', '.join(missing)}")
        found |= re.findall(r"^\s*(\S+) => (/\S+)", text, re.MULTILINE)
    soname = re.search(r"SONAME\s+(\S+)", output_of("objdump", "-p", arguments.loaded))[1]
    found[soname] = arguments.loaded
    with open(arguments.list, "w", encoding="utf-8") as lines:
        for name, path in sorted(found.items()):
            if SYSTEM.match(name):
                continue
            path = os.path.realpath(path)
            if re.search(r"R(UN)?PATH", output_of("objdump", "-p", path)):
                sys.exit(f"error: {path} has a search path of its own")
            shutil.copyfile(path, f"{arguments.folder}/{name}")
            lines.write("\t".join([name, path, *package_of(path)]) + "\n")


def platform_tag(files):
    """Returns the tag of the oldest glibc with the symbols that the files require."""
    newest = (0, 0)
    for file in files:
        for major, minor in re.findall(r"\bGLIBC_(\d+)\.(\d+)", output_of("objdump", "-p", file)):
            newest = max(newest, (int(major), int(minor)))
    return f"manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}"


def metadata(arguments, packages, licences):
    """Returns METADATA. The description states what the libraries imply for those who distribute the wheel."""
    sources = sorted({(source, version) for *_, source, version in packages})
    headers = [
        "Metadata-Version: 2.4",
        f"Name: {arguments.name}",
        f"Version: {arguments.version}",
        f"Summary: {SUMMARY}",
        "License-Expression: Apache-2.0 AND GPL-3.0-or-later",
        *[f"License-File: {name}" for name in licences],
        "Keywords: ffmpeg,video,audio,transcoding,batch",
        "Classifier: Environment :: Console",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Topic :: Multimedia :: Video :: Conversion",
        "Requires-Python: >=3.7",
        "Description-Content-Type: text/markdown",
    ]
    body = [
        "# Tandem",
        "",
        "Tandem reads YAML files that describe media jobs: sources, time ranges, tracks, encoder settings, destinations and expectations. It",
        "validates the files, plans each output, runs the jobs in sandboxed worker processes over FFmpeg's libraries, and checks each finished",
        "file before it is published. This wheel contains the program `tandem` and its libraries; it contains no Python module.",
        "",
        "## Licences",
        "",
        "The program is licensed under the Apache License 2.0. The libraries are unmodified copies of those in Debian's packages, among them",
        "FFmpeg with GPL components, x264 and x265, so that the wheel as a whole is distributed under the GNU General Public License, version 3",
        "or later. The folder `licenses` contains the licence of each package. Debian publishes the corresponding sources at",
        "https://snapshot.debian.org/package/SOURCE/VERSION/, with these names and versions:",
        "",
        *[f"- {source} {version}" for source, version in sources],
    ]
    return "\n".join(headers) + "\n\n" + "\n".join(body) + "\n"


def write(arguments):
    """Writes the wheel, and prints its name."""
    rows = [line.split("\t") for line in pathlib.Path(arguments.list).read_text(encoding="utf-8").splitlines()]
    packages = sorted({tuple(row[2:]) for row in rows})
    libraries = sorted(pathlib.Path(arguments.folder).iterdir())
    tag = f"py3-none-{platform_tag([arguments.program, *libraries])}"
    stem = f"{arguments.name.replace('-', '_')}-{arguments.version}"
    information, data = f"{stem}.dist-info", f"{stem}.data"

    licences = {name: pathlib.Path(name).read_bytes() for name in PROJECT_LICENCES}
    licences["copyright"] = pathlib.Path(arguments.copyright).read_bytes()
    for name, *_ in packages:
        licences[f"{name}/copyright"] = pathlib.Path(f"/usr/share/doc/{name}/copyright").read_bytes()
    # Debian's copyright files refer to the texts of frequent licences in this folder.
    for text in sorted(pathlib.Path("/usr/share/common-licenses").iterdir()):
        if not text.is_symlink():
            licences[f"common-licenses/{text.name}"] = text.read_bytes()

    entries = {f"{data}/scripts/tandem": (pathlib.Path(arguments.program).read_bytes(), 0o755)}
    for library in libraries:
        entries[f"{data}/data/lib/{arguments.name}/{library.name}"] = (library.read_bytes(), 0o644)
    for name, content in licences.items():
        entries[f"{information}/licenses/{name}"] = (content, 0o644)
    entries[f"{information}/sboms/{arguments.name}.spdx.json"] = (pathlib.Path(arguments.bill).read_bytes(), 0o644)
    wheel = f"Wheel-Version: 1.0\nGenerator: {arguments.name} {arguments.version}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    entries[f"{information}/WHEEL"] = (wheel.encode(), 0o644)
    entries[f"{information}/METADATA"] = (metadata(arguments, packages, sorted(licences)).encode(), 0o644)
    # PEP 427 recommends the folder .dist-info at the end of the archive.
    names = sorted(entries, key=lambda name: (name.startswith(information), name))

    record = []
    for name in names:
        digest = base64.urlsafe_b64encode(hashlib.sha256(entries[name][0]).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(entries[name][0])}\n")
    record.append(f"{information}/RECORD,,\n")
    entries[f"{information}/RECORD"] = ("".join(record).encode(), 0o644)

    moment = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    file = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(f"{arguments.output}/{file}", "w") as archive:
        for name in [*names, f"{information}/RECORD"]:
            content, mode = entries[name]
            entry = zipfile.ZipInfo(name, moment)
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    print(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting, writing = commands.add_parser("collect"), commands.add_parser("write")
    for name in ["program", "loaded", "folder", "list"]:
        collecting.add_argument(f"--{name}", required=True)
    for name in ["name", "version", "program", "folder", "list", "copyright", "bill", "output"]:
        writing.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    {"collect": collect, "write": write}[arguments.command](arguments)


main()
