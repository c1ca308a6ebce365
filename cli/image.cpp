// SPDX-License-Identifier: MIT
#include "cli/image.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <sstream>

#include "executor/error.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#include <stb/stb_image.h>
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
#include <stb/stb_image_resize.h>
#pragma GCC diagnostic pop

namespace hone {
namespace {

struct Image {
  int width = 0, height = 0;
  std::vector<unsigned char> rgb;  // [height][width][3]
};

Image load(const std::filesystem::path& file) {
  Image image;
  int channels = 0;
  const std::unique_ptr<unsigned char, decltype(&stbi_image_free)> pixels(
      stbi_load(file.c_str(), &image.width, &image.height, &channels, 3), stbi_image_free);
  if (!pixels) {
    throw Error("cannot read image " + file.string(), stbi_failure_reason() ? stbi_failure_reason() : "unknown format",
                "give a PNG, JPEG, BMP or PPM file, or a tensor as .npy");
  }
  image.rgb.assign(pixels.get(),
                   pixels.get() + size_t{3} * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
  return image;
}

Image resize_shorter_side(const Image& image, int64_t shorter, int64_t min_width, int64_t min_height) {
  const double scale =
      std::max({static_cast<double>(shorter) / std::min(image.width, image.height),
                static_cast<double>(min_width) / image.width, static_cast<double>(min_height) / image.height});
  Image result;
  result.width = std::max<int>(static_cast<int>(min_width), static_cast<int>(std::lround(image.width * scale)));
  result.height = std::max<int>(static_cast<int>(min_height), static_cast<int>(std::lround(image.height * scale)));
  result.rgb.resize(size_t{3} * static_cast<size_t>(result.width) * static_cast<size_t>(result.height));
  const int done = stbir_resize_uint8_generic(
      image.rgb.data(), image.width, image.height, 0, result.rgb.data(), result.width, result.height, 0, 3,
      STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_FILTER_CATMULLROM, STBIR_COLORSPACE_LINEAR, nullptr);
  if (done != 1) throw std::bad_alloc();
  return result;
}

std::string lookup(const std::map<std::string, std::string>& values, const std::string& key,
                   const std::string& otherwise) {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

std::array<float, 3> three_numbers(const std::map<std::string, std::string>& values, const std::string& key,
                                   const char* otherwise) {
  std::istringstream text(lookup(values, key, otherwise));
  std::array<float, 3> numbers{};
  size_t count = 0;
  for (std::string number; count < 3 && std::getline(text, number, ',');) numbers[count++] = std::stof(number);
  if (count == 1) numbers[1] = numbers[2] = numbers[0];
  return numbers;
}

}  // namespace

bool is_image_file(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  constexpr std::string_view kKnown[] = {".png", ".jpg", ".jpeg", ".bmp", ".ppm"};
  return std::find(std::begin(kKnown), std::end(kKnown), extension) != std::end(kKnown);
}

Tensor read_image(const std::filesystem::path& file, const TensorType& type,
                  const std::map<std::string, std::string>& preprocessing) {
  const bool planar = type.shape.size() == 4 && type.shape[1] == 3;
  const bool interleaved = type.shape.size() == 4 && type.shape[3] == 3;
  if (type.dtype != DType::f32 || (!planar && !interleaved) || type.shape[0] != 1) {
    throw Error("cannot feed image " + file.string(), "the input is not f32 [1, 3, H, W] or [1, H, W, 3]",
                "give a tensor as .npy");
  }
  const int64_t height = planar ? type.shape[2] : type.shape[1], width = planar ? type.shape[3] : type.shape[2];
  const int64_t shorter = std::stoll(lookup(
      preprocessing, "resize", std::to_string(std::lround(static_cast<double>(std::min(height, width)) / 0.875))));
  const Image image = resize_shorter_side(load(file), shorter, width, height);
  const std::array<float, 3> mean = three_numbers(preprocessing, "mean", "0"),
                             scale = three_numbers(preprocessing, "scale", "255");
  const bool bgr = lookup(preprocessing, "channels", "rgb") == "bgr";
  const int64_t top = (image.height - height) / 2, left = (image.width - width) / 2;
  Tensor tensor = Tensor::zeros(DType::f32, type.shape);
  const std::span<float> out = tensor.as<float>();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const unsigned char* pixel = &image.rgb[static_cast<size_t>(((top + y) * image.width + left + x) * 3)];
      for (int64_t c = 0; c < 3; ++c) {
        const size_t channel = static_cast<size_t>(c);
        const float value = (static_cast<float>(pixel[bgr ? 2 - c : c]) - mean[channel]) / scale[channel];
        out[static_cast<size_t>(planar ? (c * height + y) * width + x : (y * width + x) * 3 + c)] = value;
      }
    }
  }
  return tensor;
}

}  // namespace hone
