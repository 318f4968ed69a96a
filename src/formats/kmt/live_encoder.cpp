// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/live_encoder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "formats/ftrace/event_format.hpp"

namespace kmt::kmt_format {

namespace {

// Maximum age of a block in memory. If the recorder is killed, such a block is lost.
constexpr std::chrono::seconds kOldestBlock{1};

RecordLayouts layouts_of(const KernelDescription& kernel) {
  Findings ignored;  // readers of the trace report these findings
  return {parse_event_formats(kernel.formats, ignored), kernel.byte_order};
}

}  // namespace

std::vector<RecordStream> live_streams(const KernelDescription& kernel, const std::vector<unsigned>& cpus) {
  std::vector<RecordStream> streams;
  streams.reserve(cpus.size());
  for (const unsigned cpu : cpus) streams.push_back({cpu, "", kernel.sub_buffer_bytes});
  return streams;
}

LiveEncoder::LiveEncoder(const KernelDescription& kernel, const std::vector<unsigned>& cpus, BlockStore& store)
    : page_layout_{kernel.byte_order, long_bytes_of_header_page(kernel.header_page), kernel.sub_buffer_bytes},
      layouts_(layouts_of(kernel)),
      store_(store) {
  for (const unsigned cpu : cpus)
    cpus_.push_back(std::make_unique<Cpu>(cpu, static_cast<std::uint16_t>(cpus_.size()), layouts_));
}

LiveEncoder::Cpu& LiveEncoder::cpu_of(unsigned number) const {
  const auto found =
      std::lower_bound(cpus_.begin(), cpus_.end(), number, [](const auto& cpu, unsigned n) { return cpu->number < n; });
  if (found == cpus_.end() || (*found)->number != number)
    throw Error(fmt::format("Unexpected pages of cpu {}", number));
  return **found;
}

template <typename Step>
void LiveEncoder::encode_all(Cpu& cpu, const Step& step) {
  const auto now = std::chrono::steady_clock::now();
  if (cpu.encoder.empty()) cpu.begun = now;
  // If a block cannot be stored, throw this error only after all pages are encoded. The store keeps the block.
  std::exception_ptr failure;
  const auto attempt_end = [&] {
    try {
      end_block(cpu);
    } catch (const Error&) {
      failure = std::current_exception();
    }
    cpu.begun = now;
  };
  while (step()) {
    if (cpu.encoder.failed_allocations() > 0) failed_allocation_ = true;
    if (is_full(cpu.encoder)) attempt_end();
  }
  const unsigned asked = asked_;
  if (!cpu.encoder.empty() && (now - cpu.begun >= kOldestBlock || cpu.answered != asked)) attempt_end();
  cpu.answered = asked;
  if (failure) std::rethrow_exception(failure);
}

void LiveEncoder::pages(unsigned number, Bytes pages) {
  Cpu& cpu = cpu_of(number);
  encode_all(cpu, [&] {
    if (pages.empty()) return false;
    const std::size_t size = to_size(std::min<std::uint64_t>(pages.size(), page_layout_.page_size));
    encode(cpu, pages.first(size));
    pages = pages.subspan(size);
    return true;
  });
}

void LiveEncoder::records(unsigned number, std::span<const LiveRecord> records) {
  Cpu& cpu = cpu_of(number);
  encode_all(cpu, [&] {
    if (records.empty()) return false;
    const LiveRecord& next = records.front();
    if (next.lost > 0)
      cpu.encoder.add_lost(next.lost);
    else
      cpu.encoder.add(next.ticks, next.record);
    records = records.subspan(1);
    return true;
  });
}

void LiveEncoder::encode(Cpu& cpu, Bytes page) {
  BlockEncoder& encoder = cpu.encoder;
  if (const PageEnd end = read_page_header(page, page_layout_).end; end.missed_events)
    encoder.add_lost(end.missed_count);
  const PageEnd end = walk_page(
      page, page_layout_, [&encoder](std::uint64_t ticks, Bytes record, std::uint64_t) { encoder.add(ticks, record); });
  if (end.damage != nullptr) {
    ++damaged_pages_;
    encoder.add_lost(std::nullopt);  // the events after the damage are not recorded
  }
}

void LiveEncoder::end_block(Cpu& cpu) { store_.add(pack(cpu.stream, cpu.encoder.finish())); }

void LiveEncoder::finish() {
  std::exception_ptr failure;
  for (const auto& cpu : cpus_) {
    try {
      if (!cpu->encoder.empty()) end_block(*cpu);
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kmt::kmt_format
