#!/usr/bin/env bash
# Installs Tandem's Debian package, if it has the expected checksum.
#   TANDEM_PACKAGE  URL (https) or path of the package
#   TANDEM_SHA256   its SHA-256, 64 hexadecimal digits
# Under GitHub Actions, the installed version becomes the output `version`. Installs curl and Python as well if they are missing, as in
# Debian's container images: `actions/run` requires Python for comments.
set -euo pipefail

fail() {
    printf '::error title=tandem::%s\n' "$1"
    exit 1
}

source=${TANDEM_PACKAGE:-} expected=${TANDEM_SHA256:-}
[ -n "$source" ] || fail "TANDEM_PACKAGE is empty; expected a URL or a path of a Debian package"
[[ $expected =~ ^[0-9A-Fa-f]{64}$ ]] || fail "TANDEM_SHA256 must have 64 hexadecimal digits; SHA256SUMS beside the package contains it"

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
install_packages() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
"${as_root[@]}" apt-get update -qq
missing=()
command -v curl >/dev/null || missing+=(curl ca-certificates)
command -v python3 >/dev/null || missing+=(python3)
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# apt reads the package as another user.
chmod 755 "$folder"
package=$folder/tandem.deb
case $source in
    https://*)
        curl --fail --silent --show-error --location --proto '=https' --proto-redir '=https' --retry 3 --max-filesize 1G \
            --output "$package" -- "$source" || fail "the package can't be downloaded"
        ;;
    *://*) fail "the package must be a path, or a URL with https" ;;
    *) cp -- "$source" "$package" || fail "the package can't be read" ;;
esac

actual=$(sha256sum <"$package" | cut -d ' ' -f 1)
[ "$actual" = "${expected,,}" ] || fail "the package has the SHA-256 $actual, not ${expected,,}; it is not installed"

install_packages "$package"

version=$(tandem --version | cut -d ' ' -f 2)
[[ $version =~ ^[0-9]+(\.[0-9]+)+$ ]] || fail "the installed program reports no version"
[ -z "${GITHUB_OUTPUT:-}" ] || printf 'version=%s\n' "$version" >>"$GITHUB_OUTPUT"
printf 'Tandem %s is installed\n' "$version"
