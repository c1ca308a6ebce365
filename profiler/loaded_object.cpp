// SPDX-License-Identifier: MIT
// dlopen from memory, with a temporary file as the second way.
#include "profiler/loaded_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace hone {
namespace {

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return true;
}

void* open_object(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// "/proc/self/fd/5: invalid ELF header": the path says nothing to anybody.
std::string loader_message(const std::string& path) {
  const char* text = dlerror();
  std::string message = text == nullptr ? "unknown reason" : text;
  if (message.starts_with(path + ": ")) message.erase(0, path.size() + 2);
  return message;
}

void* open_from_temporary_file(std::span<const std::byte> bytes) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/hone-kernel-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) throw std::runtime_error("cannot load the kernel: no temporary file " + path + ": " + strerror(errno));
  const bool written = write_all(fd, bytes);
  close(fd);
  void* handle = written ? open_object(path) : nullptr;
  const std::string message = !written ? "cannot write " + path : handle == nullptr ? loader_message(path) : "";
  unlink(path.c_str());
  if (handle == nullptr) throw std::runtime_error("cannot load the kernel: " + message);
  return handle;
}

}  // namespace

LoadedObject LoadedObject::from_bytes(std::span<const std::byte> bytes) {
  const int fd = memfd_create("hone-kernel", MFD_CLOEXEC);
  if (fd >= 0 && write_all(fd, bytes)) {
    if (void* handle = open_object("/proc/self/fd/" + std::to_string(fd))) return {handle, fd};
  }
  if (fd >= 0) close(fd);
  return {open_from_temporary_file(bytes), -1};
}

LoadedObject LoadedObject::from_file(const std::string& path) {
  void* handle = open_object(path);
  if (handle == nullptr) throw std::runtime_error("cannot load " + path + ": " + loader_message(path));
  return {handle, -1};
}

LoadedObject::LoadedObject(LoadedObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), fd_(std::exchange(other.fd_, -1)) {}

LoadedObject::~LoadedObject() {
  if (handle_ != nullptr) dlclose(handle_);
  if (fd_ >= 0) close(fd_);
}

void* LoadedObject::symbol(const std::string& name) const {
  void* address = dlsym(handle_, name.c_str());
  if (address == nullptr) throw std::runtime_error("no symbol " + name + " in the shared object");
  return address;
}

}  // namespace hone
