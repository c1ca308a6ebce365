// SPDX-License-Identifier: MIT
// A fixed report input that has something of everything, hostile names included.
#pragma once

#include <cmath>
#include <string>

#include "reports/report.h"

namespace hone {

inline Measurement fixed_samples(double base_ns, int count, int phase) {
  Measurement measurement;
  for (int i = 0; i < count; ++i) {
    const double ns = base_ns * (1 + 0.01 * ((i * 7 + phase * i) % 5));
    measurement.cpu_ns.push_back(ns);
    measurement.wall_ns.push_back(ns * 1.02);
  }
  return measurement;
}

inline void add_decision(ReportInput& input, char id, const std::string& verdict, double ratio, double low,
                         double high) {
  TuningDatabase::Decision decision;
  decision.key = {std::string(64, id), "x86-avx2", {}};
  decision.environment = 1;
  decision.trial = 100 + id;
  decision.verdict = verdict;
  decision.default_ns = 2.5e6;
  decision.best_ns = 2.5e6 / ratio;
  decision.ratio = ratio;
  decision.ratio_low = low;
  decision.ratio_high = high;
  decision.created = "2026-12-01T01:02:03.456Z";
  input.decisions.push_back(decision);
}

inline ReportInput fixed_input() {
  ReportInput input;
  input.title = "resnet50 on x86-avx2 <script>alert(1)</script>";
  input.hone_version = "0.1.0 (abc1234)";
  input.created = "2026-12-01T01:02:03Z";
  input.command = "hone report --bundle out/resnet50 --baseline out/untuned -o report.html";
  ModelSummary summary;
  summary.model = "resnet50.onnx 0123456789abcdef";
  summary.device = "x86-avx2";
  summary.cpu = "AuthenticAMD family 25 model 1 stepping 1";
  summary.context = "threads=1 weights=cold accuracy=fp32";
  summary.variants = {{"untuned", fixed_samples(61.4e6, 20, 0)},
                      {"onnxruntime", fixed_samples(47.9e6, 20, 1)},
                      {"tuned", fixed_samples(45.2e6, 20, 2)}};
  summary.unaccounted_ns = 310e3;
  input.summaries.push_back(summary);
  input.kernels = {
      {"conv1+relu1",
       {"/conv1/Conv", "/relu/Relu"},
       "Conv 7x7 s2 3->64 @224x224 + Relu [f32]",
       "conv2d_direct_cpu",
       "conv2d_direct_cpu@1{ku=2,nv=2,xr=6}",
       2.1e6,
       236e6,
       4.0e6,
       17},
      {"<img src=http://example.com/x onerror=alert(1)>",
       {"a\"b", "c&d", "e'f", "<b>"},
       "MaxPool 3x3 s2 64 @112x112 [f32]",
       "pool_cpu",
       "pool_cpu@1{tile=8}",
       0.42e6,
       1.8e6,
       4.0e6,
       0},
      {"layer4.2.conv2 with a name that goes on and on until nobody wants to read any more of it",
       {"first_node_of_a_long_list", "second_node_of_a_long_list", "third", "fourth", "fifth"},
       "Conv 3x3 s1 512->512 @7x7 + Add + Relu [f32]",
       "conv2d_winograd_cpu",
       "conv2d_winograd_cpu@2{tile=4,xr=7}",
       5.9e6,
       231e6,
       9.6e6,
       2311},
  };
  input.roofs = {{"peak_flops", 118.4e9}, {"bandwidth_L1", 210e9}, {"bandwidth_L2", 96e9}, {"bandwidth_DRAM", 14.2e9}};
  const double best[] = {2.50e6, 2.50e6, 2.21e6, 2.21e6, 1.93e6, 1.74e6, 1.74e6, 1.71e6};
  ConvergenceCurve curve;
  curve.workload = "Conv 3x3 s1 64->64 @56x56 + Relu [f32]";
  curve.default_ns = 2.5e6;
  for (int i = 0; i < 8; ++i) curve.points.push_back({1 + i * 3, 0.5 * i, best[i]});
  ConvergenceCurve flat;
  flat.workload = "Softmax 1000 <&> [f32]";
  flat.default_ns = 1800;
  flat.points = {{1, 0.2, 1800}};
  input.curves = {flat, curve};
  input.trials_by_status = {{"ok", 412}, {"build_timed_out", 3}, {"wrong_result", 1}, {"rejected_by_constraint", 57}};
  add_decision(input, 'a', "no gain", 1.002, 0.995, 1.009);
  add_decision(input, 'b', "gain", 1.462, 1.441, 1.483);
  add_decision(input, 'c', "ambiguous", 1.04, 0.0, INFINITY);
  input.workload_summaries = {{std::string(64, 'a'), "Gemm 2048->1000 [f32]"},
                              {std::string(64, 'b'), "Conv 3x3 s1 64->64 @56x56 + Relu [f32]"}};
  input.provenance = {{"Halide", "21.0.0"}, {"OS", "Debian GNU/Linux 12"}, {"database", "/home/a/hone <1>.sqlite"}};
  return input;
}

}  // namespace hone
