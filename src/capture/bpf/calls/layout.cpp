// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/calls/layout.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "capture/bpf/record_bytes.hpp"
#include "capture/bpf/record_layout.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

namespace {

constexpr std::uint16_t kFunction = 8;  // this and the following constants are offsets of fields in a record, in bytes
constexpr std::uint16_t kDepth = 16;
constexpr std::uint16_t kArguments = 24;
constexpr std::uint16_t kValues = 72;
constexpr std::uint16_t kEntryBytes = 80;
constexpr std::uint16_t kCallTime = 24;
constexpr std::uint16_t kReturnTime = 32;
constexpr std::uint16_t kResult = 40;
constexpr std::uint16_t kLate = 48;
constexpr std::uint16_t kExitBytes = 52;
static_assert(kEntryBytes + KMT_MOST_VALUES_BYTES <= kMostRecordBytes);
static_assert(KMT_CALL_ARGUMENTS == 6, "the event description contains six arguments");
static_assert(KMT_STRING_BYTES == kMostStringBytes && KMT_NOT_READ == kValueNotRead);

constexpr const char* kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:unsigned int depth;\toffset:16;\tsize:4;\tsigned:0;\n";

}  // namespace

CallLayout::CallLayout(const std::vector<TracedFunction>& functions, const std::vector<FormatText>& others) {
  for (const TracedFunction& function : functions) addresses_.push_back(function.address);
  std::uint16_t last = 0;
  for (const FormatText& other : others) last = std::max(last, id_of_format(other.text));
  entry_id_ = static_cast<std::uint16_t>(last + 1);
  exit_id_ = static_cast<std::uint16_t>(last + 2);
  if (exit_id_ < last)
    throw Error("This kernel has no free event number for calls", ExitCode::unsupported).hint("Use --backend ftrace");
}

std::vector<FormatText> CallLayout::formats() const {
  return {{"kmemtrace", fmt::format("name: call_entry\nID: {}\nformat:\n{}"
                                    "\tfield:unsigned long args[6];\toffset:24;\tsize:48;\tsigned:0;\n"
                                    "\tfield:__data_loc char[] values;\toffset:72;\tsize:4;\tsigned:1;\n"
                                    "\nprint fmt: \"func=%ps depth=%u\", (void *)REC->func, REC->depth\n",
                                    entry_id_, kCommonFields)},
          {"kmemtrace", fmt::format("name: call_exit\nID: {}\nformat:\n{}"
                                    "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
                                    "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"
                                    "\tfield:unsigned long retval;\toffset:40;\tsize:8;\tsigned:0;\n"
                                    "\tfield:__data_loc char[] late;\toffset:48;\tsize:4;\tsigned:1;\n"
                                    "\nprint fmt: \"func=%ps depth=%u retval=0x%lx\", (void *)REC->func, REC->depth, "
                                    "REC->retval\n",
                                    exit_id_, kCommonFields)}};
}

std::size_t CallLayout::build_record(const kmt_entry& entry, const std::uint64_t* words, std::uint8_t* to) const {
  const bool is_entry = entry.event == KMT_ENTRY_CALL;
  const std::uint64_t what = entry.words > 0 ? words[0] : 0;
  const auto function = to_size(what & 0xFFFFFFFF);
  const auto values_bytes = to_size(what >> 48);
  const std::uint64_t words_before = is_entry ? KMT_CALL_WORDS : KMT_RETURN_WORDS;
  const std::uint64_t most_bytes = is_entry ? KMT_MOST_VALUES_BYTES : KMT_LATE_BYTES;
  if (entry.words < words_before + (values_bytes + 7) / 8 || function >= addresses_.size() || values_bytes > most_bytes)
    throw Error("A ring of a BPF program has an entry that is not a call");
  std::size_t size = is_entry ? kEntryBytes : kExitBytes;
  std::memset(to, 0, size);
  write_common_fields(to, is_entry ? entry_id_ : exit_id_, entry);
  write_field(to + kFunction, addresses_[function], 8);
  write_field(to + kDepth, what >> 32 & 0xFFFF, 4);
  if (is_entry) {
    std::memcpy(to + kArguments, words + 1, KMT_CALL_ARGUMENTS * sizeof(std::uint64_t));
  } else {
    write_field(to + kCallTime, words[1], 8);
    write_field(to + kReturnTime, entry.time_ns, 8);
    write_field(to + kResult, words[2], 8);
  }
  write_field(to + (is_entry ? kValues : kLate), size | values_bytes << 16, 4);
  std::memcpy(to + size, words + words_before, values_bytes);
  size += values_bytes;
  while (size % 4 != 0) to[size++] = 0;
  return size;
}

kmt_value table_entry_of(const TracedFunction& function, const ValuePath& path) {
  const bool by_stack = path.argument == kStackPointer;
  const bool is_nowhere = path.argument >= KMT_CALL_ARGUMENTS && !by_stack;
  if (path.offsets.size() > KMT_MOST_STEPS || is_nowhere)
    throw Error(fmt::format("{}: {} cannot be recorded: {}", function.name, path.text,
                            is_nowhere ? "its argument is not in a register" : "too many pointers lead to it"),
                ExitCode::bad_input)
        .hint(fmt::format("Values can be reached from the first {} arguments, through at most {} pointers",
                          int{KMT_CALL_ARGUMENTS}, int{KMT_MOST_STEPS}));
  kmt_value value{};
  value.argument = static_cast<unsigned char>(by_stack ? unsigned{KMT_CALL_ARGUMENTS} : path.argument);
  value.steps = static_cast<unsigned char>(path.offsets.size());
  value.is_string = path.is_string;
  value.is_user = path.in_user_memory;
  value.counted_by = static_cast<unsigned short>(path.counted_by ? *path.counted_by + 1 : 0);
  value.counter_unused_bits = path.counted_by_int ? 32 : 0;
  value.bytes = path.size;
  std::copy(path.offsets.begin(), path.offsets.end(), value.offsets);
  return value;
}

}  // namespace kmt
