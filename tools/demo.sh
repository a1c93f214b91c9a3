#!/usr/bin/env bash
# tools/demo.sh MODEL: one network through the whole pipeline, each step a command a user can repeat.
# Called by ./fm demo, which installs and builds first. Leaves out/MODEL.{onnx,ref.npz,plan.yaml,fmw,trace,json,html}.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

model=${1:-vit}
config=mali-g715
bin=build/release/bin
python=.venv/bin/python
shape=()
case "$model" in
  vit | resnet50) source=models/$model.onnx ;;  # weightless: the weights are drawn from a seed
  ocr-det) source=tests/data/ch_PP-OCRv4_det_infer.onnx; shape=(--shape x=1,3,320,320) ;;
  ocr-cls) source=tests/data/ch_ppocr_mobile_v2.0_cls_infer.onnx; shape=(--shape x=1,3,48,192) ;;
  *) echo "demo: error: unknown model '$model'; known: vit, resnet50, ocr-det, ocr-cls" >&2; exit 2 ;;
esac

step() {  # prints a command, then runs it
  printf '\n$ %s\n' "$*"
  "$@"
}

mkdir -p out
onnx=$source
if [[ $source == models/* ]]; then
  onnx=out/$model.onnx
  step $bin/fmplan fill --model "$source" --seed 1 -o "$onnx"
fi
seed=$(date +%s)
step $python tests/reference/ort_reference.py --model "$onnx" "${shape[@]}" --seed "$seed" -o "out/$model.ref.npz"
step $bin/fmplan --model "$onnx" --config $config "${shape[@]}" -o "out/$model.plan.yaml"
step $bin/fmplan pack --plan "out/$model.plan.yaml" --model "$onnx" -o "out/$model.fmw"
step $bin/fmexec --plan "out/$model.plan.yaml" --weights "out/$model.fmw" \
  --inputs "out/$model.ref.npz" --verify "out/$model.ref.npz" --record "out/$model.trace"
step $bin/fmsim --config $config --trace "out/$model.trace" --json -o "out/$model.json"
step $bin/fmsim --config $config --trace "out/$model.trace"
step $python analysis/report/fmreport.py "out/$model.json" -o "out/$model.html"
