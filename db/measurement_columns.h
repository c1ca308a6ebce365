// SPDX-License-Identifier: MIT
// The columns in which trial and model_run keep a Measurement. Samples are BLOBs of little-endian doubles: exact, 8
// bytes each, and readable by any tool (Python: array('d', blob)).
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/row_hash.h"
#include "profiler/measurement.h"

namespace hone {

/// For SELECT and INSERT lists, in the order that the functions below use.
inline constexpr const char* kMeasurementColumns =
    "best_ns, evidence, threads, cold_weights, calls_per_sample, involuntary_switches, load_average, frequency_ghz, "
    "scratch_bytes, cpu_ns, wall_ns";
inline constexpr int kMeasurementColumnCount = 11;

std::vector<std::byte> encode_samples(const std::vector<double>& samples);
/// Empty optional if the size is not a multiple of 8.
std::optional<std::vector<double>> decode_samples(const void* bytes, size_t size);

/// What best_ns says: absent where nothing was timed.
std::optional<double> best_of(const Measurement& measurement);

/// Binds parameters first .. first + kMeasurementColumnCount - 1 (NULL without a measurement).
void bind_measurement(SQLite::Statement& statement, int first, const std::optional<Measurement>& measurement);
/// Reads the columns first ..; throws SQLite::Exception (SQLITE_CORRUPT) on a damaged blob or unknown evidence.
std::optional<Measurement> read_measurement(SQLite::Statement& statement, int first);
void hash_measurement(RowHash& hash, const std::optional<Measurement>& measurement);

template <typename Value>
void bind_optional(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
  if (value) {
    statement.bind(index, *value);
  } else {
    statement.bind(index);
  }
}

}  // namespace hone
