// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/installation.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "schedules/device_info.h"

namespace po = boost::program_options;

namespace hone {
namespace {

nlohmann::json roofs_json(const Roofs& roofs) {
  nlohmann::json json = {
      {"peak_flops", roofs.peak_flops}, {"peak_flops_threads", roofs.peak_flops_threads}, {"threads", roofs.threads}};
  for (const auto& [level, bytes_per_second] : roofs.bandwidth) json["bandwidth"][level] = bytes_per_second;
  return json;
}

void print_roofs(const Roofs& roofs) {
  std::printf("\nmeasured ceilings: %sFLOP/s f32 on one core, %sFLOP/s on %d threads\n",
              format_count(roofs.peak_flops).c_str(), format_count(roofs.peak_flops_threads).c_str(), roofs.threads);
  for (const auto& [level, bytes_per_second] : roofs.bandwidth) {
    std::printf("  %-4s read bandwidth %sB/s\n", level.c_str(), format_count(bytes_per_second).c_str());
  }
}

}  // namespace

int run_devices(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options(
      "devices [--probe] [--json]",
      "Lists the devices that kernels can be built for, whether their code runs on this machine, and why not.\n"
      "--probe measures this machine's ceilings: f32 FMA throughput and read bandwidth per cache level.");
  options.add()("probe", "measure this machine's ceilings (a few seconds)")("json", "machine-readable, on stdout");
  if (!options.parse(arguments)) return 0;
  const HostCpu host = detect_host_cpu();
  std::optional<Roofs> roofs;
  if (options.has("probe")) {
    const TransportChoice transport = choose_transport(surroundings, "local", host.architecture);
    roofs = start_runner(transport.options)->measure_roofs(host.cores);
  }
  const DeviceInfo resolved = resolve_device("host", host);
  nlohmann::json json = {{"host",
                          {{"model_name", host.model_name},
                           {"identity", host.identity},
                           {"cores", host.cores},
                           {"l1_bytes", host.l1_bytes},
                           {"l2_bytes", host.l2_bytes},
                           {"l3_bytes", host.l3_bytes},
                           {"device", resolved.name}}}};
  Table table({"device", "runs here", "target"});
  for (const DeviceInfo& device : built_in_devices()) {
    const std::string reason = unavailable_reason(device, host);
    const std::string here =
        reason.empty() ? device.name == resolved.name ? "yes, this is --device host" : "yes" : "no: " + reason;
    table.row({device.name, here, device.halide_target});
    json["devices"].push_back({{"name", device.name},
                               {"available", reason.empty()},
                               {"reason", reason},
                               {"halide_target", device.halide_target},
                               {"vector_bits", device.vector_bits}});
  }
  if (roofs) json["roofs"] = roofs_json(*roofs);
  if (options.has("json")) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("this machine: %s (%s), %d cores, caches %s / %s / %s\n\n%s", host.model_name.c_str(),
              host.identity.c_str(), host.cores, format_bytes(static_cast<double>(host.l1_bytes)).c_str(),
              format_bytes(static_cast<double>(host.l2_bytes)).c_str(),
              format_bytes(static_cast<double>(host.l3_bytes)).c_str(), table.text().c_str());
  if (roofs) print_roofs(*roofs);
  return 0;
}

}  // namespace hone
