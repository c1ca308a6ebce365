#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a user reads when something is wrong: one line that names the file, the node and the remedy, exit code 1 (2 for wrong use).

  messages_test.py BUILD_DIR [--update]      compares with messages.golden beside this file; --update rewrites it

The lines are approved text: after a change read the difference as a user would.
"""
import difflib
import glob
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import small_models
from hone_program import Findings, Hone

# Not the message: progress before the failure, and what the sanitizer says of Halide's own stacks in preset dev.
PROGRESS = re.compile(r"kernel \d+ of \d+$|tuning .*workloads on|==\d+==WARNING: ASan doesn't fully support|note: ")
MOUNTED_TITLES = ("full disk", "read-only folder", "database in a read-only folder")
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "messages.golden")


class Cases:
    """Runs the cases in order and keeps their transcript: title, exit code, stderr."""

    def __init__(self, hone, findings):
        self.hone, self.findings, self.transcript = hone, findings, []

    def run(self, title, *arguments, code=1):
        result = self.hone.call(*arguments)
        lines = [line for line in result.stderr.splitlines() if not PROGRESS.match(line)]
        self.findings.expect(result.returncode == code, f"{title}: exit code {result.returncode}, expected {code}")
        self.findings.expect(len(lines) == 1, f"{title}: {len(lines)} lines on stderr:\n{result.stderr[:2000]}")
        self.findings.expect(not result.stdout.strip(), f"{title}: stdout is not empty: {result.stdout[:500]}")
        text = "\n".join(lines[:3])
        self.transcript.append(f"{title}\n  {self.normalised(text)}")

    def normalised(self, text):
        text = text.replace(self.hone.scratch, "$SCRATCH")
        text = re.sub(r"/mounted/\S*: No space", "/mounted/...: No space", text)  # which file is first depends on the machine
        return re.sub(r"x86-(avx2|avx512|zen4|zen5)\b", "x86-HOST", text)


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return path


def model_cases(cases):
    hone = cases.hone
    whole = small_models.classifier().SerializeToString()
    build = lambda model: ("build", model, "--device", "host", "--untuned", "-o", hone.path("never"), "--db", hone.path("none.sqlite"))
    cases.run("missing model", *build(hone.path("missing.onnx")))
    cases.run("truncated model", *build(write(hone.path("truncated.onnx"), whole[: len(whole) // 2])))
    cases.run("no model", *build(write(hone.path("text.onnx"), b"this is no model\n")))
    cases.run("empty model file", *build(write(hone.path("empty.onnx"), b"")))
    cases.run("folder for a model", *build(hone.scratch))
    for name in ("unknown_operator", "other_domain", "cyclic", "open_shape", "bad_attribute"):
        cases.run(name.replace("_", " "), *build(small_models.save(getattr(small_models, name)(), hone.path(name + ".onnx"))))
    small = small_models.save(small_models.classifier(), hone.path("small.onnx"))
    cases.run("shape for an input that is not there", *build(small), "--shape", "imege:1,3,64,64")
    cases.run("shape of another rank", *build(small), "--shape", "image:1,3,64")
    cases.run("unknown pass", *build(small), "--pass", "-fold_batchnorm")


def usage_cases(cases):
    small = cases.hone.path("small.onnx")
    cases.run("unknown command", "biuld", code=2)
    cases.run("unknown option", "tune", small, "--trails", "3", code=2)
    cases.run("unknown device", "tune", small, "--device", "x86-zen", "--dry-run")
    cases.run("unknown node", "tune", small, "--device", "host", "--only", "conv9", "--dry-run", code=2)
    cases.run("no model given", "tune", code=2)
    cases.run("malformed shape", "inspect", small, "--shape", "image=1x3", code=2)
    cases.run("malformed duration", "tune", small, "--device", "host", "--time", "fast", code=2)


def bundle_cases(cases):
    hone = cases.hone
    small, bundle = hone.path("small.onnx"), hone.path("small.bundle")
    hone.ok("build", small, "--device", "host", "--untuned", "-o", bundle, "--db", hone.path("none.sqlite"))
    tensors = {
        "good": np.zeros((1, 3, 64, 64), np.float32), "shape": np.zeros((1, 3, 32, 64), np.float32), "type": np.zeros((1, 3, 64, 64), np.float64),
    }
    for name, value in tensors.items():
        np.save(hone.path(name + ".npy"), value)
    out = ("--output", hone.path("out"))
    cases.run("wrong input name", "run", bundle, "--input", f"imag={hone.path('good.npy')}", *out)
    cases.run("wrong input shape", "run", bundle, "--input", f"image={hone.path('shape.npy')}", *out)
    cases.run("wrong input type", "run", bundle, "--input", f"image={hone.path('type.npy')}", *out)
    cases.run("missing input file", "run", bundle, "--input", f"image={hone.path('gone.npy')}", *out)
    cases.run("no tensor file", "run", bundle, "--input", f"image={write(hone.path('text.npy'), b'text')}", *out)
    cases.run("no input given", "run", bundle, *out)
    cases.run("no bundle", "run", hone.path("nowhere"), "--input", f"image={hone.path('good.npy')}", *out)
    os.mkdir(hone.path("folder"))
    write(hone.path("folder", "notes.txt"), b"mine")
    cases.run("folder that is no bundle", "run", hone.path("folder"), "--input", f"image={hone.path('good.npy')}", *out)
    damaged_bundle_cases(cases, bundle, ("--input", f"image={hone.path('good.npy')}", *out))
    cases.run("output folder holds something else", "build", small, "--device", "host", "--untuned", "-o", hone.path("folder"),
              "--db", hone.path("none.sqlite"))
    cases.run("output path below a file", "build", small, "--device", "host", "--untuned", "-o", os.path.join(small, "bundle"),
              "--db", hone.path("none.sqlite"))
    cases.run("run's output path below a file", "run", bundle, "--input", f"image={hone.path('good.npy')}", "--output", os.path.join(small, "out"))
    return small


def damaged_bundle_cases(cases, bundle, arguments):
    hone = cases.hone

    def damaged(name, damage):
        copy = hone.path(name)
        shutil.copytree(bundle, copy)
        damage(copy)
        return copy

    def plan_file(folder):
        (name,) = glob.glob(os.path.join(folder, "share", "*.hone"))
        return name

    def flip(folder):
        with open(plan_file(folder), "r+b") as file:
            file.seek(100)
            byte = file.read(1)[0]
            file.seek(100)
            file.write(bytes([byte ^ 0xFF]))

    def remove_shared_object(folder):
        for root, _, files in os.walk(folder):
            for name in files:
                if name.endswith(".so"):
                    os.remove(os.path.join(root, name))

    cases.run("damaged plan", "run", damaged("flipped.bundle", flip), *arguments)
    cases.run("truncated plan", "run", damaged("short.bundle", lambda folder: os.truncate(plan_file(folder), 200)), *arguments)
    cases.run("missing kernels", "run", damaged("hollow.bundle", remove_shared_object), *arguments)
    manifest = damaged("manifest.bundle", lambda folder: write(os.path.join(folder, "manifest.json"), b'{"format"'))
    cases.run("damaged manifest", "run", manifest, *arguments)


def mounted_cases(cases, small):
    """Root ignores permissions, a read-only or full file system does not ignore root."""
    hone = cases.hone
    folder = hone.path("mounted")
    os.mkdir(folder)
    build = ("build", small, "--device", "host", "--untuned", "--db", hone.path("none.sqlite"), "-o", os.path.join(folder, "bundle"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", folder], capture_output=True, check=False).returncode != 0:
        print("SKIPPED: full disk, read-only folder (this user may not mount)")
        return False
    try:
        cases.run(MOUNTED_TITLES[0], *build)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        cases.run(MOUNTED_TITLES[1], *build)
        cases.run(MOUNTED_TITLES[2], "tune", small, "--device", "host", "--db", os.path.join(folder, "new.sqlite"), "--time", "1s")
    finally:
        subprocess.run(["umount", folder], check=True)
    return True


def database_cases(cases, small):
    hone = cases.hone
    tune = lambda database: ("tune", small, "--device", "host", "--time", "1s", "--db", database)
    cases.run("corrupt database", *tune(write(hone.path("corrupt.sqlite"), b"not a database" * 400)))
    other = hone.path("other.sqlite")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    cases.run("database of another program", *tune(other))
    newer = hone.path("newer.sqlite")
    hone.ok("tune", small, "--device", "host", "--trials", "1", "--only", "head", "--time", "5s", "--db", newer)
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    cases.run("newer database", *tune(newer))
    cases.run("missing database", "db", "stats", "--db", hone.path("missing.sqlite"))
    cases.run("folder for a database", "db", "check", "--db", hone.scratch)


def compare_with_golden(found, mounted, findings):
    """Block by block: a title and its message; those that need a mount are left out where there was none."""
    with open(GOLDEN, encoding="utf-8") as file:
        approved = file.read().strip().split("\n\n")
    if not mounted:
        approved = [block for block in approved if not block.startswith(MOUNTED_TITLES)]
    difference = list(difflib.unified_diff("\n".join(approved).splitlines(), "\n".join(found).splitlines(), "approved", "found", lineterm=""))
    findings.expect(not difference, "messages differ from messages.golden (approve with --update):\n" + "\n".join(difference))


def main():
    findings = Findings()
    with Hone(sys.argv[1]) as hone:
        cases = Cases(hone, findings)
        model_cases(cases)
        usage_cases(cases)
        small = bundle_cases(cases)
        database_cases(cases, small)
        mounted = mounted_cases(cases, small)
    if "--update" in sys.argv:
        with open(GOLDEN, "w", encoding="utf-8") as file:
            file.write("\n\n".join(cases.transcript) + "\n")
        print("\n".join(cases.transcript))
    else:
        compare_with_golden(cases.transcript, mounted, findings)
    findings.finish()


if __name__ == "__main__":
    main()
