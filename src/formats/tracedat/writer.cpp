// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "formats/trace_description.hpp"
#include "formats/tracedat/layout.hpp"

namespace kmt::tracedat {

namespace {

// Builds bytes in the byte order of the recorded machine.
class Output {
 public:
  explicit Output(ByteOrder order) : order_(order) {}
  Output& u8(std::uint8_t value) { return put(value); }
  Output& u16(std::uint16_t value) { return put(value); }
  Output& u32(std::uint32_t value) { return put(value); }
  Output& u64(std::uint64_t value) { return put(value); }
  Output& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  Output& c_string(std::string_view value) { return text(value).u8(0); }
  // Appends a length of 8 bytes and the text.
  Output& sized(std::string_view value) { return u64(value.size()).text(value); }
  // Appends a length of 4 bytes and the text.
  Output& short_sized(std::string_view value) { return u32(static_cast<std::uint32_t>(value.size())).text(value); }
  Output& option(std::uint16_t id, std::string_view value) {
    return u16(id).u32(static_cast<std::uint32_t>(value.size())).text(value);
  }
  // Appends a length of 4 bytes and the symbols. Call this at most once. The symbols must outlive this object: only
  // write_to() makes their text, piece by piece.
  Output& symbols(const KallsymsText& symbols) {
    u32(static_cast<std::uint32_t>(symbols.size()));
    symbols_ = &symbols;
    symbols_place_ = bytes_.size();
    return *this;
  }
  // Replaces bytes in front of the symbols.
  void patch_u64(std::size_t at, std::uint64_t value) { store(bytes_.data() + at, value, order_); }
  std::uint64_t size() const { return bytes_.size() + (symbols_ == nullptr ? 0 : symbols_->size()); }
  // Returns all bytes except those of symbols().
  const std::string& bytes() const { return bytes_; }
  void write_to(NewFile& file) const {
    const std::string_view bytes = bytes_;
    file.write(bytes.substr(0, symbols_place_));
    if (symbols_ != nullptr) symbols_->write_to([&file](std::string_view piece) { file.write(piece); });
    file.write(bytes.substr(symbols_place_));
  }

 private:
  template <typename T>
  Output& put(T value) {
    char raw[sizeof(T)];
    store(raw, value, order_);
    bytes_.append(raw, sizeof raw);
    return *this;
  }

  ByteOrder order_;
  std::string bytes_;
  const KallsymsText* symbols_ = nullptr;
  std::size_t symbols_place_ = 0;
};

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

std::string with_nul(const std::string& text) { return text + '\0'; }

Output header_info(const KernelDescription& kernel) {
  Output out(kernel.byte_order);
  out.c_string("header_page").sized(kernel.header_page).c_string("header_event").sized(kernel.header_event);
  return out;
}

Output ftrace_formats(const KernelDescription& kernel) {
  Output out(kernel.byte_order);
  const auto is_ftrace = [](const FormatText& format) { return format.system == "ftrace"; };
  out.u32(static_cast<std::uint32_t>(std::count_if(kernel.formats.begin(), kernel.formats.end(), is_ftrace)));
  for (const FormatText& format : kernel.formats)
    if (is_ftrace(format)) out.sized(format.text);
  return out;
}

Output event_formats(const KernelDescription& kernel) {
  std::vector<std::string> systems;
  for (const FormatText& format : kernel.formats)
    if (format.system != "ftrace" && std::find(systems.begin(), systems.end(), format.system) == systems.end())
      systems.push_back(format.system);
  Output out(kernel.byte_order);
  out.u32(static_cast<std::uint32_t>(systems.size()));
  for (const std::string& system : systems) {
    const auto in_system = [&system](const FormatText& format) { return format.system == system; };
    out.c_string(system);
    out.u32(static_cast<std::uint32_t>(std::count_if(kernel.formats.begin(), kernel.formats.end(), in_system)));
    for (const FormatText& format : kernel.formats)
      if (in_system(format)) out.sized(format.text);
  }
  return out;
}

Output initial(const KernelDescription& kernel, const char* version) {
  Output out(kernel.byte_order);
  out.text(kMagic).c_string(version).u8(kernel.byte_order == ByteOrder::big ? 1 : 0);
  return out.u8(static_cast<std::uint8_t>(kernel.long_bytes)).u32(kernel.page_size);
}

// Appends the options about the machine and the recording, which are the same in both versions.
void append_options(Output& out, const RawRecording& recording) {
  const KernelDescription& kernel = recording.kernel;
  const ClockScale& scale = kernel.clock_scale;
  out.option(kTraceClock, with_nul(kernel.clock_choices));
  out.option(kUname, with_nul(uname_of(kernel)));
  out.option(kVersion, with_nul("kmemtrace"));
  std::random_device random;
  const std::uint64_t trace_id = std::uint64_t{random()} << 32 | random();
  out.u16(kTraceId).u32(8).u64(trace_id);
  if (scale.mult != 0) out.u16(kTscToNs).u32(16).u32(scale.mult).u32(scale.shift).u64(0);
  if (scale.offset_ns != 0) out.option(kOffset, with_nul(fmt::format("{}", scale.offset_ns)));
  for (const RawCpu& cpu : recording.cpus)
    out.option(kCpuStat, with_nul(cpu_stats_of(kernel, cpu.cpu, cpu.statistics)));
  for (const std::string& statistics : recording.more_statistics) out.option(kCpuStat, with_nul(statistics));
  for (const auto* const notes : {&kernel.notes, &kernel.late_notes})
    for (const CarriedNote& carried : kCarriedNotes)
      if (const auto note = notes->find(carried.name); note != notes->end())
        out.option(kCpuStat, with_nul(fmt::format("{}{}", carried.heading, note->second)));
}

// The part of a file before the ring-buffer pages, and the positions of the pages.
struct Front {
  Output out;
  std::vector<std::uint64_t> places;  // file offset of each CPU's pages
};

// Returns the offset of each CPU's pages. The offsets are after `end` and aligned to pages, one CPU after the other.
std::vector<std::uint64_t> places_from(std::uint64_t end, const RawRecording& recording) {
  std::vector<std::uint64_t> places;
  for (const RawCpu& cpu : recording.cpus) {
    end = aligned(end, std::max(recording.kernel.page_size, recording.kernel.sub_buffer_bytes));
    places.push_back(end);
    end += cpu.bytes;
  }
  return places;
}

// Returns the first part of a version 6 file. In this version, an entry's position in the list of CPUs is the CPU
// number, so CPUs that were not recorded get empty entries.
Front front_of_version_6(const RawRecording& recording) {
  const KernelDescription& kernel = recording.kernel;
  Output out = initial(kernel, "6");
  out.text(header_info(kernel).bytes()).text(ftrace_formats(kernel).bytes()).text(event_formats(kernel).bytes());
  out.symbols(kernel.kallsyms).short_sized(kernel.printk_formats).sized(kernel.saved_cmdlines);
  const unsigned cpus = recording.cpus.empty() ? 0 : recording.cpus.back().cpu + 1;
  out.u32(cpus).c_string("options  ");
  append_options(out, recording);
  out.u16(kDone).c_string("flyrecord");

  const std::string clock = fmt::format("[{}]", kernel.clock);
  const std::uint64_t end = out.size() + std::uint64_t{cpus} * 16 + 8 + clock.size() + 1;
  std::vector<std::uint64_t> places = places_from(end, recording);
  std::size_t next = 0;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    const bool present = recording.cpus[next].cpu == cpu;
    out.u64(places[next]).u64(present ? recording.cpus[next].bytes : 0);
    if (present) ++next;
  }
  out.u64(clock.size() + 1).c_string(clock);
  return {std::move(out), std::move(places)};
}

// Returns the first part of a version 7 file. It has all options and the list of buffers, so that a truncated file
// still has them.
Front front_of_version_7(const RawRecording& recording) {
  const KernelDescription& kernel = recording.kernel;
  Output out = initial(kernel, "7");
  out.c_string("none").c_string("");
  const std::uint64_t options_place = out.size();
  out.u64(0);

  Output strings(kernel.byte_order);
  const auto begin_section = [&](std::uint16_t id, std::string_view description, std::uint64_t size) {
    out.u16(id).u16(0).u32(static_cast<std::uint32_t>(strings.size())).u64(size);
    strings.c_string(description);
  };
  Output options(kernel.byte_order);
  const auto begin_listed_section = [&](std::uint16_t id, std::string_view description, std::uint64_t size) {
    options.u16(id).u32(8).u64(out.size());
    begin_section(id, description, size);
  };
  const auto section = [&](std::uint16_t id, std::string_view description, const Output& body) {
    begin_listed_section(id, description, body.size());
    out.text(body.bytes());
  };
  section(kHeaderInfo, "headers", header_info(kernel));
  section(kFtraceEvents, "ftrace events", ftrace_formats(kernel));
  section(kEventFormats, "events format", event_formats(kernel));
  begin_listed_section(kKallsyms, "kallsyms", sizeof(std::uint32_t) + kernel.kallsyms.size());
  out.symbols(kernel.kallsyms);
  section(kPrintk, "printk", Output(kernel.byte_order).short_sized(kernel.printk_formats));
  section(kCmdLines, "command lines", Output(kernel.byte_order).sized(kernel.saved_cmdlines));
  append_options(options, recording);
  options.u16(kCpuCount).u32(4).u32(kernel.cpus);

  // Compute the size of the whole part first, because the offsets of the pages depend on it.
  const std::string clock = kernel.clock;
  const std::uint64_t buffer_bytes = 8 + 1 + clock.size() + 1 + 4 + 4 + recording.cpus.size() * (4 + 8 + 8);
  const std::uint64_t options_bytes = options.size() + 6 + buffer_bytes + 6 + 8;
  constexpr std::string_view kOptionsText = "options";
  constexpr std::string_view kStringsText = "strings";
  constexpr std::string_view kBufferText = "flyrecord";
  const std::uint64_t strings_bytes =
      strings.size() + kOptionsText.size() + 1 + kStringsText.size() + 1 + kBufferText.size() + 1;
  const std::uint64_t buffer_section =
      out.size() + kSectionHeaderBytes + options_bytes + kSectionHeaderBytes + strings_bytes;
  std::vector<std::uint64_t> places = places_from(buffer_section + kSectionHeaderBytes, recording);
  const std::uint64_t end =
      places.empty() ? buffer_section + kSectionHeaderBytes : places.back() + recording.cpus.back().bytes;

  options.u16(kBuffer).u32(static_cast<std::uint32_t>(buffer_bytes));
  options.u64(buffer_section).c_string("").c_string(clock).u32(kernel.sub_buffer_bytes);
  options.u32(static_cast<std::uint32_t>(recording.cpus.size()));
  for (std::size_t i = 0; i < recording.cpus.size(); ++i)
    options.u32(recording.cpus[i].cpu).u64(places[i]).u64(recording.cpus[i].bytes);
  options.u16(kDone).u32(8).u64(0);

  out.patch_u64(to_size(options_place), out.size());
  begin_section(kDone, kOptionsText, options.size());
  out.text(options.bytes());
  begin_section(kStrings, kStringsText, strings_bytes);
  const std::uint64_t buffer_description = strings.size();
  strings.c_string(kBufferText);
  out.text(strings.bytes());
  out.u16(kBuffer)
      .u16(0)
      .u32(static_cast<std::uint32_t>(buffer_description))
      .u64(end - buffer_section - kSectionHeaderBytes);
  return {std::move(out), std::move(places)};
}

// Copies data inside the kernel. If the kernel cannot do this, for example across file systems, copies through user
// space.
ssize_t copy_some(int from, off_t& offset, int to, std::size_t size, const std::string& path) {
  const ssize_t copied = ::copy_file_range(from, &offset, to, nullptr, size, 0);
  if (copied >= 0) return copied;
  if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
    throw system_error("Cannot write", path);
  std::vector<char> block(std::min<std::size_t>(size, 1 << 20));
  const ssize_t got = ::pread(from, block.data(), block.size(), offset);
  if (got < 0) throw system_error("Cannot read back recorded pages", path);
  write_all(to, {block.data(), static_cast<std::size_t>(got)}, path);
  offset += got;
  return got;
}

void copy_pages(RawCpu& cpu, const NewFile& file, std::uint64_t place) {
  constexpr std::size_t kStep = 16 << 20;
  if (::lseek(file.fd(), static_cast<off_t>(place), SEEK_SET) < 0) throw system_error("Cannot seek", file.path());
  off_t offset = 0;
  const auto end = static_cast<off_t>(cpu.bytes);
  while (offset < end) {
    const off_t before = offset;
    if (copy_some(cpu.pages.get(), offset, file.fd(),
                  std::min<std::size_t>(kStep, static_cast<std::size_t>(end - offset)), file.path()) == 0)
      throw Error(fmt::format("Recorded pages of cpu {} are missing: {} of {} bytes", cpu.cpu, offset, end));
    // Free the disk space of the copied pages in the source file. If this fails, the recording needs twice its disk
    // space for some time.
    ::fallocate(cpu.pages.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, before, offset - before);
  }
}

}  // namespace

std::uint64_t metadata_bytes(const KernelDescription& kernel) {
  std::uint64_t bytes = kernel.header_page.size() + kernel.header_event.size() + kernel.kallsyms.size() +
                        kernel.printk_formats.size() + kernel.saved_cmdlines.size();
  for (const FormatText& format : kernel.formats) bytes += format.text.size();
  return bytes;
}

void write(const std::string& path, unsigned version, RawRecording& recording, Replaced replaced) {
  if (version == 6 && recording.kernel.sub_buffer_bytes != recording.kernel.page_size)
    throw Error(fmt::format("Version 6 of trace.dat cannot hold ring-buffer pages of {} bytes",
                            recording.kernel.sub_buffer_bytes))
        .hint("Write version 7, or set buffer_subbuf_size_kb of tracefs back to a page")
        .at({path, {}, {}});
  const Front front = version == 6 ? front_of_version_6(recording) : front_of_version_7(recording);
  NewFile file(path, replaced);
  front.out.write_to(file);
  for (std::size_t i = 0; i < recording.cpus.size(); ++i) copy_pages(recording.cpus[i], file, front.places[i]);
  file.finish();
}

}  // namespace kmt::tracedat
