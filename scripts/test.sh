#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sets up, builds and tests everything: the same as CI. About half an hour on 2 cores from nothing, a few minutes again.
#   scripts/test.sh [--no-packages] [--jobs N] [--lint]
#
# preset ci    Release, warnings are errors: every test, every header alone; with --lint clang-tidy too (ten minutes the first time)
# preset dev   Debug with AddressSanitizer and UndefinedBehaviorSanitizer: every test but those labelled `system` and
#              `conformance` (whole models, and thousands of compiled kernels, which the sanitizers do not reach anyway)
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

jobs=$(nproc) no_packages= lint=
while (($#)); do
  case "$1" in
    --no-packages) no_packages=$1 ;;
    --jobs) jobs=${2:-$jobs} && shift ;;
    --lint) lint=yes ;;
    *) echo "usage: scripts/test.sh [--no-packages] [--jobs N] [--lint]" >&2; exit 2 ;;
  esac
  shift
done

ctest_log() { echo "$HONE_LOGS/test-$1.log"; }

# run_tests PRESET TITLE CTEST-ARGUMENTS...: shows ctest's closing lines, and the output of the tests that failed.
run_tests() {
  local preset=$1 title=$2
  shift 2
  run_step "$title" "test-$preset" .venv/bin/ctest --preset "$preset" --parallel "$jobs" "$@"
  local code=$?
  if ((code != 0)); then
    failed_checks+=("$title (build/logs/test-$preset.log)")
    grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test +#.* Passed )' "$(ctest_log "$preset")" | head -n 300
  else
    grep -E '^[0-9]+% tests passed|^Total Test time|did not run|\(Skipped\)' "$(ctest_log "$preset")"
  fi
}

set_up test "$no_packages"
check "Format, licence lines, file lengths, spelling" format bash scripts/check_format.sh
step "Make the test models" models .venv/bin/python scripts/make_models.py
step "Make the test inputs" samples .venv/bin/python scripts/make_samples.py

step "Configure preset ci (Release, warnings are errors)" configure-ci .venv/bin/cmake --preset ci
step "Build preset ci with $jobs jobs" build-ci .venv/bin/cmake --build --preset ci --parallel "$jobs"
step "Compile every header alone" headers-ci .venv/bin/cmake --build --preset ci --parallel "$jobs" --target all_verify_interface_header_sets
[[ -z "$lint" ]] || check "clang-tidy where Halide.h is not included" tidy .venv/bin/python scripts/check_tidy.py build/ci --quick --jobs "$jobs"
run_tests ci "Test preset ci: all tests"

step "Configure preset dev (Debug, ASan + UBSan)" configure-dev .venv/bin/cmake --preset dev
step "Build preset dev with $jobs jobs" build-dev .venv/bin/cmake --build --preset dev --parallel "$jobs"
run_tests dev "Test preset dev: all but labels 'system' and 'conformance'" --label-exclude 'system|conformance'

if ((${#failed_checks[@]})); then
  printf 'failed: %s\n' "${failed_checks[@]}" >&2
  fail "${#failed_checks[@]} of the checks failed" "Their output is above and in the named logs"
fi
note "All checks passed: preset ci ran $(grep -oE 'out of [0-9]+' "$(ctest_log ci)" | tail -n 1 | tr -dc 0-9) tests, preset dev $(grep -oE 'out of [0-9]+' "$(ctest_log dev)" | tail -n 1 | tr -dc 0-9)."
