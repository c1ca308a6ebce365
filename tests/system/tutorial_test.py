#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executes the commands of docs/tutorial.md in a scratch folder: every ```sh block, in order, in one shell.

  tutorial_test.py BUILD_DIR
"""
import os
import re
import subprocess
import sys

from hone_program import Hone

TUTORIAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "tutorial.md")


def commands():
    with open(TUTORIAL, encoding="utf-8") as file:
        blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    # `scripts/` is the set-up, which whoever runs this test has behind them; `export PATH` names the user's build.
    return [block for block in blocks if "scripts/" not in block and "export PATH" not in block]


def main():
    blocks = commands()
    if len(blocks) < 5:
        sys.exit(f"only {len(blocks)} blocks of commands found in docs/tutorial.md")
    with Hone(sys.argv[1]) as hone:
        environment = hone.environment()
        environment["PATH"] = os.pathsep.join([os.path.dirname(hone.program), os.path.dirname(sys.executable), environment["PATH"]])
        script = "".join(f"echo '== block {index + 1}' >&2\n{block}\n" for index, block in enumerate(blocks))
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=hone.scratch, env=environment, stdin=subprocess.DEVNULL, check=False)
        if result.returncode != 0:
            sys.exit(f"a block of docs/tutorial.md failed with {result.returncode}; its number is the last one above")
        for made in ("my.bundle/manifest.json", "report.html", "out/scores.npy"):
            if not os.path.exists(hone.path(made)):
                sys.exit(f"the tutorial ended without making {made}")
    print(f"{len(blocks)} blocks of docs/tutorial.md ran")


if __name__ == "__main__":
    main()
