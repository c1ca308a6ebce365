// SPDX-License-Identifier: MIT
// Photographs in, input tensors out, by a bundle's preprocessing keys. Decoding and resampling are stb's (Debian
// libstb-dev).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "generators/tensor.h"

namespace hone {

bool is_image_file(const std::filesystem::path& file);  // by extension: png, jpg, jpeg, bmp, ppm

/// Reads an image as [1, 3, H, W] or [1, H, W, 3] (whichever `type` is), RGB:
/// resized (Catmull-Rom) so that the shorter side is `resize` (default H / 0.875), centre-cropped to H x W, then (x -
/// mean[c]) / scale[c]. Keys: "resize", "mean" and "scale" (one number or three, comma-separated; default 0 and 255),
/// "channels" (rgb | bgr). Throws Error on a file that is no image and on a type that no image fits.
Tensor read_image(const std::filesystem::path& file, const TensorType& type,
                  const std::map<std::string, std::string>& preprocessing);

}  // namespace hone
