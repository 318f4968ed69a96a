// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/description.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/kmt/payload.hpp"

namespace kmt::kmt_format {

namespace {

const std::string kNotePrefix = "note:";

// Limits the memory, because an entry may need more memory than it has bytes in the file.
constexpr std::size_t kMostEntries = 0x10000;
constexpr std::size_t kMostSampleTexts = 64;
constexpr std::size_t kMostNotes = 1000;

void append_fact(Payload& out, std::string_view name, std::string_view value) {
  append_text(out, name);
  append_text(out, value);
}

template <typename T>
T number(std::string_view text) {
  const auto value = parse_leading<T>(text);
  if (!value)
    throw Error(fmt::format("A value in the description of the trace is not a number: \"{}\"", text.substr(0, 20)));
  return *value;
}

std::vector<int> numbers(std::string_view text) {
  std::vector<int> values;
  for (const std::string_view word : split(text, ' '))
    if (!word.empty() && values.size() < 0x10000) values.push_back(number<std::int16_t>(word));
  return values;
}

}  // namespace

Payload encode_facts(const TraceDescription& description) {
  const KernelDescription& kernel = description.kernel;
  Payload out;
  append_fact(out, "uname", description.uname);
  append_fact(out, "byte_order", kernel.byte_order == ByteOrder::big ? "big" : "little");
  append_fact(out, "long_bytes", fmt::format("{}", kernel.long_bytes));
  if (kernel.page_size != 0) append_fact(out, "page_size", fmt::format("{}", kernel.page_size));
  append_fact(out, "cpus", fmt::format("{}", kernel.cpus));
  append_fact(out, "clock", kernel.clock);
  append_fact(out, "clock_choices", kernel.clock_choices);
  append_fact(out, "clock_mult", fmt::format("{}", description.kernel.clock_scale.mult));
  append_fact(out, "clock_shift", fmt::format("{}", description.kernel.clock_scale.shift));
  append_fact(out, "clock_offset_ns", fmt::format("{}", description.kernel.clock_scale.offset_ns));
  append_fact(out, "header_page", kernel.header_page);
  append_fact(out, "header_event", kernel.header_event);
  append_fact(out, "printk_formats", kernel.printk_formats);
  append_fact(out, "cpu_nodes", fmt::format("{}", fmt::join(kernel.cpu_nodes, " ")));
  for (const auto& [name, value] : kernel.notes) append_fact(out, kNotePrefix + name, value);
  const Payload rest = encode_end_facts(description);
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

Payload encode_kallsyms_head(std::size_t bytes) {
  Payload out;
  append_text(out, "kallsyms");
  append_varint(out, bytes);
  return out;
}

Payload encode_end_facts(const TraceDescription& description) {
  const KernelDescription& kernel = description.kernel;
  Payload out;
  append_fact(out, "saved_cmdlines", kernel.saved_cmdlines);
  if (!kernel.thread_groups.empty()) append_fact(out, "thread_groups", kernel.thread_groups);
  for (const auto& [name, value] : kernel.late_notes) append_fact(out, kNotePrefix + name, value);
  for (const std::string& text : description.cpu_stats) append_fact(out, "cpu_stats", text);
  return out;
}

Payload encode_sample(const StateSample& sample) {
  Payload out;
  append_varint(out, sample.ticks);
  append_varint(out, sample.unix_ns);
  for (const auto& [name, text] : sample.texts) append_fact(out, name, text);
  return out;
}

StateSample decode_sample(Bytes payload) {
  PayloadReader in(payload);
  StateSample sample;
  sample.ticks = in.varint();
  sample.unix_ns = in.varint();
  while (!in.empty()) {
    const std::string_view name = in.text();
    if (sample.texts.size() >= kMostSampleTexts) throw Error("A sample of the memory's state has too many texts");
    sample.texts.emplace_back(name, in.text());
  }
  return sample;
}

void decode_facts(Bytes payload, TraceDescription& description) {
  KernelDescription& kernel = description.kernel;
  PayloadReader in(payload);
  while (!in.empty()) {
    const std::string_view name = in.text();
    const std::string_view value = in.text();
    if (name == "uname") description.uname = value;
    if (name == "byte_order") kernel.byte_order = value == "big" ? ByteOrder::big : ByteOrder::little;
    if (name == "long_bytes") kernel.long_bytes = value == "4" ? 4 : 8;
    if (name == "page_size") kernel.page_size = std::clamp(number<std::uint32_t>(value), 64u, 16u << 20);
    if (name == "cpus") kernel.cpus = std::min(number<unsigned>(value), 0xFFFFu);
    if (name == "clock") kernel.clock = value;
    if (name == "clock_choices") kernel.clock_choices = value;
    if (name == "clock_mult") description.kernel.clock_scale.mult = number<std::uint32_t>(value);
    if (name == "clock_shift") description.kernel.clock_scale.shift = std::min(number<std::uint32_t>(value), 63u);
    if (name == "clock_offset_ns") description.kernel.clock_scale.offset_ns = number<std::int64_t>(value);
    if (name == "header_page") kernel.header_page = value;
    if (name == "header_event") kernel.header_event = value;
    if (name == "printk_formats") kernel.printk_formats = value;
    if (name == "saved_cmdlines") kernel.saved_cmdlines = value;
    if (name == "thread_groups") kernel.thread_groups = value;
    if (name == "kallsyms") kernel.kallsyms = std::string(value);
    if (name == "cpu_nodes") kernel.cpu_nodes = numbers(value);
    if (name == "cpu_stats" && description.cpu_stats.size() < kMostEntries) description.cpu_stats.emplace_back(value);
    if (name.starts_with(kNotePrefix) && kernel.notes.size() < kMostNotes)
      kernel.notes[std::string(name.substr(kNotePrefix.size()))] = value;
    if (name == "repaired") description.repaired = value;
  }
}

Payload encode_fact(std::string_view name, std::string_view value) {
  Payload out;
  append_fact(out, name, value);
  return out;
}

Payload encode_formats(const std::vector<FormatText>& formats) {
  Payload out;
  for (const FormatText& format : formats) append_fact(out, format.system, format.text);
  return out;
}

void decode_formats(Bytes payload, std::vector<FormatText>& formats) {
  PayloadReader in(payload);
  while (!in.empty()) {
    const std::string_view system = in.text();
    if (formats.size() >= kMostEntries) throw Error("There are more event formats than possible event ids");
    formats.push_back({std::string(system), std::string(in.text())});
  }
}

Payload encode_types(const CallTypes& types) {
  Payload out;
  append_text(out, {reinterpret_cast<const char*>(types.btf.data()), types.btf.size()});
  for (const RecordedFunction& function : types.functions) {
    append_text(out, function.name);
    append_varint(out, function.values.size());
    for (const RecordedValue& value : function.values) {
      append_text(out, value.text);
      out.push_back(value.is_string ? 0 : 1);
      append_varint(out, value.type);
      out.push_back(value.bit_shift);
      out.push_back(value.bits);
    }
  }
  return out;
}

CallTypes decode_types(Bytes payload) {
  PayloadReader in(payload);
  CallTypes types;
  const std::string_view btf = in.text();
  types.btf.assign(btf.begin(), btf.end());
  std::size_t entries = 0;
  while (!in.empty()) {
    RecordedFunction& function = types.functions.emplace_back();
    function.name = in.text();
    for (std::uint64_t left = in.varint(); left > 0; --left) {
      RecordedValue& value = function.values.emplace_back();
      value.text = in.text();
      value.is_string = in.byte() == 0;
      value.type = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), UINT32_MAX));
      value.bit_shift = in.byte();
      value.bits = in.byte();
      if (++entries > kMostEntries) throw Error("Too many values of calls are described");
    }
    if (++entries > kMostEntries) throw Error("Too many values of calls are described");
  }
  return types;
}

Payload encode_stream(const RecordStream& stream) {
  Payload out;
  append_varint(out, stream.cpu);
  append_varint(out, stream.page_bytes);
  append_text(out, stream.buffer);
  return out;
}

RecordStream decode_stream(Bytes payload) {
  PayloadReader in(payload);
  RecordStream stream;
  stream.cpu = static_cast<unsigned>(std::min<std::uint64_t>(in.varint(), 0xFFFF));
  stream.page_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), 16u << 20));
  stream.buffer = in.text();
  return stream;
}

}  // namespace kmt::kmt_format
