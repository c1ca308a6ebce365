#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds two bundles, and examples/link_app against them as an app's author would: find_package, link, run.

  link_app_test.py BUILD_DIR CMAKE [CXX_FLAGS]        CXX_FLAGS: those that libhone_executor.a was compiled with (sanitizers)
"""
import glob
import os
import subprocess
import sys

import small_models
from hone_program import Findings, Hone

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def plan_file(bundle):
    plans = glob.glob(os.path.join(bundle, "**", "*.hone"), recursive=True)
    if len(plans) != 1:
        sys.exit(f"{bundle} has {len(plans)} plan files")
    return plans[0]


def call(findings, what, *command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    findings.expect(result.returncode == 0, f"{what}: {result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def main():
    build_dir, cmake = sys.argv[1:3]
    flags = sys.argv[3] if len(sys.argv) > 3 else ""
    findings = Findings()
    with Hone(build_dir) as hone:
        # The same kernels in both (the names must not clash) and others in one only.
        models = {"first": small_models.classifier(), "second": small_models.residual()}
        for name, model in models.items():
            small_models.save(model, hone.path(f"{name}.onnx"))
            hone.ok("build", hone.path(f"{name}.onnx"), "--device", "host", "--untuned", "--name", name, "-o", hone.path(name))
        prefix = ";".join(hone.path(name) for name in models)
        for link_type in ("Debug", "Release"):
            app = hone.path(f"app_{link_type}")
            call(findings, f"configure {link_type}", cmake, "-G", "Ninja", "-S", os.path.join(ROOT, "examples", "link_app"), "-B", app,
                 f"-DCMAKE_BUILD_TYPE={link_type}", f"-DCMAKE_PREFIX_PATH={prefix}", "-DFIRST=first", "-DSECOND=second",
                 f"-DCMAKE_CXX_FLAGS={flags}")
            call(findings, f"build {link_type}", cmake, "--build", app)
            output = call(findings, f"run {link_type}", os.path.join(app, "link_app"), *[plan_file(hone.path(name)) for name in models])
            findings.expect(output == "first and second: 5 contexts at once, 20 runs each, 0 wrong\n", f"it printed {output!r}")
    findings.finish()


if __name__ == "__main__":
    main()
