// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/file.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/perfdata/features.hpp"
#include "formats/perfdata/layout.hpp"
#include "formats/perfdata/record_cursor.hpp"

namespace kmt::perfdata {

namespace {

bool starts_with(Bytes file, std::string_view magic) {
  return file.size() >= magic.size() &&
         std::string_view(reinterpret_cast<const char*>(file.data()), magic.size()) == magic;
}

void damaged(Findings& findings, const std::string& what, const Error& error) {
  findings.add(
      {Imperfection::damaged_section, fmt::format("{}: {}", what, error.what()), {}, error.place().offset, {}});
}

struct Section {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

Section read_section(ByteReader& in) {
  const std::uint64_t offset = in.u64();
  return {offset, in.u64()};
}

// Returns a reader for the bytes of the section. Throws Error if the file lacks some of them.
ByteReader reader_of(Bytes file, Section section, ByteOrder order) {
  ByteReader in(file, order);
  in.seek(section.offset);
  return {in.bytes(section.size), order, section.offset};
}

std::vector<std::uint64_t> read_ids(ByteReader in) {
  std::vector<std::uint64_t> ids;
  while (in.remaining() >= 8) ids.push_back(in.u64());
  return ids;
}

// Reads the attributes. The header states the size of an entry, which has an attribute and the position of its IDs.
void read_attributes(Bytes file, Section section, std::uint64_t entry_bytes, FileContents& contents,
                     Findings& findings) {
  constexpr std::uint64_t kSectionBytes = 16;
  try {
    if (entry_bytes < kLeastAttributeBytes + kSectionBytes)
      throw Error(fmt::format("Impossible size of attributes: {}", entry_bytes)).at({{}, {}, 16});
    std::uint64_t ids_left = file.size() / 8;  // number of IDs that may still be read; a valid file has each ID once
    for (ByteReader in = reader_of(file, section, contents.order()); in.remaining() >= entry_bytes;) {
      const std::uint64_t at = in.file_offset();
      const Attribute attribute = parse_attribute(in.bytes(entry_bytes - kSectionBytes), contents.order(), at);
      std::vector<std::uint64_t> ids;
      try {
        const Section of_ids = read_section(in);
        if (of_ids.size / 8 > ids_left) throw Error("More ids than the file can hold").at({{}, {}, at});
        ids_left -= of_ids.size / 8;
        ids = read_ids(reader_of(file, of_ids, contents.order()));
      } catch (const Error& error) {
        damaged(findings, "ids of an event", error);
      }
      contents.attributes.add(attribute, ids);
    }
  } catch (const Error& error) {
    damaged(findings, "attributes", error);
  }
}

// Returns which features the file has. The features are bits in an array of longs. The file does not contain the size
// of a long, which matters on big-endian machines. Tries 8 bytes first, then 4 bytes. The size is right if the bit of
// the host name is set, because perf always writes the host name.
std::array<bool, kFeatureBits> read_feature_bits(Bytes bytes, ByteOrder order) {
  std::array<bool, kFeatureBits> has{};
  for (const unsigned word_bytes : {8u, 4u}) {
    for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
      const unsigned word_bits = word_bytes * 8;
      const std::uint64_t word =
          load_sized(bytes.data() + std::size_t{bit / word_bits} * word_bytes, word_bytes, order);
      has[bit] = (word >> bit % word_bits & 1) != 0;
    }
    if (has[kHostname]) break;
  }
  return has;
}

void read_features(Bytes file, const std::array<bool, kFeatureBits>& has, FileContents& contents, Findings& findings) {
  ByteReader sections(file, contents.order());
  sections.seek(contents.data_end);
  // Number of bytes in sections that may still be read; a valid file refers to each byte once.
  std::uint64_t left = 2 * file.size();
  for (unsigned feature = 0; feature < kFeatureBits; ++feature) {
    if (!has[feature]) continue;
    try {
      const Section section = read_section(sections);
      ByteReader in = reader_of(file, section, contents.order());
      if (section.size > left) throw Error("Sections overlap").at({{}, {}, section.offset});
      left -= section.size;
      read_feature(feature, in.bytes(section.size), section.offset, contents, findings);
    } catch (const Error& error) {
      damaged(findings, fmt::format("feature {}", feature), error);
      if (sections.remaining() < sizeof(Section)) return;
    }
  }
}

void parse_file_mode(Bytes file, ByteReader& in, FileContents& contents, Findings& findings) {
  const std::uint64_t attribute_bytes = in.u64();
  const Section attributes = read_section(in);
  const Section data = read_section(in);
  in.skip(16);  // old versions of perf store event names here
  const std::array<bool, kFeatureBits> has = read_feature_bits(in.bytes(kFeatureBits / 8), contents.order());
  read_attributes(file, attributes, attribute_bytes, contents, findings);

  contents.data_begin = std::min<std::uint64_t>(data.offset, file.size());
  const std::uint64_t there = file.size() - contents.data_begin;
  contents.data_end = contents.data_begin + std::min(data.size, there);
  if (data.size == 0) {
    contents.data_end = file.size();
    findings.add({Imperfection::truncated_file,
                  "perf did not complete the recording: the sizes and all descriptions are missing, because perf "
                  "writes them last",
                  {},
                  data.offset});
  } else if (data.size > there) {
    findings.add({Imperfection::truncated_file,
                  fmt::format("only {} of {} bytes of records exist, and the descriptions that follow them are missing",
                              there, data.size),
                  {},
                  file.size()});
  } else {
    read_features(file, has, contents, findings);
  }
}

void read_pipe_attribute(const Record& record, FileContents& contents) {
  const Bytes payload = record.payload;
  const std::uint64_t at = record.offset + kRecordHeaderBytes;
  const std::uint64_t bytes = payload.size() >= 8 ? load<std::uint32_t>(payload.data() + 4, contents.order()) : 0;
  if (bytes < kLeastAttributeBytes || bytes > payload.size())
    throw Error(fmt::format("Impossible size of attributes: {}", bytes)).at({{}, {}, at});
  contents.attributes.add(parse_attribute(payload.first(to_size(bytes)), contents.order(), at),
                          read_ids(ByteReader(payload.subspan(to_size(bytes)), contents.order())));
}

// Stores the CPU of each event ID, the task of the first ID, and the CPUs on which tracepoints were recorded.
void read_id_index(const Record& record, FileContents& contents) {
  ByteReader in(record.payload, contents.order(), record.offset + kRecordHeaderBytes);
  in.skip(8);
  while (in.remaining() >= 32) {
    const std::uint64_t id = in.u64();
    in.skip(8);
    const std::uint64_t cpu = in.u64();
    const auto task = static_cast<std::int32_t>(in.u64());
    if (!contents.first_task) contents.first_task = task;
    if (cpu > 0xFFFF) continue;  // any CPU
    contents.attributes.set_cpu(id, static_cast<std::uint32_t>(cpu));
    // Only tracepoints count, because the events that perf adds to learn about tasks may be on all CPUs.
    const auto event = contents.attributes.of_id(id);
    if (event && contents.attributes.all()[*event].type == kTypeTracepoint)
      contents.tracepoint_cpus.insert(static_cast<std::uint32_t>(cpu));
  }
}

void read_name(const Record& record, FileContents& contents) {
  constexpr std::uint64_t kName = 2;  // PERF_EVENT_UPDATE__NAME
  ByteReader in(record.payload, contents.order());
  const std::uint64_t what = in.u64();
  const std::uint64_t id = in.u64();
  const std::string_view padded = in.text(in.remaining());
  if (what == kName) contents.attributes.name(id, padded.substr(0, padded.find('\0')));
}

void read_description_record(const Record& record, FileContents& contents, Findings& findings) {
  const std::uint64_t at = record.offset + kRecordHeaderBytes;
  KernelDescription& kernel = contents.description.kernel;
  const auto feature = [&](unsigned number, Bytes bytes, std::uint64_t offset) {
    read_feature(number, bytes, offset, contents, findings);
  };
  switch (record.type) {
    case kMmap:
    case kMmap2: read_kernel_mapping(record, kernel); break;
    case kHeaderAttr: read_pipe_attribute(record, contents); break;
    case kEventUpdate: read_name(record, contents); break;
    case kIdIndex: read_id_index(record, contents); break;
    case kHeaderBuildId: read_build_id(record.misc, ByteReader(record.payload, contents.order(), at), kernel); break;
    case kHeaderTracingData: feature(kTracingData, record.attached, at + record.payload.size()); break;
    case kHeaderFeature: {
      ByteReader in(record.payload, contents.order(), at);
      const std::uint64_t number = in.u64();
      if (number < kFeatureBits) feature(static_cast<unsigned>(number), record.payload.subspan(8), in.file_offset());
      break;
    }
    default: break;
  }
}

// Reads the records that describe the recording. In a file, they come before the first sample. With perf record
// --tail-synthesize, some come after the last sample; the kernel's mapping is then missing at the start. In a pipe,
// perf writes build IDs last.
void read_description_records(Bytes file, FileContents& contents, Findings& findings) {
  Findings found_again;  // not used, because the reader of the events reports these findings
  RecordCursor records(file, contents.data_begin, contents.data_end, contents.order(), false, found_again);
  const auto& notes = contents.description.kernel.notes;
  bool described = !contents.description.kernel.header_page.empty();
  for (Record record; records.next(record);) {
    if (record.type == kSample && !contents.is_pipe && notes.count("kernel_reference") > 0) break;
    if (record.type == kHeaderTracingData && std::exchange(described, true)) continue;
    try {
      read_description_record(record, contents, findings);
    } catch (const Error& error) {
      findings.add({Imperfection::damaged_record, error.what(), {}, record.offset});
    }
  }
}

// True if the command line of perf record has -p, -t or -u, but not -a. A word may combine several short options, such
// as "-ag".
bool names_tasks(std::string_view arguments) {
  bool found = false;
  for (const std::string_view word : split(arguments, ' ')) {
    if (word == "--") break;
    const bool is_short = word.starts_with('-') && !word.starts_with("--");
    if (word == "--all-cpus" || (is_short && word.find('a') != std::string_view::npos)) return false;
    for (const std::string_view option : {"-p", "-t", "-u", "--pid", "--tid", "--uid"})
      found = found || word.starts_with(option);
  }
  return found;
}

// Returns a text that names the recorded tasks; empty if all tasks were recorded.
std::string selected_tasks(const FileContents& contents) {
  if (contents.first_task && *contents.first_task < 0) return {};
  if (contents.first_task) return fmt::format("task {}, perhaps others and their children", *contents.first_task);
  const std::vector<Attribute>& attributes = contents.attributes.all();
  if (std::any_of(attributes.begin(), attributes.end(), [](const Attribute& one) { return one.enable_on_exec; }))
    return "those of the command that perf ran";
  const auto& notes = contents.description.kernel.notes;
  const auto arguments = notes.find("arguments");
  return arguments != notes.end() && names_tasks(arguments->second) ? "those that perf's command line names" : "";
}

// Returns a text that names the recorded CPUs (perf record -C); empty if all CPUs were recorded.
std::string selected_cpus(const FileContents& contents) {
  constexpr std::size_t kMostNamed = 16;
  const std::set<std::uint32_t>& cpus = contents.tracepoint_cpus;
  if (cpus.empty() || cpus.size() >= contents.cpus_online) return {};
  std::string named;
  std::size_t count = 0;
  for (const std::uint32_t cpu : cpus)
    if (count++ < kMostNamed) named += fmt::format("{}{}", named.empty() ? "" : ", ", cpu);
  return fmt::format("{} of {} CPUs: {}{}", cpus.size(), contents.cpus_online, named,
                     cpus.size() > kMostNamed ? ", …" : "");
}

}  // namespace

bool is_perf_data(Bytes file) { return starts_with(file, kMagicLittle) || starts_with(file, kMagicBig); }

FileContents parse_file(Bytes file, Findings& findings) {
  FileContents contents;
  KernelDescription& kernel = contents.description.kernel;
  kernel.byte_order = starts_with(file, kMagicLittle) ? ByteOrder::little : ByteOrder::big;
  ByteReader in(file, kernel.byte_order);
  try {
    in.skip(kMagicLittle.size());
    const std::uint64_t header_bytes = in.u64();
    contents.is_pipe = header_bytes == kPipeHeaderBytes;
    contents.data_begin = kPipeHeaderBytes;
    contents.data_end = file.size();
    if (!contents.is_pipe) {
      if (header_bytes != kFileHeaderBytes)
        throw Error(fmt::format("Unknown size of the file's header: {}", header_bytes)).at({{}, {}, 8});
      parse_file_mode(file, in, contents, findings);
    }
  } catch (Error& error) {
    throw error.context("Reading the header of the perf.data");
  }
  read_description_records(file, contents, findings);
  if (const std::string tasks = selected_tasks(contents); !tasks.empty()) kernel.notes["some_tasks"] = tasks;
  if (const std::string cpus = selected_cpus(contents); !cpus.empty()) kernel.notes["some_cpus"] = cpus;
  contents.description.uname = uname_of_names(kernel);
  return contents;
}

}  // namespace kmt::perfdata
