#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages that are needed to build, test, benchmark or package, or to make the pictures of the
# documents. Does nothing if they are installed.
#   tools/install-packages.sh [build|test|bench|images|packages]
#   tools/install-packages.sh static [PACKAGE…]      for packaging/static, with the compiler of another architecture
set -euo pipefail

build=(g++ cmake ninja-build pkg-config python3 libfmt-dev libcli11-dev nlohmann-json3-dev libtraceevent-dev libbabeltrace2-dev zlib1g-dev
  libzstd-dev libxxhash-dev libtbb-dev libdw-dev libbpf-dev bpftool clang libprotozero-dev libncurses-dev
  prometheus-cpp-dev libcpp-httplib-dev libssl-dev libsqlite3-dev libcurl4-openssl-dev libsodium-dev libarchive-dev)
# If Node.js is not from Debian, it has its own npm, and Debian's npm package would conflict.
command -v npm >/dev/null || build+=(nodejs npm)
# Results are compared with trace-cmd, perf, pprof and protoc. jsonschema checks JSON against published schemas,
# and mypy checks the types of the Python package.
# Chromium opens HTML reports. tests/vm needs QEMU and cpio for virtual machines. Tests start their own ClickHouse
# servers to load fleets. skopeo and podman read container images and run them. ccache keeps compiled objects for the next run.
test=("${build[@]}" libgtest-dev python3-jsonschema python3-numpy mypy zstd trace-cmd linux-perf babeltrace2 golang-go protobuf-compiler prometheus tmux git clang-format clang-tidy clang-19 lld
  libclang-rt-19-dev dpkg-dev ccache scdoc zsh fish shellcheck procps strace util-linux qemu-system-x86 qemu-system-arm qemu-system-misc cpio chromium clickhouse-server
  skopeo podman crun python3-yaml)
bench=("${build[@]}" libbenchmark-dev zstd trace-cmd linux-perf)
# The recorder needs none of the optional libraries (docs/install.md).
static=(g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libprotozero-dev libtraceevent-dev
  zlib1g-dev libzstd-dev libxxhash-dev libelf-dev libbpf-dev bpftool clang python3 "${@:2}")
# packaging/ builds and tests packages.
packages=("${build[@]}" build-essential debhelper esbuild lintian debootstrap scdoc git rpm cpio ccache)
# tools/make_images takes pictures of a terminal and of pages.
images=("${build[@]}" chromium tmux aha)

purpose=${1:-build}
case "$purpose" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${test[@]}") ;;
  bench) wanted=("${bench[@]}") ;;
  images) wanted=("${images[@]}") ;;
  packages) wanted=("${packages[@]}") ;;
  static) wanted=("${static[@]}") ;;
  *) echo "usage: $0 [build|test|bench|images|packages|static]" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "This system has no apt. Install the equivalents of these Debian packages: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID != 0)); then
  echo "Packages are missing and only root can install them. Run:  sudo apt-get install ${missing[*]}" >&2
  exit 3
fi

echo "Installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y -qq --no-install-recommends "${missing[@]}")
# On a new machine, the lists of packages are empty or old. This script fetches the lists only if the installation fails
# without them.
"${install[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${install[@]}" >/dev/null; }
