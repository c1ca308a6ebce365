// SPDX-License-Identifier: MIT
#include "db/row_hash.h"

#include <openssl/evp.h>

#include <array>
#include <bit>

#include "executor/error.h"

namespace hone {
namespace {

std::array<unsigned char, 8> little_endian(uint64_t value) {
  std::array<unsigned char, 8> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  return bytes;
}

}  // namespace

struct RowHash::Digest {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Digest() { EVP_MD_CTX_free(context); }
};

RowHash::RowHash(std::string_view table) : digest_(std::make_unique<Digest>()) {
  CHECK(digest_->context != nullptr && EVP_DigestInit_ex(digest_->context, EVP_sha256(), nullptr) == 1);
  text(table);
}

RowHash::~RowHash() = default;

void RowHash::field(char type, const void* bytes, size_t size) {
  const auto length = little_endian(size);
  CHECK(EVP_DigestUpdate(digest_->context, &type, 1) == 1);
  CHECK(EVP_DigestUpdate(digest_->context, length.data(), length.size()) == 1);
  CHECK(EVP_DigestUpdate(digest_->context, bytes, size) == 1);
}

RowHash& RowHash::text(std::string_view value) {
  field('t', value.data(), value.size());
  return *this;
}

RowHash& RowHash::blob(std::span<const std::byte> value) {
  field('b', value.data(), value.size());
  return *this;
}

RowHash& RowHash::integer(int64_t value) {
  const auto bytes = little_endian(static_cast<uint64_t>(value));
  field('i', bytes.data(), bytes.size());
  return *this;
}

RowHash& RowHash::real(double value) {
  // SQLite stores -0.0 as the integer 0 and reads it back as +0.0.
  const auto bytes = little_endian(std::bit_cast<uint64_t>(value == 0 ? 0.0 : value));
  field('r', bytes.data(), bytes.size());
  return *this;
}

RowHash& RowHash::null() {
  field('n', "", 0);
  return *this;
}

std::string RowHash::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  CHECK(EVP_DigestFinal_ex(digest_->context, digest.data(), &size) == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text.push_back(kDigits[digest[i] >> 4]);
    text.push_back(kDigits[digest[i] & 15]);
  }
  return text;
}

}  // namespace hone
