// SPDX-License-Identifier: MIT
// TuningDatabase: every trial of every job in one SQLite file. SQL lives in db/ only; one writing connection a process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/trial.h"
#include "generators/workload.h"
#include "schedules/config.h"
#include "schedules/device_info.h"
#include "schedules/tuning_context.h"

namespace hone {

/// What produced a figure besides the device: equal environments are comparable.
struct Environment {
  std::string cpu;           // HostCpu::identity, or the runner's
  std::string hone_version;  // with the code revision
  std::string halide_version;
  std::string os;
  std::string harness;    // measuring protocol version
  std::string transport;  // "local", "qemu", ...
  auto operator<=>(const Environment&) const = default;
};

struct TuningKey {
  std::string workload;  // Workload::id()
  std::string device;    // DeviceInfo::name
  TuningContext context;
};

enum class Match { exact, other_environment, other_shape, other_device, none };
std::string_view name(Match match);

struct TuningRecord {
  int64_t trial = 0;  // row id
  Config config;
  double best_ns = 0;
  Match match = Match::none;
  std::string reason;  // one line: why this record matched
};

struct JobKey {
  std::string model;  // file name and content hash
  std::string device;
  TuningContext context;
  uint64_t seed = 0;
  std::string strategy;
};

/// A row of the trial table, as lists and reports show it.
struct TrialRow {
  int64_t id = 0;
  int64_t job = 0;
  std::string workload;
  std::string device;
  std::string context;  // TuningContext::canonical()
  int64_t environment = 0;
  std::string purpose;  // "search", "playoff"
  std::string created;  // ISO 8601 UTC
  Trial trial;
};

struct ModelTask {
  std::string workload;
  int64_t count = 1;               // kernels of the model with this workload
  std::vector<std::string> nodes;  // ONNX nodes of the first of them
};

/// Before/after of a whole model, from one interleaved run.
struct ModelRun {
  std::string model;    // JobKey::model
  std::string variant;  // "untuned", "tuned", "onnxruntime"
  std::string device;
  std::string context;
  int64_t environment = 0;
  int64_t batch = 0;  // rows of one interleaved run share it
  Measurement measurement;
};

/// Something that was made from the database's records.
struct Artifact {
  std::string kind;  // "bundle"
  std::string model, device, context;
  std::string path;
  std::string sha256;   // of its manifest
  std::string created;  // set when read
};

struct CheckFinding {
  std::string table;
  int64_t row = 0;  // 0: not one row
  std::string problem;
};

/// One connection; not thread-safe. Every function throws Error naming the file and the remedy if SQLite fails (full or
/// broken disk, damaged file, locked for longer than 10 s). What returned is on the disk, whatever then ends the
/// process.
class TuningDatabase {
 public:
  enum class Mode { read_only, read_write };
  /// Creates and migrates as needed in read_write mode. Throws Error naming the file and the remedy: corrupt, newer
  /// schema, read-only folder, not a hone database, locked for longer than the busy timeout. ":memory:" works.
  static std::unique_ptr<TuningDatabase> open(const std::filesystem::path& file, Mode mode);
  /// $XDG_DATA_HOME/hone/hone.sqlite from the given environment values (empty: unset). Read in main, passed down.
  static std::filesystem::path default_path(std::string_view xdg_data_home, std::string_view home);
  virtual ~TuningDatabase() = default;
  /// Empty, or one line for the user about how the file is kept (slower journal on a network file system).
  virtual std::string note() const = 0;

  /// Content-addressed: the same value gives the same row. Workloads and devices come before what refers to them.
  virtual void add_workload(const Workload& workload) = 0;
  virtual void add_device(const DeviceInfo& device) = 0;
  virtual int64_t add_environment(const Environment& environment) = 0;
  /// The union of spaces in which a key is searched (a replay needs it).
  virtual void add_space(const TuningKey& key, const std::vector<SearchSpace>& spaces) = 0;
  /// The latest path, shapes and tasks of a model replace earlier ones.
  virtual void add_model(const std::string& model, const std::string& path, const std::string& shapes,
                         const std::vector<ModelTask>& tasks) = 0;
  virtual std::optional<Workload> workload(const std::string& id) = 0;
  virtual std::vector<std::string> models() = 0;
  virtual std::vector<ModelTask> model_tasks(const std::string& model) = 0;

  /// Finds or creates the job; refuses (Error naming the pid) if another live process runs it.
  virtual int64_t start_job(const JobKey& key, const std::string& command) = 0;
  virtual void finish_job(int64_t job, const std::string& outcome) = 0;
  /// Seconds spent in earlier runs of this job, by any process (kept as the sum of its trials' build and run seconds).
  virtual double job_seconds(int64_t job) = 0;

  /// One trial = one committed row. Returns its id.
  virtual int64_t add_trial(int64_t job, const TuningKey& key, int64_t environment, const std::string& purpose,
                            const Trial& trial) = 0;
  /// All trials of a key in this environment, in row order: what a resumed search observes.
  virtual std::vector<TrialRow> trials(const TuningKey& key, int64_t environment) = 0;
  /// Filter values may be empty (any). `workload` may be the first digits of an id.
  struct TrialFilter {
    std::string workload, device, context, status;
    int64_t job = 0;
    int64_t limit = 0;
  };
  virtual std::vector<TrialRow> list_trials(const TrialFilter& filter) = 0;
  virtual std::optional<TrialRow> trial(int64_t id) = 0;

  /// Records the decided winner of a key (after the play-off). Later decisions replace earlier ones for lookups; rows
  /// stay.
  virtual void add_decision(const TuningKey& key, int64_t environment, int64_t trial, const std::string& verdict,
                            double default_ns, double best_ns, double ratio, double ratio_low, double ratio_high) = 0;
  struct Decision {
    TuningKey key;
    int64_t environment = 0, trial = 0;
    std::string verdict;  // "gain", "no gain", "ambiguous"
    double default_ns = 0, best_ns = 0, ratio = 1, ratio_low = 1, ratio_high = 1;
    std::string created;
  };
  /// The latest of each key and environment, in row order; empty strings: any.
  virtual std::vector<Decision> decisions(const std::string& device, const std::string& context) = 0;
  /// Best known config of a key by timed trials only: this environment's latest decision, else its fastest trial
  /// (exact); else the same of another environment, preferably with this CPU (other_environment). Match::none: no
  /// record.
  virtual TuningRecord best(const TuningKey& key, int64_t environment) = 0;

  virtual void add_roofs(int64_t environment, const std::string& device,
                         const std::map<std::string, double>& values) = 0;
  /// The latest value of each name.
  virtual std::map<std::string, double> roofs(int64_t environment, const std::string& device) = 0;
  virtual int64_t add_model_run(const ModelRun& run) = 0;
  virtual std::vector<ModelRun> model_runs(const std::string& model) = 0;
  virtual std::map<int64_t, Environment> environments() = 0;
  virtual void add_artifact(const Artifact& artifact) = 0;
  virtual std::vector<Artifact> artifacts() = 0;

  virtual std::map<std::string, int64_t> row_counts() = 0;
  /// Integrity, foreign keys, hashes, JSON and sample blobs; empty if all is well.
  virtual std::vector<CheckFinding> check() = 0;
};

}  // namespace hone
