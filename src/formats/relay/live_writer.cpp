// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/relay/live_writer.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/output_file.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/relay/layout.hpp"
#include "trace/ring_page.hpp"

namespace kmt::relay {

namespace {

// Data of a CPU is written when it has this size, or when the CPU is idle.
constexpr std::size_t kWriteBytes = 256 << 10;

std::vector<EventFormat> formats_of(const KernelDescription& kernel) {
  Findings ignored;  // findings about formats that cannot be parsed; not used, because only slab events are needed
  return parse_event_formats(kernel.formats, ignored);
}

TraceInfo machine_of(const KernelDescription& kernel) {
  TraceInfo info;
  info.machine.byte_order = kernel.byte_order;
  info.machine.word_bits = kernel.long_bytes * 8;
  return info;
}

// Returns the type for the record of an event. Empty if the event is the later free of an object that was passed to
// kfree_rcu(), because this object already had an event.
std::optional<Type> type_of(const Event& event, const TraceTables& tables) {
  if (event.kind == EventKind::cache_alloc || event.kind == EventKind::cache_free) return Type::cache;
  if (event.kind != EventKind::bulk_free) return Type::kmalloc;
  if (event.cache == CacheId{}) {
    const bool is_array = tables.event_types[event.type.value].name == "free_bulk";
    return is_array ? std::nullopt : std::optional(Type::kmalloc);
  }
  // such as "kmalloc-96", "kmalloc-rcl-96" and "dma-kmalloc-96"
  const bool is_kmalloc = tables.cache_names[event.cache.value].find("kmalloc-") != std::string::npos;
  return is_kmalloc ? Type::kmalloc : Type::cache;
}

}  // namespace

// Each CPU has its own decoder and tables, because each is used by another thread.
struct LiveWriter::Cpu {
  Cpu(unsigned cpu, const std::string& file, const KernelDescription& kernel, const std::vector<EventFormat>& formats)
      : number(cpu),
        path(file),
        output(make_file(file)),
        layout{kernel.byte_order, long_bytes_of_header_page(kernel.header_page), kernel.sub_buffer_bytes},
        clock(kernel.clock_scale),
        abi{&kLayouts[1], kernel.byte_order},
        info(machine_of(kernel)),
        decoder(formats, kernel.byte_order, info) {}

  unsigned number;
  std::string path;
  FileDescriptor output;
  PageLayout layout;
  ClockScale clock;
  Abi abi;
  TraceInfo info;
  RecordDecoder decoder;
  EventBatch events;
  std::vector<std::uint8_t> records;  // not yet written to the file
  std::uint64_t written = 0;
};

LiveWriter::LiveWriter(const std::string& folder, const KernelDescription& kernel, const std::vector<unsigned>& cpus)
    : page_bytes_(kernel.sub_buffer_bytes) {
  const std::vector<EventFormat> formats = formats_of(kernel);
  for (const unsigned cpu : cpus)
    cpus_.push_back(std::make_unique<Cpu>(cpu, fmt::format("{}/cpu{}.out", folder, cpu), kernel, formats));
}

LiveWriter::~LiveWriter() = default;

void LiveWriter::pages(unsigned number, Bytes pages) {
  const auto found = std::ranges::find(cpus_, number, [](const auto& cpu) { return cpu->number; });
  if (found == cpus_.end()) throw Error(fmt::format("Unexpected pages of cpu {}", number));
  Cpu& cpu = **found;
  const bool quiet = pages.empty();
  while (!pages.empty()) {
    const Bytes page = pages.first(to_size(std::min<std::uint64_t>(pages.size(), page_bytes_)));
    encode(cpu, page);
    pages = pages.subspan(page.size());
  }
  if (quiet || cpu.records.size() >= kWriteBytes) write(cpu);
}

void LiveWriter::encode(Cpu& cpu, Bytes page) {
  cpu.events.clear();
  const PageEnd end = walk_page(page, cpu.layout, [&](std::uint64_t ticks, Bytes record, std::uint64_t) {
    cpu.decoder.decode(record, cpu.clock.to_ns(ticks), cpu.number, 0, cpu.events);
  });
  if (end.damage != nullptr) ++damaged_pages_;
  for (const Event& event : cpu.events) {
    const bool allocates = is_slab_alloc(event.kind);
    if (!allocates && !is_slab_free(event.kind)) continue;
    if (event.address == 0 || (allocates && event.bytes_requested == 0)) {
      ++omitted_;
      continue;
    }
    const std::optional<Type> type = type_of(event, cpu.info.tables);
    if (!type) {
      ++repeated_frees_;
      continue;
    }
    Record record;
    record.allocates = allocates;
    record.type = *type;
    record.time_ns = event.time_ns;
    record.call_site = cpu.info.tables.call_sites[event.call_site.value];
    record.ptr = event.address;
    record.bytes_requested = event.bytes_requested;
    record.bytes_allocated = event.bytes_allocated;
    record.gfp_flags = event.gfp_flags;
    record.node = event.node;
    append(record, cpu.abi, cpu.records);
  }
}

void LiveWriter::write(Cpu& cpu) {
  try {
    write_all(cpu.output.get(), {reinterpret_cast<const char*>(cpu.records.data()), cpu.records.size()}, cpu.path);
  } catch (const Error&) {
    // Remove the incomplete record at the end of the file. The records stay in memory, because the disk may have space
    // later.
    if (::ftruncate(cpu.output.get(), static_cast<off_t>(cpu.written)) == 0)
      ::lseek(cpu.output.get(), static_cast<off_t>(cpu.written), SEEK_SET);
    throw;
  }
  cpu.written += cpu.records.size();
  bytes_ += cpu.records.size();
  cpu.records.clear();
}

void LiveWriter::finish() {
  std::exception_ptr failure;
  for (const auto& cpu : cpus_) {
    try {
      write(*cpu);
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kmt::relay
