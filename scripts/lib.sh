# Functions for the other scripts, which source this file: installing missing packages, and building. Requires only Bash.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# heading TEXT: prints the text, the time since the start, and the processor time of the commands that have ended.
heading() { printf '\033[1m==>\033[0m %s (%d:%02d, %d s of processor)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)) "$(processor_time)"; }

# Prints the processor time of this shell's commands that have ended, in seconds.
processor_time() {
    local fields; fields=$(<"/proc/$$/stat")
    read -ra fields <<<"${fields##*) }"
    echo $(((fields[13] + fields[14]) / $(getconf CLK_TCK)))
}

die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Debian packages required for building (the last two lines are dependencies of the Swift toolchain), and those
# additionally required for testing.
build_packages=(
    pkg-config git ca-certificates libyaml-dev libavformat-dev libavcodec-dev libavutil-dev libswresample-dev
    libavfilter-dev libswscale-dev libseccomp-dev libdeflate-dev
    binutils g++ libc6-dev libcurl4-openssl-dev libedit-dev libncurses-dev libsqlite3-dev libxml2-dev tzdata
    zlib1g-dev
)
test_packages=(slurm-wlm munge ffmpeg mediainfo gdb openssl chromium libxml2-utils procps strace sqlite3 mount e2fsprogs exfat-fuse exfatprogs flac python3 python3-pil python3-numpy python3-jsonschema python3-yaml)

# The name of the wheel on PyPI, and of its folder of libraries. The name `tandem` belongs to another project there.
wheel_name=tandem-media

# need PACKAGE…: installs missing packages, and reports their names.
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
    heading "Installing with apt-get: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

need_swift() {
    command -v swift >/dev/null || die "there is no swift on the PATH; Tandem needs Swift 6.2 or later (https://swift.org/install)"
}

# Flags with which modules compile in parallel with the modules that they import: interfaces are written first, and nothing is
# inlined from one module into another. The option is deprecated, so that it is used only while `swift build` has it.
overlapping_modules() {
    local help; help=$(swift build --help-hidden)
    [[ $help != *--use-integrated-swift-driver* ]] || echo "--use-integrated-swift-driver -Xswiftc -disable-cmo"
}

# Flags for linking as Debian's packages are: data that is constant once the program has started is read-only, including the
# tables of functions. GNU ld, the default where gold isn't installed, leaves all constant data of Swift programs writable;
# lld is part of the toolchain.
hardening=(-Xswiftc -use-ld=lld -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now)

# Builds for release with the Swift runtime linked statically; sets `tandem` to the program's path.
build_release() {
    heading "Building (release)" >&2
    # The linker warns about a use of mktemp in Foundation, `swift build` about the option.
    # `scripts/test` sets the folder and the flags: it builds while the tests lock .build, and without optimization.
    local folder=${TANDEM_RELEASE_FOLDER:-.build} flags
    read -ra flags <<<"$(overlapping_modules) ${hardening[*]} ${TANDEM_RELEASE_FLAGS:-}"
    swift build -c release --static-swift-stdlib --product tandem --scratch-path "$folder" "${flags[@]}" 2>&1 | grep -vE 'mktemp|option is deprecated|^\s*$' >&2
    tandem="$(swift build -c release --static-swift-stdlib --scratch-path "$folder" --show-bin-path)/tandem"
}

# Builds for debugging, as the tests do; sets `tandem` to the program's path. Encoders are C libraries, so encoding is about as fast.
build_debug() {
    heading "Building (for debugging; scripts/install builds for release)" >&2
    swift build --product tandem >&2
    tandem="$(swift build --show-bin-path)/tandem"
}

# Builds with AddressSanitizer and the instrumentation of libFuzzer in .build/asan, for `scripts/fuzz` and for the tests under
# the sanitizer. The linker warns for each instrumented access that it can't export a symbol of the sanitizer.
build_address_sanitized() {
    local runtime
    runtime=("$(dirname "$(readlink -f "$(command -v swiftc)")")"/../lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a)
    [ -e "${runtime[0]}" ] || die "libFuzzer is not in the toolchain"
    mkdir -p .build
    TANDEM_FUZZ=1 swift build "$@" --scratch-path .build/asan --sanitize=address -Xswiftc -gline-tables-only \
        -Xswiftc -sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table \
        -Xlinker "${runtime[0]}" -Xlinker -lstdc++ >.build/asan.log 2>&1 ||
        { grep -v 'Cannot export local symbol' .build/asan.log | tail -n 30; die "building with AddressSanitizer failed"; }
}

# Groups of tests run one after the other, because each uses all processors.
test_groups=(BinaryCodingTests YAMLDocumentTests StreamingTests JobSpecTests JobPlanTests JobRunTests EngineTests MediaTests LibraryTests AttackTests CommandTests FidelityTests)
