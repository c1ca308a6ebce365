#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing: Debian packages and a virtual environment .venv with the pinned wheels of requirements.txt.
#   scripts/setup.sh [--for quickstart|test] [--no-packages]
# quickstart.sh and test.sh source it and call set_up; a second run only looks, and takes well under a second.
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

# Builds hone and its bundles. binutils also joins the kernels of each bundle.
readonly BUILD_PACKAGES=(
  binutils ca-certificates ccache g++ git libbenchmark-dev libboost-program-options-dev libfmt-dev libgmock-dev libgtest-dev
  libonnx-dev libprotobuf-dev libsqlite3-dev libsqlitecpp-dev libssl-dev libstb-dev ninja-build nlohmann-json3-dev
  python3-dev python3-venv
)
# Formatter, linter, spelling, and the arm64 toolchain with its emulator.
readonly TEST_PACKAGES=(
  clang-format clang-tidy codespell g++-aarch64-linux-gnu qemu-user
)
readonly FREE_MEGABYTES_NEEDED=3000

check_machine() {
  local free
  [[ "$(uname -s)" == Linux ]] || fail "hone is set up on Linux, this is $(uname -s)" "Use a Debian 12 machine or container"
  [[ "$(uname -m)" == x86_64 ]] ||
    fail "unsupported architecture $(uname -m)" "hone tunes on x86-64 so far (arm64 is a target it builds for): use an x86-64 machine"
  [[ "$(grep -m1 '^flags' /proc/cpuinfo) " == *" avx2 "* ]] ||
    fail "this CPU has no AVX2" "hone's smallest x86 device is x86-avx2: use a CPU of 2013 or later, or expose its flags to this virtual machine"
  free=$(df --output=avail -m "$HONE_ROOT" | tail -n 1 | tr -d ' ')
  [[ -d "$HONE_ROOT/build/logs" ]] || ((free >= FREE_MEGABYTES_NEEDED)) ||
    fail "only $free MB are free in $HONE_ROOT" "Free up $FREE_MEGABYTES_NEEDED MB (wheels 800, build 900, models and logs), then run it again"
}

# Prints the packages of the arguments that are not installed.
missing_packages() {
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    awk -v wanted="$*" '$1 == "installed" { have[$2] = 1 } END { n = split(wanted, w, " "); for (i = 1; i <= n; i++) if (!have[w[i]]) print w[i] }'
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  dpkg --configure -a || return  # an earlier run may have been interrupted
  # Lists may be absent or too old to name files that the mirror still has: then fetch them and try once more.
  apt-get install -y --no-install-recommends "$@" ||
    { apt-get update && apt-get install -y --no-install-recommends "$@"; }
}

set_up_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is not Debian (no apt-get)" \
      "Use a Debian 12 machine or container, or install counterparts of the packages listed in scripts/setup.sh and pass --no-packages"
  fi
  grep -qs '^VERSION_ID="12"' /etc/os-release || note "note: tried on Debian 12 only; this is $(. /etc/os-release 2>/dev/null; echo "${PRETTY_NAME:-unknown}")"
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || fail "${#missing[@]} Debian packages are missing and this is not root" \
    "Run: sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}   Then run it again"
  step "Install ${#missing[@]} Debian packages" packages install_packages "${missing[@]}"
}

make_venv() {
  # /usr/bin/python3 by name: a python3 earlier in PATH may be one that the wheels don't fit.
  .venv/bin/python -m pip --version 2>/dev/null || { rm -rf .venv && /usr/bin/python3 -m venv .venv; } || return
  .venv/bin/python -m pip install --disable-pip-version-check --only-binary :all: --no-deps -r scripts/requirements.txt &&
    venv_stamp >.venv/hone-requirements.sha256
}
venv_stamp() { { /usr/bin/python3 --version && cat scripts/requirements.txt; } | sha256sum; }

set_up_python() {
  [[ -x /usr/bin/python3 ]] || fail "/usr/bin/python3 is missing" "Install Debian's python3 and python3-venv, then run it again"
  [[ -f .venv/hone-requirements.sha256 && "$(venv_stamp)" == "$(<.venv/hone-requirements.sha256)" ]] && return 0
  step "Install $(grep -c == scripts/requirements.txt) Python wheels into .venv (Halide, CMake, ONNX)" wheels make_venv
}

# set_up quickstart|test [--no-packages]
set_up() {
  local packages=("${BUILD_PACKAGES[@]}")
  [[ "$1" == test ]] && packages+=("${TEST_PACKAGES[@]}")
  check_machine
  [[ "${2:-}" == --no-packages ]] || set_up_packages "${packages[@]}"
  set_up_python
}

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
  purpose=quickstart no_packages=
  while (($#)); do
    case "$1" in
      --for) purpose=${2:-} && shift ;;
      --no-packages) no_packages=$1 ;;
      *) purpose= ;;
    esac
    shift
  done
  [[ "$purpose" == quickstart || "$purpose" == test ]] ||
    { echo "usage: scripts/setup.sh [--for quickstart|test] [--no-packages]" >&2; exit 2; }
  set_up "$purpose" "$no_packages"
  note "Set up for $purpose."
fi
