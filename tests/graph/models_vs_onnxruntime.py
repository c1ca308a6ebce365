#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random small models: graph/ (import, passes, layouts, groups, scalar references) against ONNX Runtime.

  models_vs_onnxruntime.py GRAPH_EVALUATOR [SEED] [COUNT]

Each model is a chain of blocks drawn from BLOCKS over a tensor [N, C, H, W], ending in a random head; every few values become
outputs too, so that patterns are cut in the middle. Compared: all outputs, relative to the largest element, at 2e-5 (ONNX
Runtime computes in float32, the references in float64). A failure prints the seed and keeps the model.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LIMIT = 2e-5


class Model:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.rng.choice([11, 13, 17, 18]))
        self.nodes, self.initializers, self.extra_outputs, self.names = [], [], [], 0
        self.shape = [int(self.rng.integers(1, 3)), int(self.rng.choice([3, 4, 8])), *map(int, self.rng.integers(5, 10, 2))]
        self.input_shape = list(self.shape)
        self.value = "x"

    def name(self):
        self.names += 1
        return f"t{self.names}"

    def constant(self, array):
        """An initializer or a Constant node, raw or typed."""
        name, tensor = self.name(), numpy_helper.from_array(np.ascontiguousarray(array))
        if array.dtype == np.float32 and self.rng.random() < 0.3:
            tensor = helper.make_tensor("", TensorProto.FLOAT, array.shape, array.flatten().tolist())
        tensor.name = name
        if self.rng.random() < 0.5:
            self.initializers.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def weights(self, *shape):
        fan_in = max(1, int(np.prod(shape[1:])))
        return self.constant((self.rng.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def add(self, op, inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def scalar(self, value):
        shape = [[], [1]][int(self.rng.integers(2))]
        return self.constant(np.full(shape, value, np.float32))

    def either_way(self, a, b):
        return [a, b] if self.rng.random() < 0.5 else [b, a]

    def pad(self, pads):
        if self.opset >= 18 and self.rng.random() < 0.5:
            axes = [self.ints(2, -1)]
        else:
            pads, axes = [0, 0, *pads[:2], 0, 0, *pads[2:]], []
        return self.add("Pad", [self.value, self.ints(*pads), self.scalar(0.0), *axes])


def conv(m):
    n, c, h, w = m.shape
    groups = int(m.rng.choice([g for g in (1, 2, c) if c % g == 0]))
    out = groups * int(m.rng.choice([1, 2, 4]))
    k = [int(v) for v in m.rng.choice([1, 3], 2)]
    strides, dilations = ([int(v) for v in m.rng.choice([1, 2], 2)] for _ in range(2))
    if min(h, w) < 6:
        dilations = [1, 1]  # the window must fit
    attributes = dict(kernel_shape=k, strides=strides, dilations=dilations, group=groups)
    pads = [int(v) for v in m.rng.integers(0, 2, 4)]
    style = m.rng.integers(3)
    if style == 0:
        attributes["pads"] = pads
    elif style == 1:
        attributes.update(auto_pad=str(m.rng.choice(["SAME_UPPER", "SAME_LOWER"])), dilations=[1, 1])
    else:  # a Pad in front
        m.value = m.pad(pads)
    inputs = [m.value, m.weights(out, c // groups, *k)] + ([m.weights(out)] if m.rng.random() < 0.5 else [])
    m.value = m.add("Conv", inputs, **attributes)
    m.shape = None
    tail = m.rng.integers(4)
    if tail == 0:
        batch_norm(m, out)
    elif tail == 1:  # the bias as an Add of a reshaped vector
        bias = m.add("Reshape", [m.weights(out), m.ints(1, -1, 1, 1)])
        m.value = m.add("Add", m.either_way(m.value, bias))
    elif tail == 2:
        m.value = m.add("Mul", m.either_way(m.value, m.weights(out, 1, 1)))


def batch_norm(m, channels=None):
    c = channels or m.shape[1]
    variance = m.constant((m.rng.random(c) + 0.5).astype(np.float32))
    m.value = m.add("BatchNormalization", [m.value, m.weights(c), m.weights(c), m.weights(c), variance], epsilon=1e-3)


def activation(m):
    x, kind = m.value, m.rng.integers(7)
    if kind == 0:
        m.value = m.add("Relu", [x])
    elif kind == 1:
        m.value = m.add("Clip", [x, m.constant(np.float32(0)), m.constant(np.float32(6))])
    elif kind == 2:
        m.value = m.add("Mul", m.either_way(x, m.add("Sigmoid", [x])))
    elif kind == 3:
        m.value = m.add("LeakyRelu", [x], alpha=0.1)
    else:  # hardswish, and what only looks like it
        shifted = m.add("Add", m.either_way(x, m.scalar(3.0 if kind < 6 else 2.0)))
        clip = m.add("Clip", [shifted, m.constant(np.float32(0)), m.constant(np.float32(6))])
        if m.rng.random() < 0.2:
            m.extra_outputs.append(clip)
        sixth = lambda v: m.add("Div", [v, m.scalar(6.0)]) if m.rng.random() < 0.5 else m.add("Mul", [v, m.scalar(1 / 6)])
        m.value = sixth(m.add("Mul", m.either_way(x, clip))) if kind == 4 else m.add("Mul", m.either_way(x, sixth(clip)))


def residual(m):
    before, c = m.value, m.shape[1]
    other = m.add("Conv", [before, m.weights(c, c, 3, 3)], pads=[1, 1, 1, 1])
    if m.rng.random() < 0.5:
        before = m.add("Conv", [before, m.weights(c, c, 1, 1)])
    m.value = m.add("Relu", [m.add("Add", m.either_way(before, other))])


def squeeze_excite(m):
    c, x = m.shape[1], m.value
    gate = m.add("GlobalAveragePool", [x])
    gate = m.add("Relu", [m.add("Conv", [gate, m.weights(2, c, 1, 1), m.weights(2)])])
    gate = m.add("HardSigmoid", [m.add("Conv", [gate, m.weights(c, 2, 1, 1)])])
    m.value = m.add("Mul", m.either_way(x, gate))


def pool(m):
    attributes = dict(kernel_shape=[int(v) for v in m.rng.integers(2, 4, 2)], strides=[int(v) for v in m.rng.integers(1, 3, 2)])
    op = str(m.rng.choice(["MaxPool", "AveragePool"]))
    if m.rng.random() < 0.3:
        m.value = m.pad([1, 0, 1, 1])
    elif m.rng.random() < 0.5:
        attributes["pads"] = [1, 0, 1, 1]
        if op == "AveragePool":
            attributes["count_include_pad"] = int(m.rng.integers(2))
    m.value = m.add(op, [m.value], **attributes)


def moves(m):
    n, c, h, w = m.shape
    kind = m.rng.integers(5)
    if kind == 0:  # there and back, with something in between that must not see the difference
        m.value = m.add("Transpose", [m.add("Relu", [m.add("Transpose", [m.value], perm=[0, 2, 3, 1])])], perm=[0, 3, 1, 2])
    elif kind == 1:
        m.value = m.add("Slice", [m.value, m.ints(1), m.ints(np.iinfo(np.int64).max), m.ints(2), m.ints(int(m.rng.integers(1, 3)))])
    elif kind == 2:
        m.value = m.add("Concat", [m.value, m.add("Relu", [m.value])], axis=int(m.rng.choice([1, -1])))
    elif kind == 3:  # a computed shape: merge height and width, and split them again
        n_and_c = m.add("Slice", [m.add("Shape", [m.value]), m.ints(0), m.ints(2)])
        flat = m.add("Reshape", [m.value, m.add("Concat", [n_and_c, m.ints(-1)], axis=0)])
        m.value = m.add("Reshape", [m.add("Abs", [flat]), m.add("Shape", [m.value])])
    elif c > 1:
        a, b = m.name(), m.name()
        inputs, attributes = ([m.value, m.ints(1, c - 1)], {}) if m.opset >= 13 else ([m.value], dict(split=[1, c - 1]))
        m.nodes.append(helper.make_node("Split", inputs, [a, b], axis=1, **attributes))
        m.value = m.add("Add", m.either_way(a, b))


def noise(m):
    """What passes remove."""
    kind = m.rng.integers(5)
    if kind == 0:
        m.value = m.add("Identity", [m.value])
    elif kind == 1:
        m.value = m.add("Mul", m.either_way(m.value, m.scalar(1.0)))
    elif kind == 2:
        m.value = m.add("Sub", [m.value, m.scalar(0.0)])
    elif kind == 3:
        m.value = m.add("Dropout", [m.value])
    else:
        twins = [m.add("Tanh", [m.value]) for _ in range(2)]
        m.value = m.add("Add", twins)


def head(m):
    n, c, h, w = m.shape
    kind = m.rng.integers(4)
    if kind == 0:
        m.value = m.add("Flatten", [m.add("GlobalAveragePool", [m.value])])
        m.value = m.add("Gemm", [m.value, m.weights(5, c), m.weights(5)], transB=1)
    elif kind == 1:  # an order-changing reshape
        m.value = m.add("MatMul", [m.add("Reshape", [m.value, m.ints(0, -1)]), m.weights(c * h * w, 6)])
        m.value = m.add("Softmax", [m.add("Add", [m.value, m.weights(6)])], axis=-1)
    elif kind == 2:
        axes = dict(axes=[2, 3]) if m.opset < 18 else {}
        inputs = [m.value] + ([m.ints(2, 3)] if m.opset >= 18 else [])
        m.value = m.add("ReduceMean", inputs, keepdims=int(m.rng.integers(2)), **axes)
    else:
        m.value = m.add("Identity", [m.value])


BLOCKS = [conv, conv, conv, batch_norm, activation, activation, residual, squeeze_excite, pool, moves, moves, noise]


def run_onnxruntime(model, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


def build(m, names):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, m.input_shape)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    graph = helper.make_graph(m.nodes, "random", inputs, outputs, m.initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", m.opset)], ir_version=8)


def shape_of(m):
    """The running value's shape: inference in onnx does not see through computed reshapes."""
    return list(run_onnxruntime(build(m, [m.value]), np.zeros(m.input_shape, np.float32))[0].shape)


def random_model(seed):
    m = Model(seed)
    for _ in range(int(m.rng.integers(2, 6))):
        m.shape = shape_of(m) if m.nodes else m.shape
        if min(m.shape[2:]) < 3:
            break
        BLOCKS[int(m.rng.integers(len(BLOCKS)))](m)
        if m.rng.random() < 0.15 and m.value != "x":
            m.extra_outputs.append(m.value)
    m.shape = shape_of(m) if m.nodes else m.shape
    head(m)
    return build(m, list(dict.fromkeys([m.value, *m.extra_outputs]))), m


def check(evaluator, seed, folder):
    model, m = random_model(seed)
    file = os.path.join(folder, f"random_{seed}.onnx")
    onnx.save(model, file)
    x = m.rng.standard_normal(m.input_shape).astype(np.float32) * 3
    x.tofile(os.path.join(folder, "input_0.bin"))
    expected = run_onnxruntime(model, x)
    for plain in ([], ["--plain"]):
        run = subprocess.run([evaluator, file, folder, *plain], capture_output=True, text=True)
        if run.returncode != 0:
            return f"{run.stderr.strip()} (exit {run.returncode})"
        for i, want in enumerate(expected):
            got = np.fromfile(os.path.join(folder, f"output_{i}.bin"), np.float32)
            if got.size != want.size:
                return f"output {i} has {got.size} elements, not {want.size}"
            error = np.abs(got.reshape(want.shape) - want).max() / max(np.abs(want).max(), 1e-30)
            if not error < LIMIT:
                return f"output {i} {plain} departs by {error:.2e}"
    return None


def main():
    evaluator = sys.argv[1]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            problem = check(evaluator, seed, folder)
            if problem:
                failures += 1
                kept = os.path.join(tempfile.gettempdir(), f"hone_random_{seed}.onnx")
                os.replace(os.path.join(folder, f"random_{seed}.onnx"), kept)
                print(f"seed {seed}: {problem}; model kept as {kept}")
    print(f"{count - failures} of {count} models equal ONNX Runtime within {LIMIT}")
    return 1 if failures or count < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
