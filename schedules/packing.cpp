// SPDX-License-Identifier: MIT
#include "schedules/packing.h"

#include <cstring>

#include "executor/error.h"

namespace hone {

PackedConstant pack_dense(const Tensor& tensor) {
  return {tensor.bytes, "dense " + std::string(name(tensor.dtype))};
}

PackedConstant pack_vector(const Tensor& tensor, int64_t block) {
  const size_t bytes = static_cast<size_t>((tensor.elements() + block - 1) / block * block) * sizeof(float);
  PackedConstant packed{tensor.bytes, "vector padded to " + std::to_string(bytes / sizeof(float)) + " f32"};
  packed.bytes.resize(bytes);
  return packed;
}

PackedConstant pack_panels(const Tensor& tensor, int64_t outer, int64_t inner, int64_t block,
                           const std::function<int64_t(int64_t, int64_t)>& at, const std::string& description) {
  CHECK(tensor.dtype == DType::f32);
  const std::span<const float> source = tensor.as<float>();
  const int64_t panels = (outer + block - 1) / block;
  std::vector<float> values(static_cast<size_t>(panels * inner * block), 0.0f);
  for (int64_t o = 0; o < outer; ++o) {
    float* column = values.data() + (o / block * inner * block + o % block);
    for (int64_t i = 0; i < inner; ++i) column[i * block] = source[static_cast<size_t>(at(o, i))];
  }
  PackedConstant packed;
  packed.bytes.resize(values.size() * sizeof(float));
  std::memcpy(packed.bytes.data(), values.data(), packed.bytes.size());
  packed.descriptor = description + " in panels of " + std::to_string(block) + " f32";
  return packed;
}

}  // namespace hone
