"""Writes the documents of a Debian package about its contents: the copyright file (machine-readable format 1.0) with the licences of
everything that is linked statically, and the software bill of materials (SPDX 2.3, JSON), which also lists the Debian packages of the
libraries that are linked dynamically."""

import argparse
import datetime
import glob
import hashlib
import json
import os
import pathlib
import re
import sys
import uuid

from debian_packages import output_of, package_of

APACHE = "Apache-2.0"
SWIFT = "Apache-2.0 WITH Swift-exception"
# Swift packages, with their licences and copyright holders. A dependency that isn't listed is an error.
PACKAGES = {
    "GRDB.swift": ("MIT", "2015-2025 Gwendal Roué"),
    "swift-argument-parser": (SWIFT, "2020-2025 Apple Inc. and the Swift project authors"),
    "swift-collections": (SWIFT, "2021-2025 Apple Inc. and the Swift project authors"),
    "swift-subprocess": (SWIFT, "2025 Apple Inc. and the Swift project authors"),
    "swift-system": (SWIFT, "2020-2025 Apple Inc. and the Swift project authors"),
}
HOLDER = "Tandem's authors"


def licence_text(folder):
    """Returns the text of the licence in a folder."""
    files = sorted(glob.glob(f"{folder}/LICENSE*"))
    if not files:
        sys.exit(f"error: {folder} has no licence")
    return pathlib.Path(files[0]).read_text(encoding="utf-8")


def pins(checkouts):
    """Returns the resolved Swift packages: name, version, revision and location."""
    resolved = json.loads(pathlib.Path("Package.resolved").read_text(encoding="utf-8"))["pins"]
    found = []
    for pin in resolved:
        name = pin["location"].rstrip("/").removesuffix(".git").rsplit("/", 1)[1]
        if name not in PACKAGES:
            sys.exit(f"error: {name} is not in scripts/package-documents.py")
        if not pathlib.Path(checkouts, name).is_dir():
            sys.exit(f"error: {name} is not checked out in {checkouts}")
        found.append((name, pin["state"]["version"], pin["state"]["revision"], pin["location"]))
    return found


def toolchain_version():
    """Returns the version of the Swift toolchain, whose runtime libraries are linked statically."""
    return re.search(r"Swift version (\S+)", output_of("swift", "--version"))[1]


def libraries(program, loaded):
    """Returns the Debian packages of the libraries that the program needs, and of those that `loaded` lists, with their versions."""
    needed = re.findall(r"NEEDED\s+(\S+)", output_of("objdump", "-p", program))
    paths = dict(re.findall(r"^\s*(\S+) => (\S+)", output_of("ldd", program), re.MULTILINE))
    found = {}
    for path in loaded + [os.path.realpath(paths[name]) for name in needed if name in paths]:
        package, version, *_ = package_of(path)
        found[package] = version
    return sorted(found.items())


def indented(text):
    """Returns a text in the form of a field's continuation lines."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.strip().splitlines())


def copyright_file(arguments, packages):
    """Returns the copyright file. Licences that Debian has in common-licenses are referred to."""
    swift_text = licence_text(f"{arguments.toolchain}/share/swift")
    exception = swift_text[swift_text.index("## Runtime Library Exception") :].strip()
    lines = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
        "Upstream-Name: Tandem",
        "Comment: The program contains the Swift packages and the runtime libraries below, which are linked statically.",
        "",
        "Files: *",
        f"Copyright: {HOLDER}",
        f"License: {APACHE}",
    ]
    for name, version, _, location in packages:
        licence, holder = PACKAGES[name]
        lines += ["", f"Files: {name}/*", f"Copyright: {holder}", f"License: {debian_name(licence)}",
                  f"Comment: {location}, version {version}, inside of usr/bin/tandem."]  # fmt: skip
    lines += ["", "Files: swift-runtime/*", "Copyright: 2014-2025 Apple Inc. and the Swift project authors",
              f"License: {debian_name(SWIFT)}",
              f"Comment: Swift's standard library, Foundation and Dispatch, version {toolchain_version()}, inside of usr/bin/tandem.",
              "", "Files: swift-runtime/icu/*", "Copyright: 2016-2024 Unicode, Inc.", "License: Unicode",
              "Comment: ICU, as contained in Foundation."]  # fmt: skip
    lines += ["", f"License: {APACHE}", " The text of the license is in /usr/share/common-licenses/Apache-2.0."]
    lines += ["", f"License: {debian_name(SWIFT)}",
              " The text of the license is in /usr/share/common-licenses/Apache-2.0, with this exception:", " .", indented(exception)]  # fmt: skip
    lines += ["", "License: MIT", indented(licence_text(f"{arguments.checkouts}/GRDB.swift"))]
    lines += ["", "License: Unicode", indented(unicode_licence())]
    return "\n".join(lines) + "\n"


def debian_name(licence):
    """Returns the short name of a licence in copyright files."""
    return licence.replace(" WITH Swift-exception", " with Swift exception")


def unicode_licence():
    """Returns ICU's licence, as Debian's package of ICU states it."""
    files = sorted(glob.glob("/usr/share/doc/libicu[0-9]*/copyright"))
    if not files:
        sys.exit("error: the licence of ICU is missing: no package libicu… is installed")
    text = pathlib.Path(files[-1]).read_text(encoding="utf-8")
    return text[text.index("Copyright:") :].split("\n\nFiles: debian/*")[0]


def bill(arguments, packages):
    """Returns the bill of materials."""
    digest = hashlib.sha256(pathlib.Path(arguments.program).read_bytes()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)

    def entry(identifier, name, version, licence, location="NOASSERTION", reference=None):
        value = {
            "SPDXID": f"SPDXRef-{identifier}",
            "name": name,
            "versionInfo": version,
            "downloadLocation": location,
            "filesAnalyzed": False,
            "licenseConcluded": licence,
            "licenseDeclared": licence,
            "copyrightText": "NOASSERTION",
        }
        if reference:
            value["externalRefs"] = [
                {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}
            ]
        return value

    program = entry("tandem", "tandem", arguments.version, APACHE)
    program["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    program["packageFileName"] = "usr/bin/tandem"
    program["primaryPackagePurpose"] = "APPLICATION"
    entries = [program]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-tandem")]
    for name, version, revision, location in packages:
        identifier = f"swift-package-{name}".replace("_", "-")
        path = location.split("://", 1)[-1].removesuffix(".git")
        entries.append(entry(identifier, name, version, PACKAGES[name][0], f"git+{location}@{revision}", f"pkg:swift/{path}@{version}"))
        relations.append(("SPDXRef-tandem", "STATIC_LINK", f"SPDXRef-{identifier}"))
    entries.append(entry("swift-runtime", "swift", toolchain_version(), SWIFT))
    relations.append(("SPDXRef-tandem", "STATIC_LINK", "SPDXRef-swift-runtime"))
    distribution = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE))
    for name, version in libraries(arguments.program, arguments.loaded):
        identifier = "deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        reference = f"pkg:deb/debian/{name}@{version}?distro={distribution['ID']}-{distribution['VERSION_ID']}"
        entries.append(entry(identifier, name, version, "NOASSERTION", reference=reference.replace("+", "%2B")))
        relations.append(("SPDXRef-tandem", "DYNAMIC_LINK", f"SPDXRef-{identifier}"))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": arguments.name,
        "documentNamespace": f"https://tandem.example/spdx/{arguments.name}-{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: tandem-package"]},
        "packages": entries,
        "relationships": [
            {"spdxElementId": first, "relationshipType": relation, "relatedSpdxElement": second}
            for first, relation, second in relations
        ],
    }


def main():
    parser = argparse.ArgumentParser()
    for name in ["version", "program", "checkouts", "toolchain", "name", "copyright", "bill"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--loaded", required=True, nargs="+", help="libraries that the program doesn't list as needed")
    arguments = parser.parse_args()
    packages = pins(arguments.checkouts)
    pathlib.Path(arguments.copyright).write_text(copyright_file(arguments, packages), encoding="utf-8")
    pathlib.Path(arguments.bill).write_text(json.dumps(bill(arguments, packages), indent=2) + "\n", encoding="utf-8")


main()
