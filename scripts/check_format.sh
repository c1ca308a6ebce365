#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks what needs no build: clang-format, SPDX lines, file length, spelling, shell scripts. `scripts/check_format.sh --fix` formats.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
failed=0
mapfile -t cpp < <(git ls-files -co --exclude-standard '*.h' '*.cpp' '*.c')
mapfile -t own < <(git ls-files -co --exclude-standard '*.h' '*.cpp' '*.c' '*.py' '*.sh')
if ((${#cpp[@]} == 0)); then
  echo "check_format.sh: no sources found: run it in a git checkout" >&2
  exit 1
fi

if [[ "${1:-}" == --fix ]]; then
  exec clang-format -i "${cpp[@]}"
fi
unformatted=$(clang-format --dry-run "${cpp[@]}" 2>&1 | awk -F: '/clang-format-violations/ { print $1 }' | sort -u)
[[ -z "$unformatted" ]] || { failed=1; printf 'not formatted (scripts/check_format.sh --fix does it):\n%s\n' "$unformatted"; }
findings=$(awk 'FNR == 1 { licence[FILENAME] = 0 } FNR <= 3 && /SPDX-License-Identifier: MIT/ { licence[FILENAME] = 1 } { lines[FILENAME] = FNR }
  END { for (file in lines) { if (!licence[file]) print file ": no SPDX-License-Identifier in its first lines"
        if (lines[file] > 500) print file ": " lines[file] " lines; would a reader find their way? Split it (500 at most)" } }' "${own[@]}")
[[ -z "$findings" ]] || { failed=1; echo "$findings"; }
codespell --ignore-words-list=ser,ans,inout --quiet-level=3 "${own[@]}" README.md CHANGELOG.md docs models/README.md || failed=1
bash -n scripts/*.sh || failed=1
((failed)) || echo "${#cpp[@]} C++ files formatted, ${#own[@]} files with licence line and at most 500 lines, spelling fine"
exit $failed
