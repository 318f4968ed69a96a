// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/file.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/tracedat/decompress.hpp"
#include "formats/tracedat/initial_sections.hpp"
#include "formats/tracedat/layout.hpp"
#include "formats/tracedat/recover.hpp"

namespace kmt::tracedat {

namespace {

// Memory that is counted for each option, in bytes. Even the shortest option may need this much.
constexpr std::uint64_t kOptionCost = 256;
// Maximum ratio of a section's unpacked to its packed size. For comparison: the descriptions of all events of a kernel
// are compressed to one twentieth.
constexpr std::uint32_t kMostRatio = 64;
constexpr std::uint32_t kAnySection = 1u << 20;
constexpr unsigned kMostCpus = 8192;       // largest CONFIG_NR_CPUS of all architectures, Linux 7.2
constexpr std::uint64_t kPlaceBytes = 16;  // size of a CPU's entry: an offset and a size

// State shared by the parsing functions.
struct Parser {
  Bytes file;
  Findings& findings;
  FileContents& contents;
  // The following limits rely on a valid file referring to each byte only once. A small file that refers to the same
  // bytes many times could need as much time and memory as a large file, and is rejected.
  std::set<std::uint16_t>& sections_read;
  std::map<std::string, std::set<unsigned>>& cpus_read;  // CPUs whose data was found, by buffer name
  std::uint64_t& unclaimed;                              // number of bytes that may still be data of CPUs
  std::uint64_t& work_left;    // number of bytes of options and unpacked sections that may still be read
  std::uint64_t& places_left;  // number of CPU entries that may still be read

  void charge(std::uint64_t bytes) const {
    if (bytes > work_left) throw Error("There are more options than a file of this size can need");
    work_left -= bytes;
  }

  void damaged(const std::string& what, const Error& error) const {
    findings.add(
        {Imperfection::damaged_section, fmt::format("{}: {}", what, error.what()), {}, error.place().offset, {}});
  }
  // Runs a step. An error becomes a finding, because the rest of the file stays readable.
  void attempt(const std::string& what, const std::function<void()>& step) const {
    try {
      step();
    } catch (const Error& error) {
      damaged(what, error);
    }
  }
};

std::string owned(std::string_view text) { return std::string(text); }

// Removes a NUL at the end of the text. Some texts in the file have one, which counts in their size.
std::string_view without_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

std::string clock_in_brackets(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return owned(trim(text));
  return owned(text.substr(open + 1, close - open - 1));
}

std::int64_t parse_offset(std::string_view text) {
  text = trim(without_nul(text));
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto value = parse_leading<std::int64_t>(text, hex ? 16 : 10);
  if (!value) throw Error("Cannot read a time offset: not a number");
  return negative ? -*value : *value;
}

// Adds an offset to the clock's offset. A damaged offset may be any number, so the sum may wrap around.
void add_offset(FileContents& contents, std::int64_t offset, std::uint64_t ns) {
  std::int64_t& sum = contents.description.kernel.clock_scale.offset_ns;
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(offset) * ns);
}

// Limits a CPU's data to the size of the file, and reports missing bytes.
CpuData clipped(const Parser& parser, CpuData data, const std::string& buffer) {
  const std::uint64_t end = parser.file.size();
  if (data.size > 0 && (data.offset > end || data.size > end - data.offset)) {
    const std::uint64_t present = data.offset < end ? end - data.offset : 0;
    parser.findings.add(
        {Imperfection::truncated_file,
         fmt::format("{}{} of {} bytes are there", buffer.empty() ? "" : printable(buffer) + ": ", present, data.size),
         data.cpu,
         end,
         {}});
    data.size = present;
  }
  data.offset = std::min(data.offset, end);  // a CPU without data may have any offset
  if (data.size > parser.unclaimed) {
    parser.findings.add({Imperfection::damaged_section,
                         fmt::format("{} bytes of data are dropped: they belong to other CPUs, too", data.size),
                         data.cpu, data.offset});
    data.size = 0;
  }
  parser.unclaimed -= data.size;
  return data;
}

void add_cpu(const Parser& parser, const CpuData& data, BufferData& buffer) {
  if (parser.places_left == 0) throw Error("More CPUs have data than a file of this size can hold");
  --parser.places_left;
  if (parser.cpus_read[buffer.name].insert(data.cpu).second)
    return buffer.cpus.push_back(clipped(parser, data, buffer.name));
  parser.findings.add({Imperfection::damaged_section,
                       fmt::format("{}{} bytes of data are dropped: the CPU already has data",
                                   buffer.name.empty() ? "" : printable(buffer.name) + ": ", data.size),
                       data.cpu, data.offset});
}

struct SectionHeader {
  std::uint16_t id = 0;
  std::uint16_t flags = 0;
  std::uint64_t size = 0;
};

SectionHeader read_section_header(ByteReader& in) {
  SectionHeader header;
  header.id = in.u16();
  header.flags = in.u16();
  in.skip(4);  // ID of the section's name
  header.size = in.u64();
  return header;
}

// Calls read() with the contents of the section at `offset`. Compressed contents are unpacked first.
void with_section(const Parser& parser, std::uint64_t offset, std::uint16_t id,
                  const std::function<void(ByteReader&)>& read) {
  ByteReader in(parser.file, parser.contents.order());
  in.seek(offset);
  const SectionHeader header = read_section_header(in);
  if (header.id != id) throw Error(fmt::format("Expected section {}, found {}", id, header.id)).at({{}, {}, offset});
  if ((header.flags & kSectionCompressed) == 0) {
    const std::uint64_t base = in.file_offset();
    ByteReader section(in.bytes(header.size), parser.contents.order(), base);
    return read(section);
  }
  const std::uint32_t packed = in.u32();
  const std::uint32_t unpacked = in.u32();
  if (unpacked > kAnySection && unpacked / kMostRatio > packed)
    throw Error(fmt::format("Refusing to unpack {} bytes into {}: descriptions cannot be compressed that much", packed,
                            unpacked));
  const std::uint64_t base = in.file_offset();
  std::vector<std::uint8_t> plain;
  try {
    parser.charge(unpacked);
    plain = decompress(parser.contents.compression, in.bytes(packed), unpacked);
  } catch (Error& error) {
    throw error.at({{}, {}, base});
  }
  ByteReader section(plain, parser.contents.order(), base);
  read(section);
}

void read_cpu_stat(std::string_view text, TraceDescription& description) {
  const auto* const carried =
      std::ranges::find_if(kCarriedNotes, [text](const CarriedNote& note) { return text.starts_with(note.heading); });
  if (carried != kCarriedNotes.end())
    description.kernel.notes[carried->name] = text.substr(carried->heading.size());
  else
    description.cpu_stats.push_back(owned(text));
}

// Reads an option. Version 6 has a list of options before the data of the CPUs, and version 7 has options in sections.
void read_option(const Parser& parser, std::uint16_t id, Bytes value, std::uint64_t offset) {
  FileContents& contents = parser.contents;
  ByteReader in(value, contents.order(), offset);
  const auto text = [&in] { return without_nul(in.text(in.remaining())); };
  const auto section = [&](std::uint16_t section_id, auto&& read) {
    if (!parser.sections_read.insert(section_id).second) throw Error("Another section of this kind came before");
    with_section(parser, in.u64(), section_id, [&](ByteReader& body) { read(body, contents.description.kernel); });
  };
  switch (id) {
    case kDate: add_offset(contents, parse_offset(text()), 1000); break;  // in microseconds
    case kOffset: add_offset(contents, parse_offset(text()), 1); break;
    case kCpuStat: read_cpu_stat(text(), contents.description); break;
    case kTraceClock:
      contents.description.kernel.clock_choices = owned(text());
      contents.description.kernel.clock = clock_in_brackets(contents.description.kernel.clock_choices);
      break;
    case kUname: contents.description.uname = owned(text()); break;
    case kCpuCount: contents.description.kernel.cpus = std::min(in.u32(), kMostCpus); break;
    case kTscToNs:
      contents.description.kernel.clock_scale.mult = in.u32();
      contents.description.kernel.clock_scale.shift = in.u32();
      if (contents.description.kernel.clock_scale.shift > 63)
        throw Error("Cannot scale the time stamps: impossible shift");
      break;
    case kHeaderInfo: section(kHeaderInfo, read_header_info); break;
    case kFtraceEvents: section(kFtraceEvents, read_ftrace_formats); break;
    case kEventFormats: section(kEventFormats, read_event_formats); break;
    case kKallsyms: section(kKallsyms, read_kallsyms); break;
    case kCmdLines: section(kCmdLines, read_cmdlines); break;
    case kBufferText:
      parser.findings.add({Imperfection::unknown_section, "text of a latency tracer, not events", {}, offset});
      break;
    case kHook:
    case kVersion:
    case kProcMaps:
    case kTraceId: break;
    case kBtfFile: section(kBtfFile, read_btf); break;
    case kPrintk: section(kPrintk, read_printk); break;
    default:
      parser.findings.add(
          {Imperfection::unknown_section, fmt::format("option {} of {} bytes", id, value.size()), {}, offset, {}});
  }
}

// Throws Error if the name of a ring buffer is too long for a folder in tracefs. Messages about each CPU repeat the
// name, so its length must be limited.
std::string checked_name(std::string_view name) {
  constexpr std::size_t kMostBytes = 255;  // NAME_MAX
  if (name.size() > kMostBytes)
    throw Error(fmt::format("The name of a ring buffer is too long: {} bytes, at most {} are possible", name.size(),
                            kMostBytes));
  return owned(name);
}

// Reads a buffer option of version 7, which lists the positions of the CPUs' data.
void read_buffer_option(const Parser& parser, ByteReader in) {
  BufferData buffer;
  const std::uint64_t section_offset = in.u64();
  buffer.name = checked_name(in.c_string());
  buffer.clock = owned(in.c_string());
  buffer.page_size = in.u32();
  ByteReader section(parser.file, parser.contents.order());
  section.seek(section_offset);
  buffer.compressed = (read_section_header(section).flags & kSectionCompressed) != 0;
  for (std::uint32_t left = in.u32(); left > 0; --left) {
    CpuData data;
    data.cpu = std::min(in.u32(), 0xFFFFu);
    data.offset = in.u64();
    data.size = in.u64();
    if (buffer.compressed && data.size > 0)
      data.size += 4;  // trace-cmd does not count the field with the number of chunks
    add_cpu(parser, data, buffer);
  }
  parser.contents.buffers.push_back(std::move(buffer));
}

// Reads the chain of option sections of version 7. Returns false if the chain is broken.
bool read_options_chain(const Parser& parser, std::uint64_t offset) {
  std::set<std::uint64_t> seen;
  try {
    while (offset != 0) {
      if (!seen.insert(offset).second) throw Error("Cannot follow the options: they form a loop");
      std::uint64_t next = 0;
      with_section(parser, offset, kDone, [&](ByteReader& in) {
        while (in.remaining() > 0) {
          const std::uint16_t id = in.u16();
          const std::uint32_t size = in.u32();
          const std::uint64_t at = in.file_offset();
          const Bytes value = in.bytes(size);
          parser.charge(kOptionCost + size);
          if (id == kDone) {
            next = ByteReader(value, in.order(), at).u64();
            return;
          }
          parser.attempt(fmt::format("option {}", id), [&] {
            if (id == kBuffer)
              read_buffer_option(parser, ByteReader(value, in.order(), at));
            else
              read_option(parser, id, value, at);
          });
        }
      });
      offset = next;
    }
  } catch (const Error& error) {
    parser.damaged("options", error);
    return false;
  }
  return true;
}

void parse_version_7(const Parser& parser, ByteReader& in) {
  FileContents& contents = parser.contents;
  contents.compression = owned(in.c_string());
  in.c_string();  // skip the version of the compression library
  check_compression(contents.compression);
  const std::uint64_t options = in.u64();
  const bool complete = read_options_chain(parser, options);
  if (contents.buffers.empty() && !complete) {
    // trace-cmd writes the list of buffers last, so a truncated file does not have the list. Search for the data.
    BufferData buffer = recover_buffer(parser.file, contents, in.position());
    for (CpuData& data : buffer.cpus)
      parser.findings.add({Imperfection::truncated_file,
                           fmt::format("the list of buffers is missing; {} bytes were found by searching", data.size),
                           data.cpu, data.offset});
    if (!buffer.cpus.empty()) contents.buffers.push_back(std::move(buffer));
  }
}

// Reads the CPU entries of version 6, after the tag "flyrecord". Each entry is an offset and a size.
void read_cpu_places(const Parser& parser, ByteReader& in, BufferData buffer, unsigned cpus) {
  buffer.page_size = parser.contents.description.kernel.page_size;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    CpuData data;
    data.cpu = cpu;
    data.offset = in.u64();
    data.size = in.u64();
    add_cpu(parser, data, buffer);
  }
  parser.contents.buffers.push_back(std::move(buffer));
}

constexpr std::uint64_t kTagBytes = 10;
constexpr std::string_view kFlyrecord{"flyrecord\0", kTagBytes};
constexpr std::string_view kOptionsTag{"options  \0", kTagBytes};
constexpr std::string_view kLatency{"latency  \0", kTagBytes};

struct Instance {
  std::string name;
  std::uint64_t offset = 0;
};

std::vector<Instance> read_options_v6(const Parser& parser, ByteReader& in) {
  std::vector<Instance> instances;
  for (;;) {
    const std::uint16_t id = in.u16();
    if (id == kDone) return instances;
    const std::uint32_t size = in.u32();
    const std::uint64_t at = in.file_offset();
    const Bytes value = in.bytes(size);
    parser.charge(kOptionCost + size);
    parser.attempt(fmt::format("option {}", id), [&] {
      if (id != kBuffer) return read_option(parser, id, value, at);
      ByteReader option(value, in.order(), at);
      const std::uint64_t offset = option.u64();
      instances.push_back({checked_name(without_nul(option.text(option.remaining()))), offset});
    });
  }
}

void parse_version_6(const Parser& parser, ByteReader& in) {
  FileContents& contents = parser.contents;
  KernelDescription& kernel = contents.description.kernel;
  read_header_info(in, kernel);
  read_ftrace_formats(in, kernel);
  read_event_formats(in, kernel);
  read_kallsyms(in, kernel);
  read_printk(in, kernel);
  read_cmdlines(in, kernel);
  const unsigned cpus = in.u32();
  if (cpus > 0xFFFF)
    throw Error(fmt::format("Cannot read the data of {} CPUs: the header is damaged", cpus))
        .at({{}, {}, in.file_offset()});
  contents.description.kernel.cpus = cpus;

  std::vector<Instance> instances;
  std::string_view tag = in.text(kTagBytes);
  if (tag == kOptionsTag) {
    instances = read_options_v6(parser, in);
    contents.description.kernel.cpus = std::max(contents.description.kernel.cpus, cpus);
    tag = in.text(kTagBytes);
  }
  if (tag == kLatency)
    throw Error("The file has the text of a latency tracer, not events")
        .hint("Record with trace-cmd record, or with kmemtrace record")
        .at({{}, {}, in.file_offset() - kTagBytes});
  if (tag != kFlyrecord) throw Error("Expected \"flyrecord\"").at({{}, {}, in.file_offset() - kTagBytes});
  read_cpu_places(parser, in, {}, cpus);

  for (const Instance& instance : instances)
    parser.attempt(fmt::format("buffer {}", printable(instance.name)), [&] {
      ByteReader at(parser.file, contents.order());
      at.seek(instance.offset);
      if (at.text(kTagBytes) != kFlyrecord) throw Error("Expected \"flyrecord\"").at({{}, {}, instance.offset});
      BufferData buffer;
      buffer.name = instance.name;
      read_cpu_places(parser, at, std::move(buffer), cpus);
    });
}

}  // namespace

bool is_trace_dat(Bytes file) {
  return file.size() >= kMagic.size() &&
         std::equal(kMagic.begin(), kMagic.end(), file.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

FileContents parse_file(Bytes file, Findings& findings) {
  FileContents contents;
  ByteReader start(file, ByteOrder::little);
  start.skip(kMagic.size());
  const std::string version = owned(start.c_string());
  if (version != "6" && version != "7")
    throw Error(fmt::format("Cannot read version \"{}\" of trace.dat, only 6 and 7", printable(version)))
        .hint("Convert it to version 7 with a newer trace-cmd")
        .at({{}, {}, kMagic.size()});
  contents.version = version == "6" ? 6 : 7;
  contents.description.kernel.byte_order = start.u8() == 0 ? ByteOrder::little : ByteOrder::big;
  // This is the word size of the recording program. The kernel's may differ.
  contents.description.kernel.long_bytes = start.u8();

  ByteReader in(file, contents.order());
  in.seek(start.position());
  contents.description.kernel.page_size = in.u32();
  std::set<std::uint16_t> sections_read;
  std::map<std::string, std::set<unsigned>> cpus_read;
  std::uint64_t unclaimed = file.size();
  // In a short recording, the compressed kallsyms of a large kernel may be ten times the size of the rest.
  std::uint64_t work_left = std::max<std::uint64_t>(64u << 20, 16 * file.size());
  contents.most_places = file.size() / kPlaceBytes;
  std::uint64_t places_left = contents.most_places;
  const Parser parser{file, findings, contents, sections_read, cpus_read, unclaimed, work_left, places_left};
  try {
    if (contents.version == 6)
      parse_version_6(parser, in);
    else
      parse_version_7(parser, in);
  } catch (Error& error) {
    // Tell the user in which part of the file the error is.
    throw error.context("Reading the header of the trace");
  }
  return contents;
}

MissingCpus::MissingCpus(const FileContents& contents, const TraceInfo& info)
    : contents_(contents), places_left_(contents.most_places) {
  // If the file was converted, the findings that it contains already include the missing CPUs.
  if (info.findings.count_of(Imperfection::missing_cpu) > 0) places_left_ = 0;
  for (const BufferStatistics& statistics : info.losses.buffers) {
    if (statistics.cpu >= contents.description.kernel.cpus) continue;
    if (statistics.entries + statistics.read + statistics.overrun == 0)
      silent_.insert(statistics.cpu);
    else if (statistics.entries + statistics.read > 0)
      had_events_.insert(statistics.cpu);
  }
}

void MissingCpus::report(const BufferData& buffer, Findings& findings) {
  if (buffer.cpus.empty()) return;  // nothing was recorded from this buffer
  const unsigned cpus = contents_.description.kernel.cpus;
  std::set<unsigned> present;
  for (const CpuData& data : buffer.cpus)
    if (data.cpu < cpus && !silent_.contains(data.cpu) &&
        (data.size > 0 || !buffer.name.empty() || !had_events_.contains(data.cpu)))
      present.insert(data.cpu);
  std::uint64_t missing = std::min<std::uint64_t>(cpus - silent_.size() - present.size(), places_left_);
  places_left_ -= missing;
  for (unsigned cpu = 0; missing > 0 && findings.wants(Imperfection::missing_cpu); ++cpu) {
    if (silent_.contains(cpu) || present.contains(cpu)) continue;
    findings.add({Imperfection::missing_cpu, printable(buffer.name), cpu});
    --missing;
  }
  findings.count(Imperfection::missing_cpu, missing);
}

}  // namespace kmt::tracedat
