#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs clang-tidy (.clang-tidy: every finding is an error) over hone's own translation units.

  check_tidy.py BUILD_DIR [--jobs N] [--quick]       after a build: the include lists are Ninja's

--quick leaves out clang-analyzer-*, half of the time (12.6 s against 6.7 s for tuner/loop.cpp on a Zen 3): what scripts/test.sh does.

Units that include Halide.h are left out (each takes clang-tidy most of a minute), and so are tests. A clean unit is not read
again until it, a header of ours that it includes, its command line or .clang-tidy changes: results are kept by content hash in
.cache/tidy.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(ROOT, ".cache", "tidy")
SKIPPED_FOLDERS = ("tests/", "build/", "examples/")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def dependencies(build_dir):
    """Object file -> headers and source, from Ninja's log."""
    ninja_deps, current = {}, None
    for line in output_of("ninja", "-C", build_dir, "-t", "deps").splitlines():
        if line.startswith("    "):
            ninja_deps[current].append(os.path.normpath(os.path.join(build_dir, line.strip())))
        elif ": #deps" in line:
            current = line.split(": #deps")[0]
            ninja_deps[current] = []
    return ninja_deps


def content_hash(files, *texts):
    digest = hashlib.sha256("\0".join(texts).encode())
    for path in files:
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def check(source, build_dir, key, extra):
    result = subprocess.run(["clang-tidy", "--quiet", *extra, "-p", build_dir, source], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        open(os.path.join(CACHE, key), "w", encoding="utf-8").close()
        return None
    return result.stdout.strip() or result.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description="Run clang-tidy over the translation units that do not include Halide.h.")
    parser.add_argument("build_dir")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true", help="without clang-analyzer-*")
    options = parser.parse_args()
    extra = ["--checks=-clang-analyzer-*"] if options.quick else []
    build_dir = os.path.abspath(options.build_dir)
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(build_dir, "compile_commands.json"), encoding="utf-8") as file:
        units = json.load(file)
    config = os.path.join(ROOT, ".clang-tidy")
    version, deps = output_of("clang-tidy", "--version"), dependencies(build_dir)
    work, kept, halide = [], 0, 0
    for unit in units:
        source = os.path.normpath(os.path.join(unit["directory"], unit["file"]))
        relative = os.path.relpath(source, ROOT)
        if relative.startswith(("..",) + SKIPPED_FOLDERS) or not source.endswith(".cpp") or source.startswith(build_dir):
            continue
        used = deps.get(unit.get("output", ""))
        if used is None:
            continue  # not part of what was built
        if any(path.endswith("/Halide.h") for path in used):
            halide += 1
            continue
        ours = sorted(path for path in used if path.startswith(ROOT + "/") and "/.venv/" not in path)
        key = content_hash([config, *ours], unit["command"].replace(ROOT, ""), version, *extra)
        if os.path.exists(os.path.join(CACHE, key)):
            kept += 1
        else:
            work.append((source, build_dir, key, extra))
    if not work and not kept:
        sys.exit(f"check_tidy.py: nothing to check in {options.build_dir}; build it first (cmake --build {options.build_dir})")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for text in pool.map(lambda item: check(*item), work):
            if text:
                failed += 1
                print(text, flush=True)
    print(f"clang-tidy: {len(work)} units read, {kept} unchanged since they were clean, {halide} skipped (Halide.h); {failed} with findings")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
