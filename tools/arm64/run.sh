#!/usr/bin/env bash
# Runs an arm64 program on this computer: qemu-aarch64 with the libraries and the PoCL of build/arm64-sysroot.
# Example: tools/arm64/run.sh build/arm64-linux/bin/fmexec --list-devices
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../../build/arm64-sysroot")
export PATH=$root/pocl/bin:$PATH OCL_ICD_VENDORS=$root/pocl/vendors POCL_CACHE_DIR=$root/pocl/cache
exec qemu-aarch64 -L "$root" "$@"
