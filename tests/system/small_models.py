# SPDX-License-Identifier: MIT
"""Models of a few nodes, written with onnx.helper: quick to tune, or broken on purpose."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def constant(random, name, *shape):
    scale = np.sqrt(2.0 / max(1, int(np.prod(shape[1:]))))
    return numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), name)


def build(nodes, inputs, outputs, initializers=(), domains=()):
    """inputs, outputs: {name: shape}, float32."""
    values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in side.items()] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "small", *values, list(initializers))
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def classifier():
    """Convolution, depthwise convolution, 1x1 convolution, pooling and a matrix product: five workloads of a fraction of a millisecond."""
    random = np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], "conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "conv2", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=16),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("Conv", ["r2", "w3", "b3"], ["c3"], "conv3", kernel_shape=[1, 1]),
        helper.make_node("Relu", ["c3"], ["r3"], "relu3"),
        helper.make_node("GlobalAveragePool", ["r3"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w4", "b4"], ["scores"], "head", transB=1),
    ]
    weights = [
        constant(random, "w1", 16, 3, 3, 3), constant(random, "b1", 16), constant(random, "w2", 16, 1, 3, 3), constant(random, "b2", 16),
        constant(random, "w3", 32, 16, 1, 1), constant(random, "b3", 32), constant(random, "w4", 10, 32), constant(random, "b4", 10),
    ]
    model = build(nodes, {"image": [1, 3, 64, 64]}, {"scores": [1, 10]}, weights)
    onnx.checker.check_model(model)
    return model


def residual():
    """The classifier's first convolution, then a 3x3 convolution whose result is added to its input."""
    random = np.random.default_rng(5)
    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], "conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "conv2", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["sum"], "add1"),
    ]
    weights = [constant(random, "w1", 16, 3, 3, 3), constant(random, "b1", 16), constant(random, "w2", 16, 16, 3, 3), constant(random, "b2", 16)]
    model = build(nodes, {"image": [1, 3, 64, 64]}, {"sum": [1, 16, 32, 32]}, weights)
    onnx.checker.check_model(model)
    return model


def unknown_operator():
    return build([helper.make_node("Relu", ["x"], ["r"], "relu1"), helper.make_node("Sofmax", ["r"], ["y"], "odd")], {"x": [2, 3]}, {"y": [2, 3]})


def other_domain():
    node = helper.make_node("FusedConv", ["x"], ["y"], "fused", domain="com.microsoft")
    return build([node], {"x": [2, 3]}, {"y": [2, 3]}, domains=["com.microsoft"])


def cyclic():
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], "first"), helper.make_node("Relu", ["a"], ["b"], "second")]
    return build(nodes, {"x": [2, 3]}, {"a": [2, 3]})


def open_shape():
    return build([helper.make_node("Relu", ["x"], ["y"], "relu1")], {"x": ["batch", 3]}, {"y": ["batch", 3]})


def bad_attribute():
    """A kernel of 5x5 declared, a weight of 3x3 given."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv1", kernel_shape=[5, 5])
    return build([node], {"x": [1, 3, 8, 8]}, {"y": [1, 4, 4, 4]}, [constant(np.random.default_rng(0), "w", 4, 3, 3, 3)])


def save(model, path):
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return path
