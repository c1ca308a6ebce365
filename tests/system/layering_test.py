#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails on any #include between folders that the design does not allow (docs/explanation/how-hone-works.md).

  layering_test.py [ROOT]       reads the sources that git tracks, or all sources where there is no git
"""
import os
import re
import subprocess
import sys

# folder -> folders whose headers it may include (its own always).
ARROWS = {
    "executor": [],
    "generators": [],
    "schedules": ["generators"],
    "profiler": ["executor"],
    "codegen": ["generators", "schedules"],
    "db": [],
    "tuner": ["generators", "schedules", "codegen", "profiler", "db"],
    "graph": ["generators"],
    "bundle": ["graph", "codegen", "schedules", "generators", "db", "executor"],
    "reports": ["db"],
    "cli": ["*"],
    "plugins": [],
    "bench": ["*"],
    "examples": ["executor"],  # what an app links
    "tests": ["*"],
}
# Single headers that pass regardless: plain values with no dependencies of their own.
EVERYBODY = ["executor/error.h", "executor/dtype.h"]  # the one exception type; element types
VALUE_HEADERS = [
    "generators/workload.h", "generators/nearest_name.h", "schedules/config.h", "schedules/device_info.h",
    "schedules/tuning_context.h", "profiler/measurement.h",
]
HEADERS = {"db": VALUE_HEADERS, "reports": VALUE_HEADERS, "graph": [], "plugins": ["codegen/protocol.h"]}
# library headers -> folders that may use them; tests may use any.
EXTERNAL = {
    r"Halide\.h": ["generators", "schedules", "codegen"],
    r"HalideRuntime\.h": ["executor", "profiler"],
    r"SQLiteCpp/.*|sqlite3\.h": ["db"],
    r"onnx/.*|google/protobuf/.*": ["graph"],
    r"benchmark/benchmark\.h": ["profiler", "cli", "bench"],
    r"stb/.*": ["cli"],
    r"boost/program_options.*": ["cli"],
    r"nlohmann/.*": ["generators", "schedules", "codegen", "db", "tuner", "graph", "bundle", "reports", "cli", "plugins"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def violation(path, header):
    """Why the file at `path` may not include `header`, or None."""
    folder, target = path.split("/")[0], header.split("/")[0]
    if folder == "tests":
        return None
    for pattern, folders in EXTERNAL.items():
        if re.fullmatch(pattern, header) and folder not in folders:
            return f"only {', '.join(folders)} may use this library"
    if "/" not in header or target not in ARROWS or target == folder:
        return None
    if target in ("cli", "tests", "bench", "examples"):
        return f"nothing may include {target}/"
    allowed = ARROWS[folder]
    if "*" in allowed or target in allowed or header in EVERYBODY + HEADERS.get(folder, []):
        return None
    return f"{folder}/ may include {', '.join(allowed) or 'no other folder'}"


def sources(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False)
    if git.returncode == 0:
        names = git.stdout.splitlines()
    else:
        names = [os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root) for name in files]
    return [name for name in names if name.split("/")[0] in ARROWS and name.endswith((".h", ".c", ".cpp"))]


def violations(root):
    for name in sources(root):
        path = os.path.join(root, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for _, header in INCLUDE.findall(file.read()):
                problem = violation(name, header)
                if problem:
                    yield f"{name}: includes {header}, but {problem}"


def self_test():
    """A checker that finds nothing would pass too."""
    planted = [
        ("generators/conv.cpp", "schedules/config.h"), ("executor/plan.cpp", "generators/workload.h"), ("executor/plan.cpp", "nlohmann/json.hpp"),
        ("profiler/runner.cpp", "Halide.h"), ("db/database.cpp", "generators/operators.h"), ("db/database.cpp", "schedules/implementation.h"),
        ("reports/report.cpp", "executor/plan.h"), ("graph/passes.cpp", "schedules/config.h"), ("tuner/loop.cpp", "cli/options.h"),
        ("tuner/loop.cpp", "sqlite3.h"), ("bundle/bundle.cpp", "tuner/loop.h"),
    ]
    legal = [
        ("generators/conv.cpp", "executor/error.h"), ("db/trial.h", "profiler/measurement.h"), ("tuner/loop.cpp", "db/database.h"),
        ("cli/tune.cpp", "tuner/loop.h"), ("executor/pool.cpp", "thread"), ("schedules/conv.cpp", "Halide.h"), ("tests/db/db_test.cpp", "sqlite3.h"),
    ]
    missed = [pair for pair in planted if violation(*pair) is None]
    wrong = [pair for pair in legal if violation(*pair) is not None]
    if missed or wrong:
        sys.exit(f"layering_test.py: self-test failed: not found {missed}, wrongly found {wrong}")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    self_test()
    count = len(sources(root))
    if count < 20:
        sys.exit(f"layering_test.py: only {count} sources found under {root}: nothing was checked")
    found = list(violations(root))
    print("\n".join(found) or f"{count} sources: every include follows the arrows")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
