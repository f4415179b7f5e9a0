"""Debian packages of files, for the documents of the Debian package and of the wheel."""

import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def package_of(path):
    """Returns the Debian package that contains a file, its version, and its source package with version."""
    # Where /lib is a link to /usr/lib, a package may list either.
    for candidate in [path, path.removeprefix("/usr"), "/usr" + path]:
        result = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True, check=False)
        if result.returncode == 0:
            name = result.stdout.split(":")[0]
            fields = output_of("dpkg-query", "-W", "-f", "${Version} ${source:Package} ${source:Version}\n", name)
            return (name, *fields.splitlines()[0].split())
    sys.exit(f"error: no Debian package contains {path}")
