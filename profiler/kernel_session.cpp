// SPDX-License-Identifier: MIT
// Kernels under the executor's own environment, with guarded arguments and weights that are cold when they are read.
#include "profiler/kernel_session.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "executor/kernel_call.h"
#include "profiler/guarded_buffer.h"
#include "profiler/loaded_object.h"
#include "profiler/machine.h"
#include "profiler/sampling.h"

namespace hone {
namespace {

constexpr int64_t kMostCopies = 64;
constexpr int64_t kMostCopiedBytes = int64_t{96} << 20;
constexpr int kOutOfMemory = -11;  // halide_error_code_out_of_memory

using Kernel = int (*)(void** arguments);

GuardedBuffer guarded_copy(std::span<const std::byte> bytes) {
  GuardedBuffer buffer(bytes.size());
  std::copy(bytes.begin(), bytes.end(), buffer.bytes().begin());
  buffer.make_read_only();
  return buffer;
}

// Further copies of a candidate's constants, back to back as the weights lie in a bundle.
class ConstantCopies {
 public:
  ConstantCopies(const std::vector<std::span<const std::byte>>& constants, int64_t copies) {
    for (const auto& constant : constants) stride_ += padded(constant.size());
    total_ = stride_ * static_cast<size_t>(copies);
    if (total_ == 0) return;
    void* block = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of weight copies");
    block_ = static_cast<std::byte*>(block);
    madvise(block_, total_, MADV_NOHUGEPAGE);  // as a bundle's mapped weights
    for (int64_t copy = 0; copy < copies; ++copy) {
      std::byte* place = block_ + stride_ * static_cast<size_t>(copy);
      for (const auto& constant : constants) {
        std::copy(constant.begin(), constant.end(), place);
        hosts_.push_back(place);
        place += padded(constant.size());
      }
    }
    mprotect(block_, total_, PROT_READ);
  }
  ~ConstantCopies() {
    if (block_ != nullptr) munmap(block_, total_);
  }
  ConstantCopies(const ConstantCopies&) = delete;
  ConstantCopies& operator=(const ConstantCopies&) = delete;
  /// Address of each constant, copy by copy.
  const std::vector<void*>& hosts() const { return hosts_; }

 private:
  static size_t padded(size_t bytes) {
    return (bytes + GuardedBuffer::kAlignment - 1) / GuardedBuffer::kAlignment * GuardedBuffer::kAlignment;
  }
  size_t stride_ = 0, total_ = 0;
  std::byte* block_ = nullptr;
  std::vector<void*> hosts_;
};

// A loaded candidate and its argument lists, one for each copy of its constants.
class KernelRun {
 public:
  KernelRun(const WireKernelCandidate& candidate, int threads, ThreadPool* pool)
      : constants_(candidate.constants),
        object_(LoadedObject::from_bytes(candidate.shared_object)),
        kernel_(reinterpret_cast<Kernel>(object_.symbol(candidate.symbol + "_argv"))),
        environment_(KernelEnvironment::create(threads, pool)) {
    for (const auto& constant : constants_) guarded_constants_.push_back(guarded_copy(constant));
  }

  void set_arguments(const std::vector<GuardedBuffer>& inputs, const std::vector<GuardedBuffer>& outputs) {
    for (const GuardedBuffer& input : inputs) hosts_.push_back(input.bytes().data());
    for (const GuardedBuffer& constant : guarded_constants_) hosts_.push_back(constant.bytes().data());
    for (const GuardedBuffer& output : outputs) hosts_.push_back(output.bytes().data());
    first_constant_ = inputs.size();
  }

  void make_copies(int64_t copies) { copies_ = std::make_unique<ConstantCopies>(constants_, copies); }

  void call() {
    if (copies_ != nullptr && !constants_.empty()) use_next_copy();
    const int code = environment_->call(kernel_, hosts_);
    if (code == 0) return;
    throw std::runtime_error("kernel error " + std::to_string(code) + (code == kOutOfMemory ? ": out of memory" : ""));
  }

  int64_t constant_bytes() const {
    int64_t bytes = 0;
    for (const auto& constant : constants_) bytes += static_cast<int64_t>(constant.size());
    return bytes;
  }
  int64_t scratch_bytes() const { return static_cast<int64_t>(environment_->scratch_bytes()); }

 private:
  void use_next_copy() {
    const std::vector<void*>& all = copies_->hosts();
    if (all.empty()) return;
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(next_), constants_.size(),
                hosts_.begin() + static_cast<std::ptrdiff_t>(first_constant_));
    next_ += constants_.size();
    if (next_ == all.size()) next_ = 0;
  }

  const std::vector<std::span<const std::byte>>& constants_;
  LoadedObject object_;
  Kernel kernel_;
  std::unique_ptr<KernelEnvironment> environment_;
  std::vector<GuardedBuffer> guarded_constants_;
  std::unique_ptr<ConstantCopies> copies_;
  std::vector<void*> hosts_;
  size_t first_constant_ = 0, next_ = 0;
};

std::vector<std::vector<std::byte>> copy_outputs(const std::vector<GuardedBuffer>& outputs) {
  std::vector<std::vector<std::byte>> copies;
  for (const GuardedBuffer& output : outputs) copies.emplace_back(output.bytes().begin(), output.bytes().end());
  return copies;
}

// The call whose outputs are checked: on poisoned buffers, so that what a kernel forgets to write shows as NaN.
void run_first(KernelRun& run, const std::vector<GuardedBuffer>& outputs, bool want_outputs, RunOutcome& outcome) {
  for (const GuardedBuffer& output : outputs) std::fill(output.bytes().begin(), output.bytes().end(), std::byte{0xFF});
  run.call();
  for (const GuardedBuffer& output : outputs) {
    if (!output.surroundings_intact()) throw std::runtime_error("wrote outside its output");
  }
  if (want_outputs) outcome.outputs = copy_outputs(outputs);
}

// Loads candidates and runs each once; those that fail get their message, and no KernelRun.
std::vector<std::unique_ptr<KernelRun>> load_and_run(const WireKernelRequest& request, ThreadPool* pool,
                                                     const std::vector<GuardedBuffer>& inputs,
                                                     const std::vector<GuardedBuffer>& outputs, ChildProgress& progress,
                                                     std::vector<RunOutcome>& outcomes) {
  std::vector<std::unique_ptr<KernelRun>> runs(request.candidates.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    try {
      progress.note(ChildProgress::loading, static_cast<int>(i));
      auto run = std::make_unique<KernelRun>(request.candidates[i], request.options.threads, pool);
      run->set_arguments(inputs, outputs);
      progress.note(ChildProgress::first_call, static_cast<int>(i));
      run_first(*run, outputs, request.options.want_outputs, outcomes[i]);
      runs[i] = std::move(run);
    } catch (const std::exception& error) {
      outcomes[i] = {.status = RunStatus::failed, .message = error.what(), .measurement = {}, .outputs = {}};
    }
  }
  return runs;
}

void measure(const std::vector<std::unique_ptr<KernelRun>>& runs, const MeasureOptions& options,
             ChildProgress& progress, std::chrono::steady_clock::time_point end, std::vector<RunOutcome>& outcomes) {
  std::vector<Subject> subjects;
  std::vector<size_t> candidate_of;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] == nullptr) continue;
    progress.note(ChildProgress::measuring, static_cast<int>(i));
    KernelRun& run = *runs[i];
    Subject subject{.call =
                        [&run, &progress, i] {
                          progress.candidate.store(static_cast<int>(i), std::memory_order_relaxed);
                          run.call();
                        },
                    .measurement = {},
                    .failure = {}};
    choose_calls_per_sample(subject, options);
    if (options.cold_weights) {
      const int64_t calls = options.rounds * (subject.measurement.calls_per_sample + 1);
      run.make_copies(cold_copies(run.constant_bytes(), last_level_cache_bytes(), calls));
      subject.measurement.cold_weights = true;
    }
    subjects.push_back(std::move(subject));
    candidate_of.push_back(i);
  }
  warm_up(subjects);
  measure_rounds(subjects, options, end);
  for (size_t i = 0; i < subjects.size(); ++i) {
    RunOutcome& outcome = outcomes[candidate_of[i]];
    outcome.measurement = std::move(subjects[i].measurement);
    outcome.measurement.scratch_bytes = runs[candidate_of[i]]->scratch_bytes();
    if (subjects[i].failure.empty()) continue;
    outcome.status = RunStatus::failed;
    outcome.message = subjects[i].failure;
  }
}

}  // namespace

int64_t cold_copies(int64_t constant_bytes, int64_t cache_bytes, int64_t calls) {
  if (constant_bytes == 0) return 1;
  const int64_t wanted = std::min(2 * cache_bytes, kMostCopiedBytes) / constant_bytes + 1;
  return std::max<int64_t>(1, std::min({wanted, kMostCopies, calls}));
}

std::vector<RunOutcome> run_kernel_request(const WireKernelRequest& request, ChildProgress& progress,
                                           std::chrono::steady_clock::time_point end) {
  const MeasureOptions& options = request.options;
  if (options.threads == 1) pin_to_current_cpu();
  std::vector<GuardedBuffer> inputs, outputs;
  for (const auto& input : request.inputs) inputs.push_back(guarded_copy(input));
  for (const uint64_t bytes : request.output_bytes) outputs.emplace_back(static_cast<size_t>(bytes));

  // One pool for all candidates: idle workers of several pools would disturb each other.
  const std::unique_ptr<ThreadPool> pool = options.threads > 1 ? make_thread_pool(options.threads) : nullptr;
  std::vector<RunOutcome> outcomes(request.candidates.size());
  const auto runs = load_and_run(request, pool.get(), inputs, outputs, progress, outcomes);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] == nullptr) continue;
    outcomes[i].measurement.threads = options.threads;
    outcomes[i].measurement.scratch_bytes = runs[i]->scratch_bytes();
  }
  if (options.rounds > 0) measure(runs, options, progress, end, outcomes);
  return outcomes;
}

}  // namespace hone
