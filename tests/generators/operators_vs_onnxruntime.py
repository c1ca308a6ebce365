# SPDX-License-Identifier: MIT
"""Compares the scalar references of hone's operators with ONNX Runtime on random attribute combinations.

usage: operators_vs_onnxruntime.py OPERATOR_PROBE [SEED]

Each case is one ONNX node, written as the given opset spells it (attributes that are inputs there become initialisers,
by the table that the probe prints). A model that ONNX Runtime refuses must be refused by hone, or is counted as skipped
and shown; what ONNX Runtime runs, hone must compute. Every operator of the table must have been compared.
"""
import collections
import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ort.set_default_logger_severity(4)
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
          "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "bool": np.bool_}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
INT_MAX = 2**63 - 1


class Probe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.table = json.loads(self.process.stdout.readline())

    def evaluate(self, op, opset, attributes, inputs):
        request = {
            "op": op, "opset": opset, "attributes": {k: tagged(v) for k, v in attributes.items()},
            "inputs": [None if x is None else
                       {"dtype": NAMES[x.dtype], "shape": x.shape, "bytes": x.tobytes().hex()} for x in inputs]}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        if "error" in reply:
            return reply["error"]
        return [np.frombuffer(bytes.fromhex(o["bytes"]), DTYPES[o["dtype"]]).reshape(o["shape"])
                for o in reply["outputs"]]


def tagged(value):
    if isinstance(value, str):
        return {"string": value}
    if isinstance(value, (list, tuple)):
        return {"ints": list(value)}
    if isinstance(value, float):
        return {"float": value if np.isfinite(value) else str(value)}
    return {"int": value}


def run_onnxruntime(table, op, opset, attributes, inputs, outputs):
    """The outputs, or the exception's text."""
    specs = table[op]["attributes"]
    names, initialisers, as_attributes = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)], [], {}
    for name, value in attributes.items():
        position = specs[name]["input"]
        if position < 0 or opset < specs[name]["input_since"]:
            as_attributes[name] = value
            continue
        while len(names) <= position:
            names.append("")
        names[position] = name
        dtype = np.int64 if not isinstance(value, float) else inputs[0].dtype
        initialisers.append(numpy_helper.from_array(np.array(value, dtype), name))
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], **as_attributes)
    given = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
    graph = helper.make_graph(
        [node], "one",
        [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in given.items()],
        [onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)], initialisers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    try:
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, given)
    except Exception as error:  # noqa: BLE001: ONNX Runtime has no common base of its exceptions
        return str(error).replace("\n", " ")[:200]


class Cases:
    """Yields (op, opset, attributes, inputs, number of outputs)."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def choice(self, *options):
        return options[self.integer(0, len(options) - 1)]

    def floats(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def shape(self, low=1, high=4, extent=6):
        return tuple(self.integer(1, extent) for _ in range(self.integer(low, high)))

    def some(self, attributes):
        """Each optional attribute is given or left to its default."""
        return {k: v for k, v in attributes.items() if self.random.random() < 0.6}

    def all(self, count):
        for _ in range(count):
            for family in (self.conv, self.products, self.pools, self.reductions, self.softmax, self.reshapes,
                           self.slices, self.pads, self.copies, self.norm, self.shape_of):
                yield from family()
        for _ in range(3):
            yield from self.pointwise()

    def window(self, rank, dilations=True):
        attributes = {"strides": [self.integer(1, 3) for _ in range(rank)]}
        if dilations:
            attributes["dilations"] = [self.integer(1, 2) for _ in range(rank)]
        if self.random.random() < 0.5:
            attributes["pads"] = [self.integer(0, 1) for _ in range(2 * rank)]
        else:
            attributes["auto_pad"] = self.choice("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
            if attributes["auto_pad"].startswith("SAME"):
                attributes.pop("dilations", None)  # ONNX Runtime refuses the two together
        return self.some(attributes)

    def conv(self):
        rank, group = self.integer(1, 2), self.choice(1, 1, 2, 3)
        channels, outputs = group * self.integer(1, 3), group * self.integer(1, 3)
        kernel = [self.integer(1, 3) for _ in range(rank)]
        x = self.floats(self.integer(1, 2), channels, *(self.integer(5, 11) for _ in range(rank)))
        inputs = [x, self.floats(outputs, channels // group, *kernel)]
        if self.random.random() < 0.5:
            inputs.append(self.floats(outputs))
        attributes = self.window(rank) | self.some({"kernel_shape": kernel})
        if group > 1:
            attributes["group"] = group
        yield "Conv", self.choice(1, 11, 21), attributes, inputs, 1

    def products(self):
        m, k, n = (self.integer(1, 5) for _ in range(3))
        left, right = self.choice([], [2], [3, 1], [1, 2]), self.choice([], [1], [2])
        a = self.floats(*left, m, k) if self.random.random() < 0.8 else self.floats(k)
        b = self.floats(*right, k, n) if self.random.random() < 0.8 else self.floats(k)
        yield "MatMul", self.choice(1, 9, 13), {}, [a, b], 1
        attributes = self.some({"transA": 1, "transB": 1, "alpha": 0.75, "beta": -1.5})
        a = self.floats(k, m) if "transA" in attributes else self.floats(m, k)
        b = self.floats(n, k) if "transB" in attributes else self.floats(k, n)
        c = self.choice(None, (m, n), (1, n), (m, 1), (n,), ())
        inputs = [a, b] + ([] if c is None else [self.floats(*c)])
        yield "Gemm", self.choice(11, 13), attributes, inputs, 1

    def pools(self):
        rank = self.integer(1, 2)
        x = self.floats(self.integer(1, 2), self.integer(1, 3), *(self.integer(5, 11) for _ in range(rank)))
        kernel = [self.integer(2, 3) for _ in range(rank)]
        for op in ("MaxPool", "AveragePool"):
            opset = self.choice(10, 12) if op == "MaxPool" else self.choice(10, 11, 19)
            attributes = self.window(rank, op == "MaxPool" or opset == 19) | {"kernel_shape": kernel}
            attributes |= self.some({"ceil_mode": 1} | ({"count_include_pad": 1} if op == "AveragePool" else {}))
            if attributes.get("auto_pad", "NOTSET") != "NOTSET":
                attributes.pop("ceil_mode", None)
            yield op, opset, attributes, [x], 1
        yield self.choice("GlobalAveragePool", "GlobalMaxPool"), 1, {}, [x], 1

    def reductions(self):
        x = self.floats(*self.shape(1, 4))
        axes = [int(a) for a in self.random.permutation(x.ndim)[:self.integer(1, x.ndim)]]
        axes = [a - x.ndim if self.random.random() < 0.5 else a for a in axes]
        for op in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"):
            opset = self.choice(11, 13, 18)
            attributes = self.some({"axes": axes, "keepdims": self.integer(0, 1)})
            data = np.abs(x) if op == "LogSum" else x
            if op in ("Sum", "Max", "Min", "Prod") and self.random.random() < 0.3:
                data = self.random.integers(-5, 6, x.shape).astype(np.int32)
            if op == "Sum" and opset >= 13 and "axes" not in attributes:
                attributes |= self.some({"noop_with_empty_axes": 1})
            yield "Reduce" + op, opset, attributes, [data], 1

    def softmax(self):
        x = 3 * self.floats(*self.shape(1, 4))
        axis = self.integer(-x.ndim, x.ndim - 1)
        for op in ("Softmax", "LogSoftmax"):
            opset = self.choice(1, 11, 13)
            yield op, opset, self.some({"axis": axis % x.ndim if opset < 11 else axis}), [x], 1

    def reshapes(self):
        x = self.floats(2, 3, 4, 1)
        shape = self.choice([24], [0, -1], [-1, 0, 2], [2, 3, 4], [0, 0, 0, 0], [1, -1, 1], [4, 3, 2])
        yield "Reshape", self.choice(5, 13), {"shape": shape}, [x], 1
        opset = self.choice(11, 13)
        yield "Flatten", opset, self.some({"axis": self.integer(-4, 4)}), [x], 1
        axes = self.choice([0], [-1], [2, 0], [0, 2, -1])
        yield "Squeeze", opset, self.some({"axes": axes}), [self.floats(1, 3, 1, 2, 1)], 1
        yield "Unsqueeze", opset, {"axes": self.choice([0], [-1], [1, 3], [4, 0])}, [self.floats(2, 3, 4)], 1
        yield "Identity", 13, {}, [x], 1
        yield "Dropout", 13, self.some({"ratio": 0.25}), [x], 1

    def slices(self):
        x = self.floats(*self.shape(2, 3, 7))
        axes = [int(a) for a in self.random.permutation(x.ndim)[:self.integer(1, x.ndim)]]
        bound = lambda: self.choice(self.integer(-9, 9), self.integer(0, 4), INT_MAX, -INT_MAX - 1)  # noqa: E731
        attributes = {"starts": [bound() for _ in axes], "ends": [bound() for _ in axes],
                      "axes": [a - self.choice(0, x.ndim) for a in axes]}
        opset = self.choice(9, 10, 13)
        if opset == 9:
            attributes["axes"] = axes
        elif self.random.random() < 0.7:
            attributes["steps"] = [self.choice(1, 2, 3, -1, -2, -3) for _ in axes]
        yield "Slice", opset, attributes, [x], 1

    def pads(self):
        x = self.floats(*(self.integer(3, 6) for _ in range(self.integer(1, 3))))
        mode = self.choice("constant", "edge", "reflect")
        opset = self.choice(10, 11, 18)
        attributes = {"pads": [self.integer(0 if opset > 1 else -1, 2) for _ in range(2 * x.ndim)]}
        attributes |= self.some({"mode": mode, "value": 1.25})
        if opset == 18 and x.ndim > 1:
            attributes |= {"axes": [-1, 0], "pads": attributes["pads"][:4]}
        yield "Pad", opset, attributes, [x], 1

    def copies(self):
        x = self.floats(*self.shape(1, 4))
        yield "Transpose", 13, self.some({"perm": [int(a) for a in self.random.permutation(x.ndim)]}), [x], 1
        axis = self.integer(-x.ndim, x.ndim - 1)
        others = []
        for _ in range(self.integer(0, 2)):
            shape = list(x.shape)
            shape[axis] = self.integer(1, 4)
            others.append(self.floats(*shape))
        yield "Concat", 13, {"axis": axis}, [x] + others, 1
        yield "Tile", 13, {"repeats": [self.integer(1, 3) for _ in x.shape]}, [x], 1
        target = [self.integer(2, 3)] * self.integer(0, 1) + [self.choice(1, n) if n > 1 else 3 for n in x.shape]
        yield "Expand", 13, {"shape": target}, [x], 1
        dtype = self.choice(np.int32, np.int64)
        indices = self.random.integers(-x.shape[axis], x.shape[axis], self.shape(0, 2)).astype(dtype)
        yield "Gather", 13, {"axis": axis}, [x, indices], 1
        wide = self.floats(2, 7, 3)
        if self.random.random() < 0.5:
            yield "Split", self.choice(11, 13), {"axis": 1, "split": [3, 1, 3]}, [wide], 3
        else:
            yield "Split", 18, {"axis": -2, "num_outputs": 3}, [wide], 3

    def norm(self):
        x = self.floats(2, 3, *self.shape(0, 2))
        variance = np.abs(self.floats(3)) + 0.1
        inputs = [x, self.floats(3), self.floats(3), self.floats(3), variance.astype(np.float32)]
        yield "BatchNormalization", self.choice(9, 15), self.some({"epsilon": 0.01}), inputs, 1

    def shape_of(self):
        x = self.floats(*self.shape(0, 4))
        yield "Shape", 13, {}, [x], 1
        yield "Shape", 15, self.some({"start": self.integer(-5, 5), "end": self.integer(-5, 5)}), [x], 1
        yield "Size", 13, {}, [x], 1

    def pointwise(self):
        x = 2 * self.floats(3, 1, 5)
        x.flat[:6] = [np.nan, np.inf, -np.inf, -0.0, 0.5, 2.5]
        y = self.choice(self.floats(4, 5), self.floats(1), self.floats(2, 3, 4, 5), self.floats())
        ints = lambda *s: self.random.integers(-9, 10, s).astype(self.choice(np.int32, np.int64))  # noqa: E731
        truth = lambda *s: self.random.random(s) < 0.5  # noqa: E731
        for op in ("Abs", "Ceil", "Exp", "Floor", "HardSwish", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign",
                   "Softplus", "Softsign", "Sqrt", "Tanh", "Erf", "IsNaN", "Mish", "Log"):
            yield op, 18, {}, [x], 1
        for op, attributes in {"Celu": {"alpha": 0.5}, "Elu": {"alpha": 0.5}, "LeakyRelu": {"alpha": 0.1},
                               "HardSigmoid": {"alpha": 0.3, "beta": 0.4}, "Selu": {"alpha": 1.5, "gamma": 1.25},
                               "ThresholdedRelu": {"alpha": 0.75}, "Clip": {"min": -0.5, "max": 1.0},
                               "IsInf": {"detect_negative": 0}}.items():
            # An absent bound of Clip is infinite in hone, ONNX Runtime's is the largest finite number.
            yield op, 13, self.some(attributes), [np.nan_to_num(x) if op == "Clip" else x], 1
        yield "Clip", 6, self.some({"min": -0.5, "max": 1.0}), [np.nan_to_num(x, nan=np.nan)], 1
        yield "Gelu", 20, self.some({"approximate": "tanh"}), [x], 1
        yield "PRelu", 16, {}, [x, self.floats(5)], 1
        for op in ("Add", "Sub", "Mul", "Div", "Pow"):
            yield op, 14, {}, [x, y], 1
            a, b = ints(3, 4), ints(4)
            if op == "Div":
                b[b == 0] = 3
            yield op, 14, {}, [a, np.abs(b % 4).astype(a.dtype) if op == "Pow" else b.astype(a.dtype)], 1
        for op in ("Max", "Min", "Sum", "Mean"):
            yield op, 13, {}, [x, y, self.floats(5)][:self.integer(1, 3)], 1
        a, b = ints(3, 4), ints(4)
        b[b == 0] = -2
        for fmod in (0, 1):
            yield "Mod", 13, {"fmod": fmod}, [a, b.astype(a.dtype)], 1
        yield "Mod", 13, {"fmod": 1}, [self.floats(3, 4), self.floats(4)], 1
        for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
            yield op, 16, {}, [x, y], 1
            yield op, 16, {}, [a, np.flip(a)], 1
        for op in ("And", "Or", "Xor"):
            yield op, 7, {}, [truth(3, 4), truth(4)], 1
        yield "Not", 1, {}, [truth(3, 4)], 1
        yield "Where", 16, {}, [truth(3, 1, 1), x, y], 1
        finite = 50 * self.floats(20)
        for to in (TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT16, TensorProto.BOOL, TensorProto.DOUBLE):
            yield "Cast", 13, {"to": int(to)}, [finite], 1
        for to in (TensorProto.UINT8, TensorProto.INT16, TensorProto.FLOAT, TensorProto.BOOL):
            yield "Cast", 13, {"to": int(to)}, [self.random.integers(-1000, 1000, 20).astype(np.int32)], 1


def difference(actual, expected):
    """Empty, or what differs."""
    if len(actual) != len(expected):
        return f"{len(actual)} outputs for {len(expected)}"
    for a, e in zip(actual, expected):
        if a.shape != e.shape or a.dtype != e.dtype:
            return f"{a.dtype}{list(a.shape)} for {e.dtype}{list(e.shape)}"
        exact = e.dtype.kind != "f"
        rtol = 0 if exact else 2e-3 if e.dtype == np.float16 else 2e-5
        if not np.allclose(a.astype(np.float64), e.astype(np.float64), rtol=rtol, atol=0 if exact else 2e-5,
                           equal_nan=True):
            return f"values differ:\n  hone {a.ravel()[:12]}\n  ort  {e.ravel()[:12]}"
    return ""


def main():
    probe = Probe(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    compared, refused, failures = collections.Counter(), collections.Counter(), 0
    for op, opset, attributes, inputs, outputs in Cases(seed).all(12):
        expected = run_onnxruntime(probe.table, op, opset, attributes, inputs, outputs)
        actual = probe.evaluate(op, opset, attributes, inputs)
        what = f"{op} opset {opset} {attributes} on {[(str(x.dtype), x.shape) for x in inputs if x is not None]}"
        if isinstance(expected, str):
            refused[f"{op}: {expected}"] += 1
            continue
        problem = actual if isinstance(actual, str) else difference(actual, expected)
        compared[op] += 1
        if problem:
            failures += 1
            print(f"FAILED {what}: {problem}")
    for reason, count in sorted(refused.items()):
        print(f"skipped {count}: {reason}")
    missing = sorted(set(probe.table) - set(compared))
    print(f"seed {seed}: {sum(compared.values())} cases of {len(compared)} operators, {failures} failures, "
          f"{sum(refused.values())} refused by ONNX Runtime; not compared: {', '.join(missing) or 'none'}")
    return 1 if failures or missing or sum(refused.values()) > sum(compared.values()) // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
