// SPDX-License-Identifier: MIT
#include "db/measurement_columns.h"

#include <sqlite3.h>

#include <bit>
#include <cstdint>

#include "executor/error.h"

namespace hone {
namespace {

Evidence evidence_of(const std::string& text) {
  for (const Evidence evidence : {Evidence::timed, Evidence::emulated, Evidence::modelled}) {
    if (name(evidence) == text) return evidence;
  }
  throw SQLite::Exception("unknown evidence '" + text + "'", SQLITE_CORRUPT);
}

void bind_samples(SQLite::Statement& statement, int index, const std::vector<double>& samples) {
  const std::vector<std::byte> bytes = encode_samples(samples);
  const std::byte empty{};  // a null pointer would store NULL in place of a blob without bytes
  statement.bind(index, bytes.empty() ? &empty : bytes.data(), static_cast<int>(bytes.size()));
}

std::vector<double> read_samples(const SQLite::Column& column) {
  const auto samples = decode_samples(column.getBlob(), static_cast<size_t>(column.getBytes()));
  if (!samples) throw SQLite::Exception("a sample blob has a broken size", SQLITE_CORRUPT);
  return *samples;
}

}  // namespace

std::vector<std::byte> encode_samples(const std::vector<double>& samples) {
  std::vector<std::byte> bytes;
  bytes.reserve(samples.size() * 8);
  for (const double sample : samples) {
    const auto bits = std::bit_cast<uint64_t>(sample);
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::byte>(bits >> shift));
  }
  return bytes;
}

std::optional<std::vector<double>> decode_samples(const void* bytes, size_t size) {
  if (size % 8 != 0) return std::nullopt;
  const auto* byte = static_cast<const unsigned char*>(bytes);
  std::vector<double> samples(size / 8);
  for (double& sample : samples) {
    uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 8) bits |= static_cast<uint64_t>(*byte++) << shift;
    sample = std::bit_cast<double>(bits);
  }
  return samples;
}

std::optional<double> best_of(const Measurement& measurement) {
  if (measurement.ranking_ns().empty()) return std::nullopt;
  return measurement.best_ns();
}

void bind_measurement(SQLite::Statement& statement, int first, const std::optional<Measurement>& measurement) {
  if (!measurement) {
    for (int i = 0; i < kMeasurementColumnCount; ++i) statement.bind(first + i);
    return;
  }
  bind_optional(statement, first, best_of(*measurement));
  statement.bind(first + 1, std::string(name(measurement->evidence)));
  statement.bind(first + 2, measurement->threads);
  statement.bind(first + 3, measurement->cold_weights ? 1 : 0);
  statement.bind(first + 4, measurement->calls_per_sample);
  statement.bind(first + 5, measurement->involuntary_switches);
  statement.bind(first + 6, measurement->load_average);
  bind_optional(statement, first + 7, measurement->frequency_ghz);
  bind_optional(statement, first + 8, measurement->scratch_bytes);
  bind_samples(statement, first + 9, measurement->cpu_ns);
  bind_samples(statement, first + 10, measurement->wall_ns);
}

std::optional<Measurement> read_measurement(SQLite::Statement& statement, int first) {
  const auto column = [&](int index) { return statement.getColumn(first + index); };
  if (column(1).isNull()) return std::nullopt;
  Measurement measurement;
  measurement.evidence = evidence_of(column(1).getString());
  measurement.threads = column(2).getInt();
  measurement.cold_weights = column(3).getInt() != 0;
  measurement.calls_per_sample = column(4).getInt64();
  measurement.involuntary_switches = column(5).getInt64();
  measurement.load_average = column(6).getDouble();
  if (!column(7).isNull()) measurement.frequency_ghz = column(7).getDouble();
  if (!column(8).isNull()) measurement.scratch_bytes = column(8).getInt64();
  measurement.cpu_ns = read_samples(column(9));
  measurement.wall_ns = read_samples(column(10));
  return measurement;
}

void hash_measurement(RowHash& hash, const std::optional<Measurement>& measurement) {
  if (!measurement) {
    hash.null();
    return;
  }
  hash.text(name(measurement->evidence)).integer(measurement->threads).integer(measurement->cold_weights ? 1 : 0);
  hash.integer(measurement->calls_per_sample).integer(measurement->involuntary_switches);
  hash.real(measurement->load_average).real(measurement->frequency_ghz).integer(measurement->scratch_bytes);
  hash.blob(encode_samples(measurement->cpu_ns)).blob(encode_samples(measurement->wall_ns));
}

}  // namespace hone
