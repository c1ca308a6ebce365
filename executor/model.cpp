// SPDX-License-Identifier: MIT
// Loading a bundle's plan: map, decode, and check that kernels, plan and CPU belong together.
#include <utility>

#include "executor/cpu_flags.h"
#include "executor/executor.h"
#include "executor/plan_file.h"
#include "executor/text.h"

namespace hone {
namespace {

constexpr uint32_t kTableMagic = 0x454e4f48;
constexpr uint32_t kTableVersion = 1;

class LoadedModel final : public Model {
 public:
  LoadedModel(const hone_kernel_table& kernels, const std::string& path)
      : kernels_(kernels), file_(path), decoded_(decode_plan(file_.bytes(), path)) {}

  const Plan& plan() const override { return decoded_.plan; }
  const hone_kernel_table& kernels() const override { return kernels_; }
  std::span<const std::byte> weights() const override { return decoded_.weights; }

 private:
  const hone_kernel_table& kernels_;
  const MappedFile file_;
  const DecodedPlan decoded_;
};

void check_kernels(const hone_kernel_table& table, const Plan& plan, const std::string& attempted) {
  if (table.magic != kTableMagic || table.version != kTableVersion) {
    throw Error(attempted, "the kernel table is not one, or is of another version",
                "pass the hone_NAME symbol of the same bundle");
  }
  if (table.count != plan.kernel_count) {
    throw Error(attempted,
                concatenate({"the plan is for ", decimal(plan.kernel_count), " kernels, the linked table has ",
                             decimal(static_cast<int64_t>(table.count))}),
                "use the plan and the library of one bundle");
  }
  for (uint64_t i = 0; i < table.count; ++i) {
    if (table.kernels[i] == nullptr) {
      throw Error(attempted,
                  concatenate({"kernel ", decimal(static_cast<int64_t>(i)), " of the linked table is missing"}),
                  "build the bundle again with 'hone build'");
    }
  }
}

}  // namespace

std::shared_ptr<const Model> Model::load(const hone_kernel_table& table, const std::string& plan_file) {
  auto model = std::make_shared<const LoadedModel>(table, plan_file);
  const std::string attempted = concatenate({"cannot load ", plan_file});
  check_kernels(table, model->plan(), attempted);
  const std::string missing = missing_cpu_flag(model->plan().cpu_flags);
  if (!missing.empty()) {
    throw Error(
        attempted,
        concatenate({"its kernels are for ", model->plan().target, " and need ", missing, ", which this CPU lacks"}),
        "build the bundle for this machine with 'hone build --device host'");
  }
  return model;
}

}  // namespace hone
