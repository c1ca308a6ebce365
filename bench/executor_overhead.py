#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a node costs beside its kernel: hone's executor against ONNX Runtime on the same chain, interleaved.

  executor_overhead.py [--build build/release] [--nodes 1000] [--rounds 60] [--json]

The chain is x + w0 + w1 + ... on [1,16] floats, each w of its own; ONNX Runtime runs it with graph optimisations disabled, so that
no two nodes are joined, one thread, sequential, inputs and outputs bound. Timed: one whole run, in CPU time of the one thread, a batch of about
50,000 nodes a sample; the sides take turns. A chain of one node is timed too and subtracted: what is left has no call from Python
in it. Both figures include the addition itself (a few ns).
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLOATS = 16


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


def chain(nodes):
    initializers = [onnx.numpy_helper.from_array(np.full((1, FLOATS), 0.5, np.float32), f"w{i}") for i in range(nodes)]
    names = ["x"] + [f"t{i}" for i in range(nodes - 1)] + ["y"]
    body = [onnx.helper.make_node("Add", [names[i], f"w{i}"], [names[i + 1]]) for i in range(nodes)]
    border = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, FLOATS]) for name in ("x", "y")]
    graph = onnx.helper.make_graph(body, "chain", border[:1], border[1:], initializers)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)


class OnnxRuntimeChain:
    def __init__(self, nodes):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        self.session = onnxruntime.InferenceSession(chain(nodes).SerializeToString(), options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.input = onnxruntime.OrtValue.ortvalue_from_numpy(np.ones((1, FLOATS), np.float32))
        self.output = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros((1, FLOATS), np.float32))
        self.binding.bind_ortvalue_input("x", self.input)
        self.binding.bind_ortvalue_output("y", self.output)
        self.runs = max(1, 50000 // nodes)
        self.time_run()
        if self.output.numpy()[0, -1] != 1 + nodes / 2:
            sys.exit("executor_overhead.py: ONNX Runtime's result is wrong")

    def time_run(self):
        start = time.thread_time_ns()
        for _ in range(self.runs):
            self.session.run_with_iobinding(self.binding)
        return (time.thread_time_ns() - start) / self.runs


class HoneChain:
    def __init__(self, program, nodes):
        self.process = subprocess.Popen([program, str(nodes), "--on-demand"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def time_run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def text_bytes(library):
    """Sum over the members, as `size -t` prints it."""
    output = subprocess.run(["size", "-t", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return int(output.splitlines()[-1].split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    program = os.path.join(options.build, "bench", "executor_overhead")
    architecture = platform.machine().replace("_", "-")
    library = os.path.join(options.build, "runtime", architecture, "libhone_executor.a")
    if not os.path.exists(program):
        sys.exit(f"executor_overhead.py: {program} is missing: build the target executor_overhead, or give --build")
    sides = {"hone": [HoneChain(program, options.nodes), HoneChain(program, 1)],
             "onnxruntime": [OnnxRuntimeChain(options.nodes), OnnxRuntimeChain(1)]}
    samples = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, (whole, single) in sides.items():
            samples[name].append((whole.time_run() - single.time_run()) / (options.nodes - 1))
    for side in sides["hone"]:
        side.close()
    result = {"cpu": cpu_name(), "nodes": options.nodes, "rounds": options.rounds, "onnxruntime": onnxruntime.__version__,
              "executor_text_bytes": text_bytes(library),
              "ns_per_node": {name: {"median": statistics.median(values), "min": min(values)} for name, values in samples.items()}}
    if options.json:
        print(json.dumps(result))
        return
    print(f"{options.nodes} nodes, {options.rounds} interleaved rounds, one thread, {result['cpu']}")
    for name, values in result["ns_per_node"].items():
        print(f"  {name:12} {values['median']:8.1f} ns per node (fastest round {values['min']:.1f})")
    print(f"  executor text {result['executor_text_bytes'] / 1024:.1f} KB ({os.path.basename(library)}, all members)")


if __name__ == "__main__":
    main()
