#!/usr/bin/env bash
# Runs a plan on a phone: pushes fmexec, plan, weights and arrays by adb, runs, pulls report, trace and outputs.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tools/android/run.sh --plan PLAN --weights WEIGHTS [options] [-- FMEXEC_OPTION ...]

Runs a plan on a phone by adb. Leaves result.json, run.trace and outputs.npz in the output folder, and what the phone says of
its clocks and temperatures before and after in phone.txt. docs/phone.md: what the phone needs.

Example: tools/android/run.sh --plan vit.plan.yaml --weights vit.fmw --verify vit.ref.npz -- --repeat 10 --warmup 2

options:
  --plan FILE       plan written by fmplan
  --weights FILE    weights written by `fmplan pack`
  --inputs FILE     .npz with inputs
  --verify FILE     .npz with inputs and expected outputs
  --fmexec FILE     executable for the phone (default build/android-arm64/bin/fmexec)
  --folder PATH     folder on the phone (default /data/local/tmp/flashmem)
  --serial SERIAL   which phone, when there are several (adb devices)
  --no-trace        do not record
  -o, --out FOLDER  where the results go (default out/phone)
  --dry-run         print the commands, run none
  -h, --help        print this

Exit status: that of fmexec, 3 when the phone cannot be reached, 2 when the command line is wrong.
TEXT
}

fail() { printf 'run.sh: error: %s\n' "$1" >&2; exit "$2"; }

fmexec=build/android-arm64/bin/fmexec folder=/data/local/tmp/flashmem out=out/phone
plan='' weights='' inputs='' verify='' serial='' dry='' trace=yes extra=()
while [ $# -gt 0 ]; do
  case $1 in
    --plan | --weights | --inputs | --verify | --fmexec | --folder | --serial | --out | -o)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)" 2
      name=${1#--}; [ "$1" = -o ] && name=out
      declare "$name=$2"; shift 2 ;;
    --no-trace) trace=''; shift ;;
    --dry-run) dry=yes; shift ;;
    --help | -h) usage; exit ;;
    --) shift; extra=("$@"); break ;;
    *) fail "unknown option '$1' (see --help); fmexec's own come after --" 2 ;;
  esac
done
[ -n "$plan" ] || fail "no --plan (see --help)" 2
[ -n "$weights" ] || fail "no --weights (see --help)" 2
for file in "$plan" "$weights" "$inputs" "$verify" "$fmexec"; do
  [ -z "$file" ] || [ -f "$file" ] || [ -n "$dry" ] || fail "no file '$file'$(
    [ "$file" != "$fmexec" ] || echo '; build it with `cmake --build --preset android-arm64` (docs/phone.md)')" 2
done

adb=(adb); [ -z "$serial" ] || adb+=(-s "$serial")
quoted() {  # words as a shell reads them
  local word words=''
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./=:,+-]+$ ]] || word="'${word//\'/\'\\\'\'}'"
    words+="${words:+ }$word"
  done
  printf '%s' "$words"
}
run() { printf '+ %s\n' "$(quoted "$@")" >&2; [ -n "$dry" ] || "$@"; }

facts='getprop ro.product.model; getprop ro.board.platform; cat /sys/class/kgsl/kgsl-3d0/gpuclk
/sys/class/kgsl/kgsl-3d0/devfreq/governor /sys/class/misc/mali0/device/devfreq/*/cur_freq
/sys/class/thermal/thermal_zone*/temp 2>/dev/null; dumpsys thermalservice 2>/dev/null | grep -i status'

command=(./fmexec --plan plan.yaml --weights weights.fmw --outputs outputs.npz --json -o result.json)
arrays=()
[ -z "$inputs" ] || { command+=(--inputs inputs.npz); arrays+=("$inputs:inputs.npz"); }
[ -z "$verify" ] || { command+=(--verify verify.npz); arrays+=("$verify:verify.npz"); }
[ -z "$trace" ] || command+=(--record run.trace)
# The linker of a shell may open vendor libraries by this path only; kernels are kept where the shell may write.
start="cd $(quoted "$folder") && LD_LIBRARY_PATH=/vendor/lib64:/system/vendor/lib64 \
XDG_CACHE_HOME=$(quoted "$folder/cache") $(quoted "${command[@]}" "${extra[@]}")"

[ -n "$dry" ] || [ "$("${adb[@]}" get-state 2>/dev/null)" = device ] ||
  fail "no phone (adb get-state): is USB debugging on, and this computer allowed? Several: --serial" 3
run mkdir -p "$out"
run "${adb[@]}" shell "mkdir -p $(quoted "$folder") && cd $(quoted "$folder") && rm -f result.json run.trace outputs.npz"
for pair in "$fmexec:fmexec" "$plan:plan.yaml" "$weights:weights.fmw" "${arrays[@]}"; do
  run "${adb[@]}" push --sync "${pair%:*}" "$folder/${pair##*:}" >/dev/null ||
    fail "adb could not push '${pair%:*}': is the phone full?" 3
done
[ -n "$dry" ] || "${adb[@]}" shell "$facts" > "$out/phone.txt" || true
status=0
run "${adb[@]}" shell "$start" || status=$?
[ -n "$dry" ] || "${adb[@]}" shell "$facts" >> "$out/phone.txt" || true
for name in result.json outputs.npz ${trace:+run.trace}; do
  run "${adb[@]}" pull "$folder/$name" "$out/$name" >/dev/null 2>&1 || true
done
exit "$status"
