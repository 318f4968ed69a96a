// SPDX-License-Identifier: GPL-2.0-or-later
// A sink that checks the order in which its functions are called. A wrong order is a mistake of kmemtrace, whatever the
// trace contains. The sink only keeps counts.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "formats/record_stream.hpp"

namespace kmt::test {

class CheckedSink : public RecordSink {
 public:
  void describe(const TraceDescription&) override {
    expect(!described_, "described twice");
    described_ = true;
  }
  void begin_stream(const RecordStream& stream) override {
    expect(described_, "a stream before the description");
    expect(!in_stream_, "a stream inside of another");
    expect(known_.insert({stream.cpu, stream.buffer}).second != stream.goes_on, "a stream goes on, or does not");
    in_stream_ = true;
  }
  void record(std::uint64_t, Bytes) override {
    expect(in_stream_, "a record outside of a stream");
    ++records;
  }
  void lost(std::optional<std::uint64_t>) override { expect(in_stream_, "a loss outside of a stream"); }
  void end_stream() override {
    expect(in_stream_, "no stream to end");
    in_stream_ = false;
  }
  // Call this at the end of a whole trace.
  void expect_ended() const { expect(described_ && !in_stream_, "not ended"); }

  std::uint64_t records = 0;

 private:
  static void expect(bool is_so, const char* what) {
    if (!is_so) throw std::logic_error(what);
  }

  bool described_ = false;
  bool in_stream_ = false;
  std::set<std::pair<unsigned, std::string>> known_;
};

}  // namespace kmt::test
