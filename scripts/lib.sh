# Sourced by the other scripts: finds out what is missing and installs it. Bash alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m==>\033[0m %s (%d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Debian packages that building needs (the last two lines are what the Swift toolchain itself stands on), and those
# that testing needs on top.
build_packages=(
    pkg-config git ca-certificates libyaml-dev libavformat-dev libavcodec-dev libavutil-dev libswresample-dev
    libavfilter-dev libswscale-dev libseccomp-dev libdeflate-dev
    binutils g++ libc6-dev libcurl4-openssl-dev libedit-dev libncurses-dev libsqlite3-dev libxml2-dev tzdata
    zlib1g-dev
)
test_packages=(ffmpeg mediainfo openssl chromium libxml2-utils procps strace sqlite3 mount e2fsprogs exfat-fuse exfatprogs flac python3 python3-pil python3-numpy python3-jsonschema python3-yaml)

# need PACKAGE…: installs those that are not there, saying so.
need() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    command -v apt-get >/dev/null || die "missing: ${missing[*]} (and there is no apt-get to install them)"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "missing: ${missing[*]}; run as root, or install sudo"
        as_root=(sudo)
    fi
    say "Installing with apt-get: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

need_swift() {
    command -v swift >/dev/null || die "there is no swift on the PATH; Tandem needs Swift 6.2 or later (https://swift.org/install)"
}

# A release build with the Swift runtime inside it; `$tandem` is its path.
build_release() {
    say "Building (release)" >&2
    # The linker's note about mktemp is about Foundation's own code.
    # `scripts/test` builds beside tests, which lock .build, and without optimization.
    local folder=${TANDEM_RELEASE_FOLDER:-.build} flags
    read -ra flags <<<"${TANDEM_RELEASE_FLAGS:-}"
    swift build -c release --static-swift-stdlib --product tandem --scratch-path "$folder" "${flags[@]}" 2>&1 | grep -vE 'mktemp|^\s*$' >&2
    tandem="$(swift build -c release --static-swift-stdlib --scratch-path "$folder" --show-bin-path)/tandem"
}

# A debug build of the program, which the tests share; `$tandem` is its path. Encoders are C, so that it encodes about as fast.
build_debug() {
    say "Building (for debugging; scripts/install builds for release)" >&2
    swift build --product tandem >&2
    tandem="$(swift build --show-bin-path)/tandem"
}

# Tests run one group after the other: each uses all processors by itself.
test_groups=(BinaryCodingTests YAMLDocumentTests JobSpecTests JobPlanTests EngineTests MediaTests LibraryTests AttackTests CommandTests FidelityTests)
