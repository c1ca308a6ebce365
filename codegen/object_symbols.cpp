// SPDX-License-Identifier: MIT
#include "codegen/object_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>

#include "executor/error.h"

namespace hone {
namespace {

/// Reads structures at any offset of a file's bytes; out of bounds is an Error.
class ElfBytes {
 public:
  explicit ElfBytes(const std::filesystem::path& object) : object_(object) {
    std::ifstream file(object, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) fail("it cannot be read");
  }
  [[noreturn]] void fail(std::string_view problem) const {
    throw Error("cannot read object " + object_.string(), problem, "free disk space and build again");
  }
  template <typename T>
  T at(uint64_t offset) const {
    T value;
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) fail("it is truncated");
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) fail("it is truncated");
    return bytes_.substr(offset, bytes_.find('\0', offset) - offset);
  }

 private:
  std::filesystem::path object_;
  std::string bytes_;
};

// Halide calls the C library for what its vector code does not inline; in float and in double.
bool is_math_function(std::string name) {
  static const std::set<std::string, std::less<>> kFunctions = {
      "acos", "acosh",     "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos",   "cosh",
      "erf",  "exp",       "fabs", "floor", "fmod", "log",   "pow",   "rint", "round", "sin",
      "sinh", "nearbyint", "sqrt", "tan",   "tanh", "trunc", "fma",   "fmin", "fmax"};
  if (kFunctions.contains(name)) return true;
  if (name.empty() || name.back() != 'f') return false;
  name.pop_back();
  return kFunctions.contains(name);
}

}  // namespace

std::vector<std::string> undefined_symbols(const std::filesystem::path& object) {
  const ElfBytes elf(object);
  const auto header = elf.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    elf.fail("it is no 64-bit ELF object");
  }
  std::vector<std::string> names;
  const auto section = [&](uint64_t index) { return elf.at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr)); };
  for (uint16_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr strings = section(table.sh_link);
    for (uint64_t k = 1; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = elf.at<Elf64_Sym>(table.sh_offset + k * sizeof(Elf64_Sym));
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0)
        names.push_back(elf.text(strings.sh_offset + symbol.st_name));
    }
  }
  return names;
}

bool may_be_undefined(const std::string& name) {
  const auto is_hook = [&](const RenamedSymbol& symbol) { return name == symbol.halide || name == symbol.hone; };
  if (std::any_of(std::begin(kRenamedSymbols), std::end(kRenamedSymbols), is_hook)) return true;
  return name == "memset" || name == "memcpy" || name == "memmove" || is_math_function(name);
}

}  // namespace hone
