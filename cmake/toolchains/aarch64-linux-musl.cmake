# Clang, libc++ and musl of PyPI's `ziglang` for arm64, linked statically: the nearest to Android's NDK that needs no download
# from Google. What compiles with it calls nothing that only glibc has.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(FM_ZIG_TOOLS ${CMAKE_CURRENT_LIST_DIR}/../../tools/android/zig)
set(CMAKE_C_COMPILER ${FM_ZIG_TOOLS}/cc)
set(CMAKE_CXX_COMPILER ${FM_ZIG_TOOLS}/c++)
set(CMAKE_AR ${FM_ZIG_TOOLS}/ar)
set(CMAKE_RANLIB ${FM_ZIG_TOOLS}/ranlib)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
