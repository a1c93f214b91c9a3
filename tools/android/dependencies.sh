#!/usr/bin/env bash
# Builds the libraries of fmexec as static ones from Debian's source packages, for a target that Debian has no packages
# for, and puts them and the headers that need no building into a folder to find packages in.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

usage() {
  cat <<TEXT
usage: tools/android/dependencies.sh PREFIX TOOLCHAIN_FILE [CMAKE_OPTION ...]

Example: tools/android/dependencies.sh build/android-prefix \\
  \$ANDROID_NDK_HOME/build/cmake/android.toolchain.cmake -DANDROID_ABI=arm64-v8a -DANDROID_PLATFORM=android-28
TEXT
}

case "${1:-}" in
  --help | -h) usage; exit ;;
esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
[ -f "$2" ] || { echo "dependencies.sh: error: no toolchain file '$2'; is ANDROID_NDK_HOME set?" >&2; exit 2; }
prefix=$(readlink -m "$1")
toolchain=$(readlink -f "$2")
shift 2
target_options=("$@")
sources=$prefix/sources
mkdir -p "$sources"

fetch() {  # source packages, with a list of our own: the host's need not have any
  local suite lists=$sources/apt
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" \
    > "$lists/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists/cache" -o APT::Sandbox::User=root)
  "${apt[@]}" update
  (cd "$sources" && "${apt[@]}" source "$@" >/dev/null)
}

source_of() {  # the unpacked folder of package $1
  find "$sources" -mindepth 1 -maxdepth 1 -type d -name "$1-*" | head -n 1
}

build() {  # package $1, whose CMakeLists.txt is in $2, with CMake options
  local name=$1 from=$2
  shift 2
  echo "dependencies.sh: $name"
  cmake -S "$from" -B "$sources/build/$name" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" "${target_options[@]}" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_FIND_ROOT_PATH="$prefix" -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@" \
    > "$sources/build.log" 2>&1 &&
    cmake --build "$sources/build/$name" --parallel 2 >> "$sources/build.log" 2>&1 &&
    cmake --install "$sources/build/$name" >> "$sources/build.log" 2>&1 ||
    { tail -n 30 "$sources/build.log" >&2; echo "dependencies.sh: error: $name was not built" >&2; exit 1; }
}

[ -d "$(source_of boost1.74)" ] || fetch boost1.74 libzstd protobuf xxhash yaml-cpp zlib
# The headers that need no building are the host's.
mkdir -p "$prefix/include" "$prefix/share/cmake"
ln -sfn /usr/include/boost /usr/include/CL /usr/include/nlohmann "$prefix/include/"
cp -r /usr/share/cmake/nlohmann_json "$prefix/share/cmake/"

zlib=$(source_of zlib)
# zlib and minizip: static only, which zlib's own CMakeLists.txt does not offer
build zlib "$here/zlib" -DZLIB_SOURCES="$zlib"
build minizip "$here/minizip" -DZLIB_SOURCES="$zlib"
build zstd "$(source_of libzstd)/build/cmake" -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_LEGACY_SUPPORT=OFF
build xxhash "$(source_of xxhash)/cmake_unofficial" -DXXHASH_BUILD_XXHSUM=OFF
build yaml-cpp "$(source_of yaml-cpp)" -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF -DYAML_CPP_BUILD_CONTRIB=OFF
build protobuf "$(source_of protobuf)" -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF \
  -Dprotobuf_WITH_ZLIB=OFF
build boost "$here/boost" -DBOOST_SOURCES="$(source_of boost1.74)"
