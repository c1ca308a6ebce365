// SPDX-License-Identifier: MIT
// A shared object loaded from bytes or from a file, for hone-runner.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hone {

class LoadedObject {
 public:
  /// The bytes go to a file in memory, or to a temporary one where the system forbids to execute from memory.
  /// Throws std::runtime_error with the loader's reason.
  static LoadedObject from_bytes(std::span<const std::byte> bytes);
  static LoadedObject from_file(const std::string& path);
  ~LoadedObject();
  LoadedObject(LoadedObject&& other) noexcept;
  LoadedObject& operator=(LoadedObject&&) = delete;

  /// Throws std::runtime_error if there is no such symbol.
  void* symbol(const std::string& name) const;

 private:
  LoadedObject(void* handle, int fd) : handle_(handle), fd_(fd) {}
  void* handle_;
  // Stays open: the loader knows objects by their path, and a second kernel in the same /proc/self/fd/N would be taken
  // for the first one.
  int fd_;
};

}  // namespace hone
