// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/call_records.hpp"

#include <fmt/format.h>

#include "formats/ftrace/format_text.hpp"

namespace kmt::text {

namespace {

// Starts a record with its common fields and the fields `func` and `depth`.
void start_record(const CallLine& call, unsigned id, std::uint64_t function, const std::vector<unsigned>& offsets,
                  std::vector<std::uint8_t>& record) {
  record.assign(offsets.back(), 0);
  store(record.data(), static_cast<std::uint16_t>(id), kHostOrder);
  record[2] = call.line.context;
  store(record.data() + 4, static_cast<std::uint32_t>(call.line.tid), kHostOrder);
  store(record.data() + offsets[0], function, kHostOrder);
  store(record.data() + offsets[1], static_cast<std::uint32_t>(call.depth.value_or(0)), kHostOrder);
}

}  // namespace

void CallRecordFormat::learn(const CallLine& call) {
  any_ = true;
  has_durations_ = has_durations_ || call.duration_ns.has_value();
  has_results_ = has_results_ || printed_number(call.return_value).has_value();
  has_arguments_ = has_arguments_ || !call.arguments.empty();
  types_.learn(call);
}

void CallRecordFormat::describe(unsigned first_id, KernelDescription& kernel) {
  entry_id_ = first_id;
  exit_id_ = first_id + 1;
  long_bytes_ = kernel.long_bytes;
  const std::vector<TextField> entry = {{"func"}, {"depth", 4}};
  entry_offsets_ = offsets_of(entry);
  std::string text = format_text("funcgraph_entry", entry_id_, entry, {});
  if (has_arguments_) {  // the size 0 means that the array extends to the end of the record
    entry_offsets_.back() = (entry_offsets_.back() + 7) / 8 * 8;
    text.insert(text.find("\nprint fmt"),
                fmt::format("\tfield:unsigned long args[];\toffset:{};\tsize:0;\tsigned:0;\n", entry_offsets_.back()));
  }
  kernel.formats.push_back({"ftrace", text});
  std::vector<TextField> exit = {{"func"}, {"depth", 4}};
  if (has_durations_) exit.insert(exit.end(), {{"calltime"}, {"rettime"}});
  exit_offsets_ = offsets_of(exit);
  kernel.formats.push_back({"ftrace", format_text("funcgraph_exit", exit_id_, exit, {})});
  if (has_results_) {
    exit.push_back({"retval"});
    result_offsets_ = offsets_of(exit);
    kernel.formats.push_back({"ftrace", format_text("funcgraph_exit", exit_id_ + 1, exit, {})});
  }
  if (!types_.empty()) kernel.call_types.btf = types_.btf(long_bytes_);
}

void CallRecordFormat::encode_entry(const CallLine& call, std::uint64_t function,
                                    std::vector<std::uint8_t>& record) const {
  start_record(call, entry_id_, function, entry_offsets_, record);
  for (const std::uint64_t value : types_.registers(call)) {
    record.resize(record.size() + long_bytes_);
    std::uint8_t* const at = record.data() + record.size() - long_bytes_;
    if (long_bytes_ == 8)
      store(at, value, kHostOrder);
    else
      store(at, static_cast<std::uint32_t>(value), kHostOrder);
  }
}

// Encodes the exit of a call. The record has the field `retval` only if the result was printed. Only the difference of
// `calltime` and `rettime` counts, which is the duration. The record's time is the end of the call.
void CallRecordFormat::encode_exit(const CallLine& call, std::uint64_t function,
                                   std::vector<std::uint8_t>& record) const {
  const auto result = printed_number(call.return_value);
  const bool has_result = result.has_value();
  const std::vector<unsigned>& offsets = has_result ? result_offsets_ : exit_offsets_;
  start_record(call, has_result ? exit_id_ + 1 : exit_id_, function, offsets, record);
  std::size_t field = 2;
  if (has_durations_) {
    const std::uint64_t duration = call.duration_ns.value_or(0);
    const std::uint64_t began = call.line.time >= duration ? call.line.time - duration : 0;
    store(record.data() + offsets[field++], began, kHostOrder);
    store(record.data() + offsets[field++], began + duration, kHostOrder);
  }
  if (result) store(record.data() + offsets[field], *result, kHostOrder);
}

}  // namespace kmt::text
