// SPDX-License-Identifier: MIT
#include "tests/schedules/kernel_harness.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "executor/error.h"
#include "executor/kernel_call.h"
#include "generators/operators.h"
#include "schedules/kernel_pipeline.h"

namespace hone {
namespace {

/// Memory that ends at an unreadable page and begins after one.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::span<const std::byte> content) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inner_ = (std::max<size_t>(content.size(), 1) + page - 1) / page * page;
    size_ = inner_ + 2 * page;
    base_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(base_ != MAP_FAILED);
    CHECK(mprotect(base_ + page, inner_, PROT_READ | PROT_WRITE) == 0);
    host_ = base_ + page + inner_ - content.size();
    if (!content.empty()) std::memcpy(host_, content.data(), content.size());
  }
  ~GuardedBuffer() { munmap(base_, size_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* host() const { return host_; }

 private:
  size_t inner_ = 0, size_ = 0;
  std::byte* base_ = nullptr;
  std::byte* host_ = nullptr;
};

Halide::Target target_of(const DeviceInfo& device) {
  return Halide::Target(device.halide_target + "-no_runtime-user_context-no_asserts-no_bounds_query");
}

class LoadedKernel {
 public:
  LoadedKernel(const std::filesystem::path& library, const std::string& symbol)
      : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw Error("cannot load " + library.string(), dlerror(), "see the schedule");
    entry_ = reinterpret_cast<int (*)(void**)>(dlsym(library_, (symbol + "_argv").c_str()));
    CHECK(entry_ != nullptr);
  }
  ~LoadedKernel() { dlclose(library_); }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  int (*entry() const)(void**) { return entry_; }

 private:
  void* library_;
  int (*entry_)(void**) = nullptr;
};

std::vector<std::byte> poisoned_output(const Workload& workload, const WorkloadOutput& output) {
  const TensorType& type = workload.type(output.value);
  const int64_t bytes = physical_elements(type.shape, output.strides) * element_bytes(type.dtype);
  return std::vector<std::byte>(static_cast<size_t>(bytes), std::byte{0xFF});
}

/// Bytes between the elements of an output must still be what they were.
bool gaps_untouched(std::span<const std::byte> bytes, const Tensor& result, const Strides& strides) {
  const std::vector<std::byte> again = to_physical(result, strides);
  return again.size() == bytes.size() && std::memcmp(again.data(), bytes.data(), bytes.size()) == 0;
}

}  // namespace

KernelCase::KernelCase(Workload w) : workload(std::move(w)) {
  arguments = make_arguments(workload, 7);
  expected = evaluate_reference(workload, arguments);
  tolerance = hone::tolerance(workload);
}

Builder& kernel_builder() {
  static const std::unique_ptr<Builder> builder =
      start_halide_builder({.helper = HONE_COMPILE_PROGRAM, .workers = 2, .table = &implementations()});
  return *builder;
}

namespace {

double run_kernel(const KernelCase& test, const KernelPoint& point, std::span<const PackedConstant> packed,
                  const LoadedKernel& kernel) {
  const Workload& workload = test.workload;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  for (size_t i = 0; i < static_cast<size_t>(workload.input_count()); ++i) {
    buffers.push_back(std::make_unique<GuardedBuffer>(to_physical(test.arguments[i], workload.arguments[i].strides)));
  }
  for (const PackedConstant& constant : packed) buffers.push_back(std::make_unique<GuardedBuffer>(constant.bytes));
  const size_t first_output = buffers.size();
  for (const WorkloadOutput& output : workload.outputs) {
    buffers.push_back(std::make_unique<GuardedBuffer>(poisoned_output(workload, output)));
  }
  std::vector<void*> hosts;
  for (const auto& buffer : buffers) hosts.push_back(buffer->host());
  const std::unique_ptr<KernelEnvironment> environment = KernelEnvironment::create(point.threads);
  CHECK(environment->call(kernel.entry(), hosts) == 0);
  double worst = 0;
  for (size_t i = 0; i < workload.outputs.size(); ++i) {
    const WorkloadOutput& output = workload.outputs[i];
    const size_t size = poisoned_output(workload, output).size();
    const std::span<const std::byte> bytes(buffers[first_output + i]->host(), size);
    const Tensor result = from_physical(bytes, workload.type(output.value), output.strides);
    if (!gaps_untouched(bytes, result, output.strides)) return HUGE_VAL;
    worst = std::max(worst, relative_error(result, test.expected[i]));
  }
  return worst;
}

}  // namespace

std::vector<double> kernel_errors(Builder& builder, const KernelCase& test, const DeviceInfo& device,
                                  std::span<const KernelPoint> points) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("hone_kernels_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::vector<BuildRequest> requests;
  for (const KernelPoint& point : points) {
    const std::string stem = (folder / std::to_string(requests.size())).string();
    requests.push_back({test.workload, point.config, device, stem + ".o", stem + ".so", 60});
  }
  const std::vector<BuildOutcome> outcomes = builder.build(requests);
  std::vector<double> errors;
  for (size_t i = 0; i < points.size(); ++i) {
    const Config& config = points[i].config;
    if (outcomes[i].status != BuildStatus::ok) {
      throw Error("cannot build " + config.canonical(), outcomes[i].message, "see the schedule");
    }
    const size_t inputs = static_cast<size_t>(test.workload.input_count());
    const std::vector<PackedConstant> packed =
        builder.pack(test.workload, config, std::span(test.arguments).subspan(inputs));
    const LoadedKernel kernel(requests[i].shared, kernel_symbol(test.workload, config, device));
    errors.push_back(run_kernel(test, points[i], packed, kernel));
  }
  std::filesystem::remove_all(folder);
  return errors;
}

std::string lowered_text(const Workload& workload, const Implementation& implementation, const Config& config,
                         const DeviceInfo& device) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("hone_lowered_" + std::to_string(getpid()) + ".stmt");
  KernelPipeline kernel = implementation.build(workload, config, device);
  kernel.pipeline.compile_to_lowered_stmt(file.string(), kernel.arguments, Halide::Text, target_of(device));
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  std::filesystem::remove(file);
  // By hand: g++ 12 takes std::regex for uninitialised memory under -fsanitize=address -Werror.
  const std::string numbered = text.str();
  const auto digit = [&](size_t at) { return at < numbered.size() && numbered[at] >= '0' && numbered[at] <= '9'; };
  std::string plain;
  for (size_t i = 0; i < numbered.size(); ++i) {
    if (numbered[i] != '$' || !digit(i + 1)) {
      plain += numbered[i];
      continue;
    }
    while (digit(i + 1)) ++i;
  }
  return plain;
}

std::vector<Config> some_points(const SearchSpace& space, int count, unsigned seed) {
  std::vector<Config> points{space.default_config};
  std::mt19937 random(seed);
  for (int attempt = 0; attempt < 200 * count && static_cast<int>(points.size()) <= count; ++attempt) {
    Config config = space.default_config;
    for (const TunableParam& param : space.params)
      config.values[param.name] = param.values[random() % param.values.size()];
    if (!space.violation(config).empty()) continue;
    if (std::find(points.begin(), points.end(), config) == points.end()) points.push_back(config);
  }
  return points;
}

}  // namespace hone
