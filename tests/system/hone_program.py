# SPDX-License-Identifier: MIT
"""What the system tests share: the built `hone`, run in a scratch folder with a database of its own."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import numpy as np


class Hone:
    """Runs BUILD_DIR/hone; use it in a `with`: the scratch folder goes away with it."""

    def __init__(self, build_dir):
        self.program = os.path.join(os.path.abspath(build_dir), "hone")
        if not os.access(self.program, os.X_OK):
            sys.exit(f"{self.program} is missing; build the target hone first")
        self.scratch = None

    def __enter__(self):
        self.scratch = tempfile.mkdtemp(prefix="hone-system-test-")
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.scratch, *names)

    def environment(self):
        # A home of its own: no test may touch the user's database.
        return {**os.environ, "HOME": self.scratch, "XDG_DATA_HOME": self.path("data"), "NO_COLOR": "1"}

    def start(self, *arguments, **options):
        return subprocess.Popen([self.program, *map(str, arguments)], cwd=self.scratch, env=self.environment(), **options)

    def call(self, *arguments, timeout=280):
        """The finished process with stdout and stderr, whatever its exit code."""
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, cwd=self.scratch, env=self.environment(), capture_output=True, text=True, timeout=timeout, check=False)

    def ok(self, *arguments, timeout=280):
        """Its stdout; ends the test if it fails."""
        result = self.call(*arguments, timeout=timeout)
        if result.returncode != 0:
            sys.exit(f"hone {' '.join(map(str, arguments))}\nended with {result.returncode}:\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}")
        return result.stdout

    def json(self, *arguments):
        return json.loads(self.ok(*arguments, "--json"))

    def run_bundle(self, bundle, inputs, *arguments):
        """Outputs by name of one run on numpy inputs by name."""
        given = []
        for index, (name, value) in enumerate(inputs.items()):
            file = self.path(f"input_{index}.npy")
            np.save(file, value)
            given += ["--input", f"{name}={file}"]
        out = self.path("outputs")
        shutil.rmtree(out, ignore_errors=True)
        self.ok("run", bundle, *given, "--output", out, *arguments)
        return {urllib.parse.unquote(file[:-4]): np.load(os.path.join(out, file)) for file in os.listdir(out) if file.endswith(".npy")}


class Findings:
    """Collects what is wrong, so that one run shows all of it."""

    def __init__(self):
        self.failed = 0
        self.passed = 0

    def expect(self, condition, text):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {text}", flush=True)

    def finish(self):
        print(f"{self.passed} expectations held, {self.failed} failed")
        if not self.passed and not self.failed:
            sys.exit("nothing was checked")
        sys.exit(1 if self.failed else 0)
