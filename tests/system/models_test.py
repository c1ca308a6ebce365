#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole models against ONNX Runtime: build with default schedules, run, compare every output.

  models_test.py BUILD_DIR MODELS SAMPLES MODEL [DEVICE]       1 and 2 threads, random and real inputs

A device of another architecture (arm64-neon) is cross-built and run by hone-runner under qemu.
"""
import glob
import json
import os
import sys

import numpy as np
import onnxruntime
from hone_program import Findings, Hone

TOLERANCE = 1e-4  # max|a - b| / max|b| for each output
SHAPES = {"cls": {"x": (1, 3, 48, 192)}}  # models whose file leaves the shape open


def reference_session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def relative_error(ours, reference):
    if ours.shape != reference.shape or not np.isfinite(ours).all():
        return float("inf")
    return float(np.abs(ours.astype(np.float64) - reference).max() / max(np.abs(reference).max(), 1e-30))


def sample_inputs(name, session, samples):
    """(label, {input name: value}): two random ones, then real ones."""
    (tensor,) = session.get_inputs()
    shape = SHAPES.get(name, {}).get(tensor.name) or tuple(tensor.shape)
    random = np.random.default_rng(20)
    for seed in range(2):
        yield f"random {seed}", {tensor.name: random.standard_normal(shape, dtype=np.float32)}
    pattern = os.path.join(samples, "lines" if name == "cls" else "photos", "*.npy")
    files = sorted(glob.glob(pattern))
    if not files:
        sys.exit(f"no real inputs match {pattern}; run scripts/make_samples.py")
    for file in files[:4]:
        yield os.path.basename(file), {tensor.name: np.load(file)}


def compare(hone, bundle, name, session, samples, findings, threads):
    names = [output.name for output in session.get_outputs()]
    for label, inputs in sample_inputs(name, session, samples):
        expected = dict(zip(names, session.run(names, inputs)))
        found = hone.run_bundle(bundle, inputs, "--threads", threads)
        findings.expect(sorted(found) == sorted(names), f"{name} {label}: outputs {sorted(found)}, expected {sorted(names)}")
        for output in names:
            error = relative_error(found[output], expected[output]) if output in found else float("inf")
            print(f"{name}, {threads} threads, {label}, {output}: relative error {error:.2e}", flush=True)
            findings.expect(error <= TOLERANCE, f"{name}, {threads} threads, {label}: {output} differs by {error:.2e} (allowed {TOLERANCE:.0e})")


def classify_lines(hone, bundle, session, samples, findings):
    """cls on 20 rendered lines, upright and upside down."""
    (tensor,), (output,) = session.get_inputs(), session.get_outputs()
    files = sorted(glob.glob(os.path.join(samples, "lines", "*.npy")))
    findings.expect(len(files) == 40, f"{len(files)} text lines, expected 40")
    for file in files:
        scores = hone.run_bundle(bundle, {tensor.name: np.load(file)})[output.name].ravel()
        turned = "down" in os.path.basename(file)
        findings.expect((scores[1] > scores[0]) == turned, f"cls: {os.path.basename(file)} taken for {'upright' if turned else 'turned'}: {scores}")


def classify_photos(hone, bundle, session, samples, findings):
    """EfficientNet-Lite0: the label a person expects is among the five best, and the five are ONNX Runtime's, in its order."""
    (tensor,), (output,) = session.get_inputs(), session.get_outputs()
    with open(os.path.join(samples, "photos", "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    for name, classes in expected.items():
        inputs = {tensor.name: np.load(os.path.join(samples, "photos", name + ".npy"))}
        best = np.argsort(-hone.run_bundle(bundle, inputs)[output.name].ravel())[:5].tolist()
        reference = np.argsort(-session.run(None, inputs)[0].ravel())[:5].tolist()
        findings.expect(set(best) & set(classes), f"{name}: none of {classes} among the best five {best}")
        findings.expect(best == reference, f"{name}: best five {best}, ONNX Runtime's are {reference}")


def main():
    build_dir, models, samples = map(os.path.abspath, sys.argv[1:4])
    name = sys.argv[4]
    device = sys.argv[5] if len(sys.argv) > 5 else "host"
    model = os.path.join(models, name + ".onnx")
    findings, session = Findings(), reference_session(model)
    shapes = [argument for tensor, shape in SHAPES.get(name, {}).items() for argument in ("--shape", f"{tensor}:{','.join(map(str, shape))}")]
    with Hone(build_dir) as hone:
        for threads in (1, 2):
            bundle = hone.path(f"{name}_{threads}")
            hone.ok("build", model, *shapes, "--device", device, "--db", hone.path("empty.sqlite"), "--untuned", "--threads", threads, "-o", bundle)
            compare(hone, bundle, name, session, samples, findings, threads)
        if name == "cls" and device == "host":
            classify_lines(hone, bundle, session, samples, findings)
        if name == "efficientnet_lite0":
            classify_photos(hone, bundle, session, samples, findings)
    findings.finish()


if __name__ == "__main__":
    main()
