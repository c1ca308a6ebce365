#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two bundles in one app, found by CMake: builds examples/link_app outside of hone's build, runs it, and compiles each bundle's
main.cpp with the one command that `hone build` prints.

  link_app_test.py BUILD_DIR CMAKE
"""
import os
import subprocess
import sys

import numpy as np
import small_models
from hone_program import Hone
from onnx import helper

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "link_app")


def attention_like():
    """Matrix products and a softmax: shares no kernel with the classifier."""
    random = np.random.default_rng(5)
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["q"], "query"), helper.make_node("Transpose", ["x"], ["k"], "key", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "k"], ["s"], "scores"), helper.make_node("Softmax", ["s"], ["a"], "attention", axis=-1),
        helper.make_node("MatMul", ["a", "x"], ["y"], "mix"),
    ]
    return small_models.build(nodes, {"x": [1, 24, 32]}, {"y": [1, 24, 32]}, [small_models.constant(random, "w1", 32, 32)])


def run(*command, cwd):
    result = subprocess.run(list(map(str, command)), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {result.returncode}:\n{result.stdout[-4000:]}")
    return result.stdout


def main():
    build_dir, cmake = sys.argv[1:]
    with Hone(build_dir) as hone:
        bundles = {"classifier": small_models.classifier(), "attention": attention_like()}
        for name, model in bundles.items():
            file = small_models.save(model, hone.path(name + ".onnx"))
            built = hone.json("build", file, "--device", "host", "--untuned", "-o", hone.path(name))
            run("bash", "-euc", built["compile_command"], cwd=hone.scratch)
        prefix = ";".join(hone.path(name) for name in bundles)
        app = hone.path("app")
        run(cmake, "-S", EXAMPLE, "-B", app, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-DFIRST=classifier", "-DSECOND=attention", cwd=hone.scratch)
        run(cmake, "--build", app, cwd=hone.scratch)
        print(run(os.path.join(app, "link_app"), *(hone.path(name, name + ".hone") for name in bundles), cwd=hone.scratch).strip())


if __name__ == "__main__":
    main()
