// SPDX-License-Identifier: GPL-2.0-or-later
// A trace's records on their way to another file, with the symbols of its kernel where it holds none (perf.data): what
// is read elsewhere, or has its code moved, cannot be named any more.
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
  // What remains goes to `sink`, which has to outlive this. Says on stderr where symbols came from, naming the trace.
  GivenSymbols(KernelSymbolFiles files, std::string name, RecordSink& sink)
      : files_(std::move(files)), name_(std::move(name)), sink_(sink) {}

  void describe(const TraceDescription& description) override;  // throws Error, as symbols_from_elsewhere()
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
