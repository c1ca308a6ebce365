#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/reference/cli.md is what `hone help` prints, or this fails.

  cli_reference_test.py BUILD_DIR [--update]
"""
import difflib
import os
import re
import sys

from hone_program import Hone

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "reference", "cli.md")
HEAD = """# The command line

What `hone help` and `hone help COMMAND` print; `tests/system/cli_reference_test.py BUILD_DIR --update` writes this page, and CI compares it.

Results go to stdout, progress to stderr. `--json` puts one JSON document on stdout and nothing else. Exit codes: 0 ok, 1 failed (one line says what, where,
and the remedy), 2 wrong use.
"""


def page(hone):
    overview = hone.ok()
    commands = re.findall(r"^  ([a-z]+) +\S", overview.split("usage:")[1].split("\nThe usual way")[0], re.MULTILINE)
    if len(commands) < 8:
        sys.exit(f"only {commands} found in the overview")
    text = HEAD + f"\n## hone\n\n```text\n{overview.strip()}\n```\n"
    for command in commands:
        text += f"\n## hone {command}\n\n```text\n{hone.ok('help', command).strip()}\n```\n"
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def main():
    with Hone(sys.argv[1]) as hone:
        current = page(hone)
    if "--update" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(current)
        return
    with open(PAGE, encoding="utf-8") as file:
        written = file.read()
    difference = list(difflib.unified_diff(written.splitlines(), current.splitlines(), "docs/reference/cli.md", "hone help", lineterm=""))
    if difference:
        sys.exit("docs/reference/cli.md is not what the program says; run this with --update:\n" + "\n".join(difference))
    print("docs/reference/cli.md is what the program says")


if __name__ == "__main__":
    main()
