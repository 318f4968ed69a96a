// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/description.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/varint.hpp"

namespace kmt::kmt_format {

namespace {

using Payload = std::vector<std::uint8_t>;

const std::string kNotePrefix = "note:";

// An entry in memory is larger than the shortest one in a file.
constexpr std::size_t kMostEntries = 0x10000;
constexpr std::size_t kMostSampleTexts = 64;
constexpr std::size_t kMostNotes = 1000;

void append_text(Payload& out, std::string_view text) {
  append_varint(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

void append_fact(Payload& out, std::string_view name, std::string_view value) {
  append_text(out, name);
  append_text(out, value);
}

class Input {
 public:
  explicit Input(Bytes payload) : at_(payload.data()), end_(payload.data() + payload.size()) {}
  bool empty() const { return at_ == end_; }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    if (!read_varint(at_, end_, value)) throw Error("A chunk ends too early");
    return value;
  }
  std::string_view text() {
    const std::uint64_t size = varint();
    if (size > static_cast<std::uint64_t>(end_ - at_)) throw Error("A chunk's text ends too early");
    const std::string_view text(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return text;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

template <typename T>
T number(std::string_view text) {
  T value{};
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{})
    throw Error(fmt::format("A fact is no number: \"{}\"", text.substr(0, 20)));
  return value;
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
  append_fact(out, "page_size", fmt::format("{}", kernel.page_size));
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

Payload encode_symbols(const TraceDescription& description) {
  Payload out;
  append_fact(out, "kallsyms", description.kernel.kallsyms);
  return out;
}

Payload encode_end_facts(const TraceDescription& description) {
  const KernelDescription& kernel = description.kernel;
  Payload out;
  append_fact(out, "saved_cmdlines", kernel.saved_cmdlines);
  if (!kernel.thread_groups.empty()) append_fact(out, "thread_groups", kernel.thread_groups);
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
  Input in(payload);
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
  Input in(payload);
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
    if (name == "kallsyms") kernel.kallsyms = value;
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
  Input in(payload);
  while (!in.empty()) {
    const std::string_view system = in.text();
    if (formats.size() >= kMostEntries) throw Error("There are more event formats than events can have ids");
    formats.push_back({std::string(system), std::string(in.text())});
  }
}

Payload encode_stream(const RecordStream& stream) {
  Payload out;
  append_varint(out, stream.cpu);
  append_varint(out, stream.page_bytes);
  append_text(out, stream.buffer);
  return out;
}

RecordStream decode_stream(Bytes payload) {
  Input in(payload);
  RecordStream stream;
  stream.cpu = static_cast<unsigned>(std::min<std::uint64_t>(in.varint(), 0xFFFF));
  stream.page_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), 16u << 20));
  stream.buffer = in.text();
  return stream;
}

}  // namespace kmt::kmt_format
