// SPDX-License-Identifier: MIT
// FakeBundle: a plan file in a temporary directory and a table of hand-written kernels, loaded as a bundle would be.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "executor/plan_check.h"
#include "executor/plan_writer.h"

// What kernels call; the executor defines them.
extern "C" {
void* hone_malloc(void* user_context, size_t bytes);
void hone_free(void* user_context, void* pointer);
int hone_do_par_for(void* user_context, int (*task)(void*, int, uint8_t*), int min, int extent, uint8_t* closure);
}

namespace hone {

using Kernel = int (*)(void**);

/// The `host` of a kernel's argument: the only field of a halide_buffer_t that kernels read, 16 bytes into it.
template <typename T>
T* host(void** arguments, int index) {
  T* pointer = nullptr;
  std::memcpy(&pointer, static_cast<std::byte*>(arguments[index]) + 16, sizeof pointer);
  return pointer;
}
inline void* user_context(void** arguments) {
  return *static_cast<void**>(arguments[0]);
}

class FakeTable {
 public:
  explicit FakeTable(const std::vector<Kernel>& kernels, uint32_t magic = 0x454e4f48, uint32_t version = 1)
      : bytes_(16 + kernels.size() * sizeof(Kernel)) {
    const uint32_t head[2] = {magic, version};
    const uint64_t count = kernels.size();
    std::memcpy(&bytes_[0], head, sizeof head);
    std::memcpy(&bytes_[8], &count, sizeof count);
    std::memcpy(&bytes_[16], kernels.data(), kernels.size() * sizeof(Kernel));
  }
  const hone_kernel_table& table() const { return *reinterpret_cast<const hone_kernel_table*>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
};

/// Removes itself.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-test-XXXXXX").string();
    CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  CHECK(file.good());
}

/// Plans made of whole float vectors, built line by line.
class PlanBuilder {
 public:
  explicit PlanBuilder(int64_t floats) : floats_(floats) { plan.name = "fake"; }

  uint32_t input() { return border(PlanStorage::Kind::input, plan.inputs, "x"); }
  uint32_t output() { return border(PlanStorage::Kind::output, plan.outputs, "y"); }
  uint32_t arena() {
    const uint32_t view = storage({.kind = PlanStorage::Kind::arena, .bytes = bytes(), .offset = plan.arena_bytes});
    plan.arena_bytes += (bytes() + 63) / 64 * 64;
    return view;
  }
  uint32_t weights(const std::vector<float>& values) {
    const uint64_t offset = (weight_bytes.size() + 63) / 64 * 64;
    weight_bytes.resize(offset + bytes());
    std::memcpy(weight_bytes.data() + offset, values.data(), bytes());
    return storage({.kind = PlanStorage::Kind::weights, .bytes = bytes(), .offset = offset});
  }
  uint32_t view(PlanView view) {
    plan.views.push_back(std::move(view));
    return static_cast<uint32_t>(plan.views.size() - 1);
  }
  void step(uint32_t kernel, std::vector<uint32_t> arguments, const std::string& name = "step") {
    plan.steps.push_back(
        {.kernel = kernel, .arguments = std::move(arguments), .name = name, .nodes = {name + "_node"}});
    if (kernel != PlanStep::kCopy) plan.kernel_count = std::max(plan.kernel_count, kernel + 1);
  }
  std::vector<std::byte> file() const {
    std::vector<std::byte> file = encode_plan(plan);
    file.insert(file.end(), weight_bytes.begin(), weight_bytes.end());
    return file;
  }

  Plan plan;
  std::vector<std::byte> weight_bytes;

 private:
  uint64_t bytes() const { return static_cast<uint64_t>(floats_) * sizeof(float); }
  uint32_t storage(PlanStorage storage) {
    plan.storages.push_back(storage);
    return view({.storage = static_cast<uint32_t>(plan.storages.size() - 1), .extents = {floats_}, .strides = {1}});
  }
  uint32_t border(PlanStorage::Kind kind, std::vector<PlanTensor>& tensors, const char* prefix) {
    const auto index = static_cast<uint32_t>(tensors.size());
    const uint32_t view = storage({.kind = kind, .bytes = bytes(), .index = index});
    tensors.push_back({.name = prefix + std::to_string(index), .view = view});
    return view;
  }

  int64_t floats_;
};

/// A model loaded from a builder's file; keeps what the model refers to.
class FakeBundle {
 public:
  FakeBundle(const PlanBuilder& builder, const std::vector<Kernel>& kernels) : table_(kernels) {
    write_file(path(), builder.file());
    model = Model::load(table_.table(), path());
  }
  std::string path() const { return (directory_.path() / "fake.hone").string(); }
  const hone_kernel_table& table() const { return table_.table(); }

 private:
  TemporaryDirectory directory_;
  FakeTable table_;

 public:
  std::shared_ptr<const Model> model;  // after what it refers to
};

}  // namespace hone
