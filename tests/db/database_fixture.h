// SPDX-License-Identifier: MIT
// A database in a folder of its own, and small values to put into it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "db/database.h"
#include "db/sqlite_database.h"
#include "executor/error.h"

namespace hone {

/// y = Relu(x), x: f32 [1, extent].
inline Workload relu_workload(int64_t extent) {
  Workload workload;
  const TensorType type{DType::f32, {1, extent}};
  workload.arguments = {{type, dense_strides(type.shape), false}};
  workload.nodes = {{"Relu", {}, {0}, {type}}};
  workload.outputs = {{1, dense_strides(type.shape)}};
  return workload;
}

inline Measurement measurement_of(double best_ns) {
  Measurement measurement;
  measurement.cpu_ns = {best_ns * 1.5, best_ns, best_ns * 1.25};
  measurement.wall_ns = {best_ns * 2, best_ns * 1.75, best_ns * 1.0625};
  measurement.calls_per_sample = 17;
  measurement.cold_weights = true;
  measurement.involuntary_switches = 3;
  measurement.load_average = 0.25;
  return measurement;
}

inline Trial ok_trial(int64_t tile, double best_ns) {
  Trial trial;
  trial.config = {"pointwise_cpu", 1, {{"tile", tile}}};
  trial.measurement = measurement_of(best_ns);
  trial.relative_error = 1e-7;
  trial.build_seconds = 0.125;
  trial.run_seconds = 0.25;
  return trial;
}

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "hone_db_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    file_ = folder_ / "hone.sqlite";
  }
  void TearDown() override {
    database_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// Opens (again) and adds a device, an environment, two workloads and a job.
  void open() {
    database_ = std::make_unique<SqliteDatabase>(file_, TuningDatabase::Mode::read_write);
    DeviceInfo device;
    device.name = key_.device;
    database_->add_device(device);
    environment_ = database_->add_environment(environment_values_);
    database_->add_workload(relu_workload(8));
    database_->add_workload(relu_workload(16));
    job_ = database_->start_job(job_key_, "hone tune relu.onnx");
  }

  /// What opening or the given call says; fails the test if it does not throw.
  template <typename Body>
  static std::string error_of(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no Error";
    return {};
  }

  std::filesystem::path folder_, file_;
  std::unique_ptr<SqliteDatabase> database_;
  TuningKey key_{relu_workload(8).id(), "x86-test", {}};
  Environment environment_values_{"Test CPU", "0.1.0", "21.0.0", "Debian 12", "1", "local"};
  JobKey job_key_{"relu.onnx 0123", "x86-test", {}, 1, "random"};
  int64_t environment_ = 0, job_ = 0;
};

}  // namespace hone
