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

unsigned CallRecordFormat::form_of(const CallLine& call) {
  return (printed_number(call.return_value) ? kResult : 0) | (call.duration_ns ? kDuration : 0);
}

void CallRecordFormat::learn(const CallLine& call) {
  any_ = true;
  if (call.part != CallPart::entry) exits_[form_of(call)].is_used = true;
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
  for (unsigned form = 0; form < exits_.size(); ++form) {
    std::vector<TextField> exit = {{"func"}, {"depth", 4}};
    if ((form & kDuration) != 0) exit.insert(exit.end(), {{"calltime"}, {"rettime"}});
    if ((form & kResult) != 0) exit.push_back({"retval"});
    exits_[form].offsets = offsets_of(exit);
    if (exits_[form].is_used)
      kernel.formats.push_back({"ftrace", format_text("funcgraph_exit", exit_id_ + form, exit, {})});
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

// Encodes the exit of a call. Only the difference of `calltime` and `rettime` counts, which is the duration. The
// record's time is the end of the call.
void CallRecordFormat::encode_exit(const CallLine& call, std::uint64_t function,
                                   std::vector<std::uint8_t>& record) const {
  const unsigned form = form_of(call);
  const std::vector<unsigned>& offsets = exits_[form].offsets;
  start_record(call, exit_id_ + form, function, offsets, record);
  std::size_t field = 2;
  if (call.duration_ns) {
    const std::uint64_t began = call.line.time >= *call.duration_ns ? call.line.time - *call.duration_ns : 0;
    store(record.data() + offsets[field++], began, kHostOrder);
    store(record.data() + offsets[field++], began + *call.duration_ns, kHostOrder);
  }
  if ((form & kResult) != 0) store(record.data() + offsets[field], *printed_number(call.return_value), kHostOrder);
}

}  // namespace kmt::text
