# Functions for the scripts that package the program.

# Prints the version of a program.
program_version() {
    local version; version=$("$1" --version | cut -d ' ' -f 2)
    [[ $version =~ ^[0-9]+(\.[0-9]+)+$ ]] || die "not a version: $version"
    echo "$version"
}

# Prints the path of libavfilter, which is loaded at run time, so that the program doesn't list it.
libavfilter_path() { readlink -f "$(pkg-config --variable=libdir libavfilter)/libavfilter.so"; }

# The time of the last commit, in place of the present, makes packages reproducible.
set_source_date() {
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$PWD" log -1 --format=%ct 2>/dev/null || date +%s)}
    export SOURCE_DATE_EPOCH
}

# package_documents OPTION…: writes the licences and the bill of materials.
package_documents() {
    python3 scripts/package-documents.py --toolchain "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")" "$@"
}
