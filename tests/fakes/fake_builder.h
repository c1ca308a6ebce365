// SPDX-License-Identifier: MIT
// FakeBuilder: "builds" by writing empty files; spaces and failures are the test's.
#pragma once

#include <fstream>
#include <functional>
#include <vector>

#include "codegen/builder.h"

namespace hone {

class FakeBuilder final : public Builder {
 public:
  std::vector<SearchSpace> spaces_to_give;
  std::function<BuildOutcome(const BuildRequest&)> outcome = [](const BuildRequest&) { return BuildOutcome{}; };
  std::vector<Config> built;

  std::vector<SearchSpace> spaces(const Workload&, const DeviceInfo&, const TuningContext&) const override {
    return spaces_to_give;
  }
  std::vector<PackedConstant> pack(const Workload&, const Config&, std::span<const Tensor> constants) const override {
    std::vector<PackedConstant> packed;
    for (const Tensor& constant : constants) packed.push_back({constant.bytes, "plain"});
    return packed;
  }
  std::vector<BuildOutcome> build(std::span<const BuildRequest> requests,
                                  const std::function<bool(size_t, const BuildOutcome&)>& done) override {
    std::vector<BuildOutcome> outcomes;
    bool go_on = true;
    for (size_t i = 0; i < requests.size(); ++i) {
      if (!go_on) {
        outcomes.push_back({BuildStatus::failed, "cancelled", 0});
        continue;
      }
      built.push_back(requests[i].config);
      outcomes.push_back(outcome(requests[i]));
      if (outcomes.back().status == BuildStatus::ok)
        std::ofstream(requests[i].shared) << requests[i].config.canonical();
      if (done) go_on = done(i, outcomes.back());
    }
    return outcomes;
  }
};

}  // namespace hone
