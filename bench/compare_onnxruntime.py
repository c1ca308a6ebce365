#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times hone's tuned and untuned bundles against ONNX Runtime, interleaved in one process, after checking that all agree.

  compare_onnxruntime.py [MODEL ...] [--db FILE] [--tune 2m] [--rounds 30] [--threads 1] [--build build/release] [--json]

Each round calls every variant for --slice seconds in turn, and keeps the fastest call of each: a burst of other load hits all of
them or is outvoted. Reported: the median over rounds, and the ratio to ONNX Runtime with the 99 % interval of its median over rounds.
Timed: one whole inference, buffers bound beforehand (ONNX Runtime: IOBinding). Clock: thread CPU time for one thread, wall time for more.
"""
import argparse
import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = ("efficientnet_lite0", "cls", "mobilenet_v2", "resnet50")
SHAPES = {"cls": {"x": (1, 3, 48, 192)}}  # models whose file leaves the shape open
TOLERANCE = 1e-4


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


def run_hone(options, *arguments):
    result = subprocess.run([os.path.join(options.build, "hone"), *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"compare_onnxruntime.py: hone {' '.join(arguments)} failed")
    return result.stdout


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]


class HoneVariant:
    """A bundle, linked with its executor into a library of its own and driven through the C interface (hone.h)."""

    def __init__(self, bundle, threads, inputs):
        with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        symbol, library = manifest["symbol"], os.path.join(bundle, "bench_variant.so")
        archives = [os.path.join(bundle, "lib", name) for name in sorted(os.listdir(os.path.join(bundle, "lib"))) if name.endswith(".a")]
        subprocess.run(["g++", "-shared", "-o", library, "-Wl,--whole-archive", *archives, "-Wl,--no-whole-archive", "-lm", "-pthread"], check=True)
        self.library = ctypes.CDLL(library)
        self.library.hone_last_error.restype = ctypes.c_char_p
        self.library.hone_output.restype = ctypes.c_void_p
        table = ctypes.c_byte.in_dll(self.library, symbol)
        model, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        plan = os.path.join(bundle, "share", manifest["name"] + ".hone")
        self.call("hone_model_load", ctypes.byref(table), plan.encode(), ctypes.byref(model))
        self.call("hone_context_create", model, ctypes.c_int(threads), ctypes.byref(self.context))
        self.kept = []
        for index in range(self.library.hone_model_input_count(model)):
            info = TensorInfo()
            self.call("hone_model_input", model, ctypes.c_int(index), ctypes.byref(info))
            value = np.ascontiguousarray(inputs[info.name.decode()])
            self.kept.append(value)
            self.call("hone_set_input", self.context, ctypes.c_int(index), value.ctypes.data_as(ctypes.c_void_p))
        info = TensorInfo()
        self.call("hone_model_output", model, ctypes.c_int(0), ctypes.byref(info))
        self.result = np.zeros([info.shape[axis] for axis in range(info.rank)], np.float32)
        self.call("hone_set_output", self.context, ctypes.c_int(0), self.result.ctypes.data_as(ctypes.c_void_p))
        self.hone_run = self.library.hone_run

    def call(self, function, *arguments):
        if getattr(self.library, function)(*arguments) != 0:
            sys.exit(f"compare_onnxruntime.py: {function}: {self.library.hone_last_error().decode()}")

    def run(self):
        self.hone_run(self.context)

    def output(self):
        self.call("hone_run", self.context)
        return self.result


class OnnxRuntimeVariant:
    def __init__(self, model, threads, inputs):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        for name, value in inputs.items():
            self.binding.bind_cpu_input(name, value)
        self.binding.bind_output(self.session.get_outputs()[0].name)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def output(self):
        self.run()
        return self.binding.copy_outputs_to_cpu()[0]


def fastest_call_ns(variant, seconds, clock):
    until, best = time.perf_counter() + seconds, float("inf")
    while True:
        begin = clock()
        variant.run()
        best = min(best, clock() - begin)
        if time.perf_counter() >= until:
            return best


def median_interval(values, confidence=0.99):
    """Distribution-free interval of the median: the order statistics that enclose it (binomial), no normality assumed."""
    values, n, tail = sorted(values), len(values), 0.0
    rank, probability = 0, 0.5**n
    while rank < n // 2 and tail + probability <= (1 - confidence) / 2:
        tail += probability
        probability *= (n - rank) / (rank + 1)
        rank += 1
    low = max(rank - 1, 0)
    return values[low], values[n - 1 - low]


def make_inputs(model, name):
    tensors = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()
    random = np.random.default_rng(7)
    return {tensor.name: random.standard_normal(SHAPES.get(name, {}).get(tensor.name) or tensor.shape, dtype=np.float32) for tensor in tensors}


def compare(name, options, scratch):
    model = os.path.join(options.models, name + ".onnx")
    if not os.path.exists(model):
        sys.exit(f"compare_onnxruntime.py: {model} is missing; make it with scripts/make_models.py {name}")
    inputs = make_inputs(model, name)
    common = ["--device", "host", "--db", options.db, "--threads", str(options.threads)]
    for tensor, shape in SHAPES.get(name, {}).items():
        common += ["--shape", f"{tensor}:{','.join(map(str, shape))}"]
    if options.tune:
        run_hone(options, "tune", model, *common, "--time", options.tune)
    variants = {"onnxruntime": OnnxRuntimeVariant(model, options.threads, inputs)}
    if not os.path.exists(options.db):
        sys.exit(f"compare_onnxruntime.py: there is no tuning database {options.db}; add --tune 5m, or name one with --db")
    for variant, extra in (("untuned", ["--untuned"]), ("tuned", [])):
        bundle = os.path.join(scratch, f"{name}_{variant}")
        run_hone(options, "build", model, *common, *extra, "-o", bundle)
        variants[variant] = HoneVariant(bundle, options.threads, inputs)
    reference = variants["onnxruntime"].output()
    for variant, runner in variants.items():
        error = float(np.abs(runner.output() - reference).max() / np.abs(reference).max())
        if not error <= TOLERANCE:
            sys.exit(f"compare_onnxruntime.py: {name}, {variant}: differs from ONNX Runtime by {error:.1e}: not timed")
    clock = time.thread_time_ns if options.threads == 1 else time.perf_counter_ns
    rounds = {variant: [] for variant in variants}
    for _ in range(options.rounds):
        for variant, runner in variants.items():
            rounds[variant].append(fastest_call_ns(runner, options.slice, clock))
    row = {"model": name}
    for variant, times in rounds.items():
        ratios = [own / other for own, other in zip(times, rounds["onnxruntime"])]
        row[variant] = {"median_ns": float(np.median(times)), "min_ns": float(min(times)), "ratio_to_onnxruntime": float(np.median(ratios)),
                        "ratio_interval_99": median_interval(ratios)}
    return row


def show(result):
    print(f"{result['cpu']}, {result['threads']} thread(s), ONNX Runtime {result['onnxruntime']}, median of {result['rounds']} rounds")
    print(f"{'model':20} {'ORT ms':>9} {'untuned ms':>11} {'tuned ms':>9}   tuned / ORT [99 %]      untuned / tuned")
    for row in result["models"]:
        tuned, low_high = row["tuned"], row["tuned"]["ratio_interval_99"]
        print(f"{row['model']:20} {row['onnxruntime']['median_ns'] / 1e6:9.3f} {row['untuned']['median_ns'] / 1e6:11.3f} {tuned['median_ns'] / 1e6:9.3f}   "
              f"{tuned['ratio_to_onnxruntime']:.3f} [{low_high[0]:.3f}, {low_high[1]:.3f}]   {row['untuned']['median_ns'] / tuned['median_ns']:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build directory with hone")
    parser.add_argument("--models", default=os.path.join(ROOT, "build", "models"))
    parser.add_argument("--db", default=os.path.join(ROOT, "out", "bench.sqlite"), help="tuning database that the tuned bundles are built from")
    parser.add_argument("--tune", default="", metavar="2m", help="tune each model first (continues an earlier run of the same database)")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--slice", type=float, default=0.15, metavar="SECONDS", help="time of one variant in one round")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="machine-readable, on stdout")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in MODELS]
    if unknown:
        parser.error(f"no model is called {unknown[0]}; there are {', '.join(MODELS)}")
    os.makedirs(os.path.dirname(options.db), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hone-bench-") as scratch:
        rows = [compare(name, options, scratch) for name in options.names or MODELS]
    result = {"cpu": cpu_name(), "threads": options.threads, "rounds": options.rounds, "onnxruntime": onnxruntime.__version__, "models": rows}
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        show(result)


if __name__ == "__main__":
    main()
