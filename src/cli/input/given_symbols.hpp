// SPDX-License-Identifier: GPL-2.0-or-later
// Adds kernel symbols to a trace without symbols (perf.data) while its records are copied to another file. Later they
// may be impossible to find: on another machine, or for anonymised addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "formats/record_stream.hpp"
#include "symbols/kernel_symbols.hpp"

namespace kmt {

class GivenSymbols : public RecordSink {
 public:
  // `sink` receives the records and must outlive this object. Notes on stderr name the trace and the source of the
  // symbols.
  GivenSymbols(KernelSymbolFiles files, std::string name, RecordSink& sink)
      : files_(std::move(files)), name_(std::move(name)), sink_(sink) {}

  // Finds the symbols. Throws the errors of symbols_from_elsewhere().
  void describe(const TraceDescription& description) override;
  void begin_stream(const RecordStream& stream) override { sink_.begin_stream(stream); }
  void record(std::uint64_t ticks, Bytes record) override { sink_.record(ticks, record); }
  void lost(std::optional<std::uint64_t> count) override { sink_.lost(count); }
  void end_stream() override { sink_.end_stream(); }

 private:
  KernelSymbolFiles files_;
  std::string name_;
  RecordSink& sink_;
};

}  // namespace kmt
