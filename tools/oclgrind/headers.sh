#!/usr/bin/env bash
# Headers to compile an Oclgrind plugin with, in build/oclgrind-headers: Oclgrind's own, which Debian's package leaves
# out, from its source package, and those of the LLVM it was built with. Nothing of the host's packages changes.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

folder=$PWD/build/oclgrind-headers
llvm=14  # of liboclgrind-21.10
wanted=$(sha256sum "$0")
[ "$(cat "$folder.made" 2>/dev/null)" = "$wanted" ] && exit

echo "tools/oclgrind: fetching Oclgrind's source package and the headers of LLVM $llvm"
scratch=$folder.part
rm -rf "$folder" "$scratch"
mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial" "$folder"
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
origin="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
# A list of our own: the host's need not have any of source packages.
printf '%s\n' "deb $origin" "deb-src $origin" > "$scratch/sources.list"
apt=(apt-get -qq -o "Dir::Etc::SourceList=$scratch/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$scratch/lists" -o "Dir::Cache=$scratch/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$scratch" && "${apt[@]}" source --tar-only oclgrind && "${apt[@]}" download "llvm-$llvm-dev")
tar -C "$scratch" -xf "$scratch"/oclgrind_*.orig.tar.*
mkdir "$folder/oclgrind"
cp -r "$scratch"/Oclgrind-*/src/core "$scratch"/Oclgrind-*/LICENSE "$folder/oclgrind/"
rm "$folder"/oclgrind/core/*.cpp
dpkg-deb --fsys-tarfile "$scratch/llvm-$llvm-dev"_*.deb |
  tar -C "$scratch" -x ./usr/include "./usr/lib/llvm-$llvm/include"
cp -rL "$scratch/usr/include/llvm-$llvm/llvm" "$scratch/usr/include/llvm-c-$llvm/llvm-c" "$folder/"
rm -rf "$scratch"
printf '%s\n' "$wanted" > "$folder.made"
