#!/usr/bin/env bash
# fmexec for arm64 without Google's NDK: every source compiled by clang against libc++ and musl, linked with nothing
# shared, and started under qemu. It proves what the NDK's build needs but Android's own headers.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

if [ "$(cat build/zig/installed 2>/dev/null)" != "$(cat tools/android/zig/requirements.txt)" ]; then
  mkdir -p build
  /usr/bin/python3 -m venv build/zig
  build/zig/bin/pip install --quiet --disable-pip-version-check -r tools/android/zig/requirements.txt
  cp tools/android/zig/requirements.txt build/zig/installed
fi
tools/android/dependencies.sh build/arm64-musl-prefix cmake/toolchains/aarch64-linux-musl.cmake
cmake --preset arm64-musl >/dev/null
cmake --build --preset arm64-musl --target fmexec
qemu-aarch64 build/arm64-musl/bin/fmexec --version
