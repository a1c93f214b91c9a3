#!/bin/bash
# Builds Mesa's drivers for Mali and Adreno from Debian's source package, with the kernel's side replaced by drm-shim, so
# that their compilers run anywhere. Needs no phone; the project itself needs none of this.
#
#   tools/isa/build_mesa.sh FOLDER       (220 MB; about six minutes on two cores; packages: see README.md)
#
# Run again after an interruption: it goes on where it stopped.
set -euo pipefail

release=22.3.6
[ $# -eq 1 ] || { sed -n 2,7p "$0"; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
source=$folder/mesa-$release

# Debian 12's list of source packages, apart from the system's own lists.
if [ ! -d "$source" ]; then
  apt=$folder/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb-src http://deb.debian.org/debian bookworm main" > "$apt/sources.list"
  options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache")
  apt-get "${options[@]}" update
  (cd "$folder" && apt-get "${options[@]}" source --download-only mesa)
  tar -C "$folder" -xf "$folder/mesa_$release.orig.tar.gz"
fi

if [ ! -f "$folder/build/build.ninja" ]; then
  # Debian's python3-mako belongs to /usr/bin/python3.
  PATH=/usr/bin:$PATH meson setup "$folder/build" "$source" \
    -Dgallium-drivers=panfrost,freedreno -Dvulkan-drivers= -Dtools=drm-shim -Dplatforms= \
    -Degl=enabled -Dgles2=enabled -Dgles1=disabled -Dopengl=true -Dshared-glapi=enabled \
    -Dglx=disabled -Dgbm=disabled -Ddri3=disabled -Dllvm=disabled -Dgallium-vdpau=disabled \
    -Dgallium-va=disabled -Dgallium-xa=disabled -Dzstd=disabled -Dshader-cache=disabled \
    -Dlmsensors=disabled -Dlibunwind=disabled -Dvideo-codecs= \
    -Doptimization=0 -Ddebug=false -Db_ndebug=true
fi
PATH=/usr/bin:$PATH ninja -C "$folder/build"
echo "built: $folder"
