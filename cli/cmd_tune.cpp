// SPDX-License-Identifier: MIT
// hone tune: opens the model, starts the helpers, runs the tuning loop with progress, and ends by saying what was
// gained.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/installation.h"
#include "cli/model_session.h"
#include "cli/terminal.h"
#include "executor/error.h"

namespace po = boost::program_options;

namespace hone {
namespace {

std::atomic<bool> stop_requested{false};  // a signal handler can reach nothing else

void request_stop(int signal) {
  stop_requested.store(true);
  std::signal(signal, SIG_DFL);  // the second Ctrl-C ends at once; every finished trial is on disk anyway
}

Options tune_options() {
  Options options(
      "tune MODEL.onnx|WORKLOAD.json [--device host] [--time 2m] [--db FILE] ...",
      "Searches schedules for each kernel of a model. Every trial is a committed database row: Ctrl-C, a crash or a\n"
      "power cut loses nothing, and the same command goes on with what is left of its budget. Ends with what was\n"
      "gained and what was not; `hone build` then takes the winners from the database.");
  options.positional("model", 1);
  add_model_options(options);
  add_device_options(options);
  options.add()("db", po::value<std::string>()->value_name("FILE"),
                "tuning database (default: $XDG_DATA_HOME/hone/hone.sqlite)")(
      "time", po::value<std::string>()->default_value("2m")->value_name("2m"),
      "budget of the job, earlier runs of the same command included")(
      "more", po::value<std::string>()->value_name("2m"), "extend the job by this much beyond what it has spent")(
      "trials", po::value<int64_t>()->default_value(0)->value_name("N"), "at most N trials for the job (0: no limit)")(
      "seed", po::value<uint64_t>()->default_value(1)->value_name("S"), "seed of the search")(
      "strategy", po::value<std::string>()->default_value("random")->value_name("NAME"), "random or exhaustive")(
      "only", po::value<std::vector<std::string>>()->composing()->value_name("NODE|TYPE"),
      "tune only kernels with this node or operator")(
      "skip", po::value<std::vector<std::string>>()->composing()->value_name("NODE|TYPE"),
      "do not tune kernels with this node or operator")("transport",
                                                        po::value<std::string>()->default_value("")->value_name("T"),
                                                        "local, qemu or ssh:HOST[:RUNNER] (default: by architecture)")(
      "fresh", "do not use stored trials of earlier runs")(
      "dry-run", "list what would be tuned, with space sizes, and stop")("json", "machine-readable result, on stdout");
  return options;
}

int dry_run(const std::vector<TuningTask>& tasks, const DeviceInfo& device, const TuningContext& context, bool json) {
  Table table({">count", "workload", ">points", "implementations"});
  nlohmann::json rows = nlohmann::json::array();
  for (const TuningTask& task : tasks) {
    double points = 0;
    std::string implementation_names;
    for (const SearchSpace& space : search_spaces(implementations(), task.workload, device, context)) {
      points += space.cartesian_size();
      implementation_names += (implementation_names.empty() ? "" : ", ") + space.implementation;
    }
    table.row({std::to_string(task.count), task.workload.summary(), format_count(points), implementation_names});
    rows.push_back({{"workload", task.workload.id()},
                    {"summary", task.workload.summary()},
                    {"count", task.count},
                    {"points", points}});
  }
  if (json) {
    std::printf("%s\n", rows.dump(2).c_str());
  } else {
    std::printf("%sdry run: %zu tasks on %s, %s; nothing was measured\n", table.text().c_str(), tasks.size(),
                device.name.c_str(), context.canonical().c_str());
  }
  return 0;
}

std::string progress_text(const TuningProgress& now) {
  std::string gain = "no valid candidate yet";
  if (now.best_ns > 0) gain = format_ns(now.best_ns);
  if (now.best_ns > 0 && now.default_ns > 0) gain += fmt::format(" ({:.2f}x)", now.default_ns / now.best_ns);
  return fmt::format("[{} of {}, {} left] {} {} trials | {} | {}", format_seconds(now.seconds),
                     format_seconds(now.budget_seconds), format_seconds(now.eta_seconds), now.phase, now.trials,
                     now.task, gain);
}

nlohmann::json to_json(const TuningResult& result, const std::string& database) {
  nlohmann::json json = {{"seconds", result.seconds},
                         {"job_seconds", result.job_seconds},
                         {"interrupted", result.interrupted},
                         {"trials_by_status", result.trials_by_status},
                         {"database", database},
                         {"tasks", nlohmann::json::array()}};
  for (const TaskResult& task : result.tasks) {
    json["tasks"].push_back({{"workload", task.workload.id()},
                             {"summary", task.workload.summary()},
                             {"count", task.count},
                             {"nodes", task.nodes},
                             {"trials", task.trials},
                             {"decision", task.decision},
                             {"config", task.best.canonical()},
                             {"default_ns", task.default_ns},
                             {"best_ns", task.best_ns},
                             {"ratio", task.verdict.ratio},
                             {"ratio_low", task.verdict.low},
                             {"ratio_high", task.verdict.high}});
  }
  return json;
}

void print_tasks(const TuningResult& result) {
  Table table({">count", "workload", ">trials", ">default", ">best", "default / best [99 % interval]", "verdict"});
  for (const TaskResult& task : result.tasks) {
    const bool raced = task.verdict.pairs > 0;
    table.row(
        {std::to_string(task.count), task.workload.summary(), std::to_string(task.trials), format_ns(task.default_ns),
         format_ns(task.best_ns),
         raced ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", task.verdict.ratio, task.verdict.low, task.verdict.high) : "-",
         task.decision});
  }
  std::printf("%s\n", table.text().c_str());
}

void print_summary(const TuningResult& result, const std::string& database, const std::string& build_line) {
  print_tasks(result);
  std::string statuses;
  int64_t trials = 0;
  for (const auto& [status, count] : result.trials_by_status) {
    statuses += fmt::format("{}{} {}", statuses.empty() ? "" : ", ", count, status);
    trials += count;
  }
  std::printf("trials     %ld in %s (%s)\n", static_cast<long>(trials), format_seconds(result.seconds).c_str(),
              statuses.empty() ? "none" : statuses.c_str());
  double before = 0, after = 0;
  int gains = 0, same = 0;
  for (const TaskResult& task : result.tasks) {
    before += task.default_ns * static_cast<double>(task.count);
    after += task.best_ns * static_cast<double>(task.count);
    gains += task.decision == "gain";
    same += task.decision != "gain";
  }
  if (after > 0) {
    std::printf("kernels    default schedules %s, tuned %s: %.2fx (sum over kernels, re-measured interleaved)\n",
                format_ns(before).c_str(), format_ns(after).c_str(), before / after);
  }
  std::printf("gain       %d of %zu workloads; %d kept their default schedule\n", gains, result.tasks.size(), same);
  std::printf("database   %s\n", database.c_str());
  if (result.interrupted) std::printf("stopped    all finished trials are kept; the same command goes on\n");
  std::printf("next       %s\n", build_line.c_str());
}

std::string build_command(const Options& options, const std::string& model) {
  std::string line = "hone build " + model + " --device " + options.get<std::string>("device");
  if (options.get<int>("threads") != 1) line += " --threads " + std::to_string(options.get<int>("threads"));
  for (const char* name : {"weights", "accuracy", "db"}) {
    if (options.has(name)) line += fmt::format(" --{} {}", name, options.get<std::string>(name));
  }
  for (const std::string& shape : options.list("shape")) line += " --shape " + shape;
  for (const std::string& pass : options.list("pass")) line += " --pass " + pass;
  return line + " -o " + std::filesystem::path(model).stem().string() + ".bundle";
}

void store_roofs(TuningDatabase& database, Runner& runner, const Environment& environment, const DeviceInfo& device,
                 int threads) {
  const int64_t id = database.add_environment(environment);
  database.add_device(device);
  if (runner.evidence() != Evidence::timed || !database.roofs(id, device.name).empty()) return;
  const Roofs roofs = runner.measure_roofs(threads);
  std::map<std::string, double> values = {{"peak_flops", roofs.peak_flops}};
  for (const auto& [level, bytes_per_second] : roofs.bandwidth) values["bandwidth_" + level] = bytes_per_second;
  database.add_roofs(id, device.name, values);
}

void require_no_loss(const TuningResult& result) {
  for (const TaskResult& task : result.tasks) {
    if (!task.verdict.b_faster()) continue;
    throw Error("the recheck failed",
                fmt::format("the stored winner of '{}' is slower than its default ({:.3f} [{:.3f}, {:.3f}])",
                            task.workload.summary(), task.verdict.ratio, task.verdict.low, task.verdict.high),
                "the default was stored as the new decision; build again");
  }
}

std::vector<ModelTask> model_rows(const std::vector<TuningTask>& tasks) {
  std::vector<ModelTask> rows;
  for (const TuningTask& task : tasks) rows.push_back({task.workload.id(), task.count, task.nodes});
  return rows;
}

}  // namespace

int run_tune(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options = tune_options();
  if (!options.parse(arguments)) return 0;
  const std::string model = options.one("model", "one model or workload file");
  TuningOptions tuning;
  tuning.device = device_option(options);
  tuning.context = context_option(options);
  tuning.strategy = options.get<std::string>("strategy");
  tuning.seed = options.get<uint64_t>("seed");
  tuning.budget_seconds = parse_duration(options.get<std::string>("time"), "--time");
  if (options.has("more")) tuning.more_seconds = parse_duration(options.get<std::string>("more"), "--more");
  tuning.max_trials = options.get<int64_t>("trials");
  tuning.fresh = options.has("fresh");
  tuning.recheck = options.has("recheck");
  if (tuning.fresh && tuning.recheck) throw UsageError{"--recheck is about stored trials; leave out --fresh"};
  tuning.command = surroundings.command_line;
  tuning.stop = &stop_requested;

  JobKey job{{}, tuning.device.name, tuning.context, tuning.seed, tuning.strategy};
  std::vector<TuningTask> tasks, all_tasks;
  std::string shapes;
  if (is_workload_file(model)) {
    all_tasks = read_workload_task(model);
    job.model = workload_key(model, all_tasks.front().workload);
  } else {
    ModelSession session = open_model(model, options);
    all_tasks = make_tasks(session);
    job.model = session.key;
    shapes = session.shapes;
  }
  tasks = select_tasks(all_tasks, options.list("only"), options.list("skip"));
  if (options.has("dry-run")) return dry_run(tasks, tuning.device, tuning.context, options.has("json"));

  // The helper first: it forks, and must not inherit threads or a database handle.
  const std::unique_ptr<Builder> builder =
      start_builder(surroundings, tuning.context.threads > 1 ? tuning.device.cores : 1);
  const TransportChoice transport =
      choose_transport(surroundings, options.get<std::string>("transport"), tuning.device.architecture);
  if (transport.name == "local") {
    const std::string reason = unavailable_reason(tuning.device, detect_host_cpu());
    if (!reason.empty()) {
      throw Error("cannot tune for " + tuning.device.name + " on this machine", reason,
                  "use --device host, or --transport ssh:HOST");
    }
  }
  const std::unique_ptr<Runner> runner = start_runner(transport.options);
  const Environment environment = describe_environment(transport, *runner);
  const std::filesystem::path file =
      options.has("db") ? std::filesystem::path(options.get<std::string>("db")) : surroundings.database;
  const std::unique_ptr<TuningDatabase> database = TuningDatabase::open(file, TuningDatabase::Mode::read_write);
  ProgressLine progress(surroundings.terminal);
  if (!database->note().empty()) progress.note("note: " + database->note());
  if (runner->evidence() != Evidence::timed) {
    progress.note("note: times under " + transport.name +
                  " are emulated; they are stored as such and never count as best");
  }
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  store_roofs(*database, *runner, environment, tuning.device, tuning.context.threads);
  for (const TuningTask& task : all_tasks) database->add_workload(task.workload);
  database->add_model(job.model, std::filesystem::absolute(model).string(), shapes, model_rows(all_tasks));
  progress.note(fmt::format("tuning {}: {} of {} workloads on {}, {}, up to {}", model, tasks.size(), all_tasks.size(),
                            tuning.device.name, tuning.context.canonical(), format_seconds(tuning.budget_seconds)));
  const ScratchDirectory scratch(surroundings.temporary);
  tuning.work_directory = scratch.path();
  const TuningResult result = tune(tasks, job, tuning, environment, *builder, *runner, *database,
                                   [&](const TuningProgress& now) { progress.update(progress_text(now)); });
  if (options.has("json")) {
    std::printf("%s\n", to_json(result, file.string()).dump(2).c_str());
  } else {
    print_summary(result, file.string(), build_command(options, model));
  }
  if (tuning.recheck) require_no_loss(result);
  const bool failed = result.trials_by_status.size() > 0 && result.trials_by_status.count("ok") == 0;
  if (failed)
    throw Error("tuning found no kernel that builds and runs right", "all trials of this run failed",
                "see `hone db list --db " + file.string() + "` for the reasons");
  return 0;
}

}  // namespace hone
