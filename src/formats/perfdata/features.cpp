// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/features.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/perfdata/layout.hpp"
#include "formats/tracedat/initial_sections.hpp"

namespace kmt::perfdata {

namespace {

constexpr std::uint32_t kMostCpus = 0x10000;
constexpr std::uint64_t kMostIdBytes = 20;
// Start of the name of the kernel's mapping. The name of a symbol follows.
constexpr std::string_view kKernel = "[kernel.kallsyms]";

// Reads a size and a text of that many bytes. The text ends at the first NUL.
std::string_view read_text(ByteReader& in) {
  const std::string_view padded = in.text(in.u32());
  return padded.substr(0, padded.find('\0'));
}

// Returns the name of a module: "ext4" for "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz" and for "[ext4]". Empty if
// the path is not a module.
std::string module_of_path(std::string_view path) {
  if (path.starts_with('[')) {
    if (!path.ends_with(']') || path.starts_with("[kernel") || path.starts_with("[guest") || path.starts_with("[vdso"))
      return {};
    return std::string(path.substr(1, path.size() - 2));
  }
  path = path.substr(path.rfind('/') + 1);
  const std::size_t suffix = path.rfind(".ko");
  if (suffix == std::string_view::npos) return {};
  std::string name(path.substr(0, suffix));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Reads the rest of a record up to the first NUL.
std::string_view read_name(ByteReader& in) {
  const std::string_view padded = in.text(in.remaining());
  return padded.substr(0, padded.find('\0'));
}

void note_build_id(std::string_view path, Bytes id, KernelDescription& kernel) {
  std::string text;
  for (const std::uint8_t byte : id) text += fmt::format("{:02x}", byte);
  if (text.find_first_not_of('0') == std::string::npos) return;
  if (path.starts_with(kKernel))
    kernel.notes["kernel_build_id"] = text;
  else if (const std::string module = module_of_path(path); !module.empty())
    kernel.notes["module_build_ids"] += fmt::format("{} {}\n", module, text);
}

void read_build_ids(ByteReader& in, KernelDescription& kernel) {
  while (in.remaining() >= kRecordHeaderBytes) {
    in.skip(4);  // record type
    const std::uint16_t misc = in.u16();
    const std::uint16_t size = in.u16();
    if (size < kRecordHeaderBytes)
      throw Error("A build-id has an impossible size").at({{}, {}, in.file_offset() - kRecordHeaderBytes});
    const std::uint64_t at = in.file_offset();
    read_build_id(misc, ByteReader(in.bytes(size - kRecordHeaderBytes), in.order(), at), kernel);
  }
}

// Parses a list like "0-3,8-11". `cpus_left` is the number of CPUs that the file may still list. A valid file lists
// each CPU once, but a malicious file could list CPUs so often that parsing takes very long.
void assign_node(std::string_view cpus, int node, std::vector<int>& nodes, std::uint32_t& cpus_left) {
  for (std::string_view range : split(cpus, ',')) {
    const auto begin = take_number<std::uint32_t>(range);
    const auto end = range.starts_with('-') ? parse_leading<std::uint32_t>(range.substr(1)) : begin;
    if (!begin || !end) continue;
    const std::uint32_t first = *begin;
    const std::uint32_t last = *end;
    if (last >= kMostCpus || first > last) continue;
    if (last - first >= cpus_left) throw Error("the NUMA nodes have too many CPUs");
    cpus_left -= last - first + 1;
    if (nodes.size() <= last) nodes.resize(last + 1, -1);
    std::fill(nodes.begin() + first, nodes.begin() + last + 1, node);
  }
}

void read_numa_topology(ByteReader& in, KernelDescription& kernel) {
  std::uint32_t cpus_left = kMostCpus;
  for (std::uint32_t left = in.u32(); left > 0; --left) {
    const std::uint32_t node = in.u32();
    in.skip(16);  // total and free memory in bytes
    const std::string_view cpus = read_text(in);
    if (node <= 0x7FFF) assign_node(cpus, static_cast<int>(node), kernel.cpu_nodes, cpus_left);
  }
}

void read_command_line(ByteReader& in, KernelDescription& kernel) {
  std::string text;
  for (std::uint32_t left = in.u32(); left > 0; --left) {
    if (!text.empty()) text += ' ';
    text += read_text(in);
  }
  kernel.notes["arguments"] = std::move(text);
}

void read_event_names(ByteReader& in, Attributes& attributes) {
  const std::uint32_t events = in.u32();
  const std::uint32_t attribute_bytes = in.u32();
  for (std::uint32_t left = events; left > 0; --left) {
    in.skip(attribute_bytes);
    const std::uint32_t ids = in.u32();
    const std::string_view name = read_text(in);
    for (std::uint32_t i = 0; i < ids; ++i) attributes.name(in.u64(), name);
  }
}

// Reads the wall-clock time at the start of the recording.
void read_clocks(ByteReader& in, KernelDescription& kernel) {
  in.skip(8);  // version, clock
  const std::uint64_t seconds = in.u64() / 1'000'000'000;
  kernel.notes["recorded_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace

void read_build_id(std::uint16_t misc, ByteReader in, KernelDescription& kernel) {
  constexpr std::uint64_t kIdFieldBytes = 24;
  const std::uint16_t mode = misc & kCpuModeMask;
  if (mode != kCpuModeKernel && mode != kCpuModeUser) return;
  in.skip(4);  // pid
  const Bytes field = in.bytes(kIdFieldBytes);
  const std::uint64_t bytes = (misc & kBuildIdSized) != 0 ? std::uint64_t{field[kMostIdBytes]} : kMostIdBytes;
  const Bytes id = field.first(to_size(std::min(bytes, kMostIdBytes)));
  if (mode == kCpuModeKernel) return note_build_id(read_name(in), id, kernel);
  CodeObject& object = kernel.user_memory.objects.emplace_back();
  for (const std::uint8_t byte : id) object.build_id += fmt::format("{:02x}", byte);
  object.path = read_name(in);
}

void read_kernel_mapping(const Record& record, KernelDescription& kernel) {
  if ((record.misc & kCpuModeMask) != kCpuModeKernel) return;
  ByteReader in(record.payload, kernel.byte_order);
  in.skip(8 + 16);  // pid, tid, start, size
  const std::uint64_t reference = in.u64();
  Bytes id;
  if (record.type == kMmap2) {
    const std::uint8_t size = in.u8();
    in.skip(3);
    const Bytes field = in.bytes(kMostIdBytes);  // a build ID, or the device and inode of a file
    if ((record.misc & kMmapBuildId) != 0) id = field.first(to_size(std::min<std::uint64_t>(size, kMostIdBytes)));
    in.skip(8);  // protection, flags
  }
  const std::string_view name = read_name(in);
  note_build_id(name, id, kernel);
  if (name.starts_with(kKernel) && name.size() > kKernel.size() && kernel.notes.count("kernel_reference") == 0)
    kernel.notes["kernel_reference"] = fmt::format("{} {:x}", name.substr(kKernel.size()), reference);
}

void read_feature(unsigned feature, Bytes bytes, std::uint64_t offset, FileContents& contents, Findings& findings) {
  KernelDescription& kernel = contents.description.kernel;
  ByteReader in(bytes, kernel.byte_order, offset);
  try {
    switch (feature) {
      case kTracingData: tracedat::read_tracing_data(bytes, offset, kernel, findings); break;
      case kBuildId: read_build_ids(in, kernel); break;
      case kHostname: kernel.node_name = read_text(in); break;
      case kOsRelease: kernel.release = read_text(in); break;
      case kPerfVersion: kernel.notes["recorder"] = fmt::format("perf {}", read_text(in)); break;
      case kArch: kernel.machine = read_text(in); break;
      case kCpuCount:
        kernel.cpus = std::min(in.u32(), kMostCpus - 1);
        contents.cpus_online = in.u32();
        break;
      case kCommandLine: read_command_line(in, kernel); break;
      case kEventDescription: read_event_names(in, contents.attributes); break;
      case kNumaTopology: read_numa_topology(in, kernel); break;
      case kClockData: read_clocks(in, kernel); break;
      default: break;
    }
  } catch (const Error& error) {
    findings.add({Imperfection::damaged_section,
                  fmt::format("feature {}: {}", feature, error.what()),
                  {},
                  error.place().offset});
  }
}

std::string uname_of_names(const KernelDescription& kernel) {
  if (kernel.release.empty() && kernel.machine.empty()) return {};
  // An unknown word must not be empty, because the words of `uname` are separated by blanks.
  const auto word = [](const std::string& text) { return text.empty() ? std::string("unknown") : text; };
  return fmt::format("Linux {} {} {}", word(kernel.node_name), word(kernel.release), word(kernel.machine));
}

}  // namespace kmt::perfdata
