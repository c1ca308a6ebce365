// SPDX-License-Identifier: MIT
// The name of a kernel: what decides its code, hashed. Equal kernels of two models are one function.
#include <openssl/evp.h>

#include <array>

#include "codegen/builder.h"
#include "executor/error.h"

namespace hone {
namespace {

constexpr size_t kSymbolDigits = 24;

}  // namespace

std::string kernel_symbol(const Workload& workload, const Config& config, const DeviceInfo& device) {
  const std::string text = workload.canonical_json() + "\n" + config.canonical() + "\n" + device.halide_target;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  CHECK(EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1);
  std::string symbol = "hone_k";
  for (size_t i = 0; i < kSymbolDigits / 2; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    symbol += kDigits[digest[i] >> 4];
    symbol += kDigits[digest[i] & 15];
  }
  return symbol;
}

}  // namespace hone
