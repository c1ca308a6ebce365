#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From a fresh clone to a tuned model: sets up, builds hone, tunes EfficientNet-Lite0 on this CPU for two minutes, builds the
# bundle, shows it a photograph, profiles it and writes a report. Everything it makes is in out/quickstart/.
#   scripts/quickstart.sh [--time 2m] [--no-packages]
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

budget=2m no_packages=
while (($#)); do
  case "$1" in
    --no-packages) no_packages=$1 ;;
    --time) budget=${2:-$budget} && shift ;;
    *) echo "usage: scripts/quickstart.sh [--time 2m] [--no-packages]" >&2; exit 2 ;;
  esac
  shift
done

readonly name=efficientnet_lite0
readonly out=out/quickstart samples=out/quickstart/samples
readonly hone=build/release/hone model=$out/$name.onnx database=$out/hone.sqlite
readonly tuned=$out/$name.bundle untuned=$out/$name.untuned.bundle
readonly photo=$samples/photos/coffee.png
readonly build_options=(--device host --db "$database" --preprocess "$samples/imagenet.json")

set_up quickstart "$no_packages"
mkdir -p "$out" || fail "cannot write $PWD/$out" "Run it as the owner of this folder, with space on the disk"
step "Make EfficientNet-Lite0 with its ImageNet weights" models .venv/bin/python scripts/make_models.py --out "$out" "$name"
step "Make photographs and labels" samples .venv/bin/python scripts/make_samples.py --out "$samples"
step "Configure preset release" configure-release .venv/bin/cmake --preset release -DBUILD_TESTING=OFF
step "Build hone with $(nproc) jobs" build-release .venv/bin/cmake --build --preset release --target hone hone-compile hone-runner
step "Build the bundle with default schedules" bundle-untuned "$hone" build "$model" "${build_options[@]}" --untuned -o "$untuned"
step "Tune its kernels on this CPU for at most $budget" tune "$hone" tune "$model" --device host --db "$database" --time "$budget"
step "Build the bundle with the tuned schedules" bundle-tuned "$hone" build "$model" "${build_options[@]}" -o "$tuned"
step "Check it against the expected output" verify "$hone" verify "$tuned"
step "Run it on a photograph (a cup of coffee)" run "$hone" run "$tuned" --input "input=$photo" --output "$out/outputs"
sed 's/^/           /' "$HONE_LOGS/run.log"
step "Profile it, kernel by kernel" profile "$hone" profile "$tuned" --csv "$out/profile.csv"
step "Time both bundles, interleaved" bench "$hone" bench "$untuned" "$tuned" --benchmark_out="$out/bench.json"
step "Write the report: both bundles, interleaved" report "$hone" report --db "$database" --bundle "$tuned" --baseline "$untuned" -o "$out/report.html"

# The whole model, from one interleaved run: the fastest of its samples, since other load only ever adds.
model_line() {
  .venv/bin/python - "$out/bench.json" <<'PYTHON'
import json, sys
untuned, tuned = (row["min_ms"] for row in json.load(open(sys.argv[1], encoding="utf-8"))["benchmarks"])
print(f"model      untuned {untuned:.2f} ms, tuned {tuned:.2f} ms: {untuned / tuned:.2f}x (one thread, fastest of 30 interleaved runs each)")
PYTHON
}

cat <<SUMMARY

$(grep -E '^(trials|kernels|gain) ' "$HONE_LOGS/tune.log")
$(model_line)

report      $out/report.html
bundle      $tuned (link it: docs/how-to/link-a-bundle.md)
database    $database (every trial; running this script again goes on from it)
profile     $out/profile.csv
logs        build/logs/

Next:
  $hone profile $tuned     # where its time goes
  $hone tune $model --device host --db $database --more 10m     # search longer, then build again
  $hone tune my.onnx --device host     # a model of your own: docs/tutorial.md
SUMMARY
