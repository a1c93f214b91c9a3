#!/usr/bin/env bash
# The libraries of Debian arm64 that fmexec and its tests need, in build/arm64-sysroot: what preset arm64-linux
# compiles against and qemu-aarch64 runs. Nothing of the host's packages changes.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

root=build/arm64-sysroot
packages=(libstdc++-12-dev libprotobuf-dev libyaml-cpp-dev libboost-program-options-dev libzstd-dev libxxhash-dev
  libminizip-dev libgtest-dev libgmock-dev libbenchmark-dev nlohmann-json3-dev opencl-headers ocl-icd-libopencl1
  pocl-opencl-icd)
wanted=$(sha256sum "$0")
[ "$(cat $root.made 2>/dev/null)" = "$wanted" ] && exit

rm -rf $root
mkdir -p build
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mmdebstrap --quiet --variant=extract --architectures=arm64 \
  --include="$(IFS=,; echo "${packages[*]}")" "$suite" $root http://deb.debian.org/debian
# PoCL finds its files beside its library when it is loaded by the path that the host sees, and links kernels with `ld`.
mkdir -p $root/pocl/vendors $root/pocl/bin
readlink -f $root/usr/lib/aarch64-linux-gnu/libpocl.so.2 > $root/pocl/vendors/pocl.icd
cat > $root/pocl/bin/ld <<TEXT
#!/bin/sh
exec aarch64-linux-gnu-ld --sysroot=$PWD/$root -L$PWD/$root/usr/lib/gcc/aarch64-linux-gnu/12 "\$@"
TEXT
chmod +x $root/pocl/bin/ld
printf '%s\n' "$wanted" > $root.made
