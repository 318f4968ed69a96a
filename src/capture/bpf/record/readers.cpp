// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/record/readers.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/arithmetic/size.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

constexpr std::size_t kBatchBytes = 128 << 10;  // size of a batch of records, small enough for a CPU's own cache
constexpr std::chrono::microseconds kNap{100};
constexpr std::chrono::microseconds kPause{4000};
constexpr std::chrono::microseconds kShortPause{500};
// If a ring is filled to this fraction between two reads, the next pause is short.
constexpr double kFilledQuickly = 0.2;

}  // namespace

RecordReaders::Cpu::Cpu(unsigned number_, CpuRings rings_)
    : number(number_), rings(std::move(rings_)), bytes(kBatchBytes) {}

RecordReaders::RecordReaders(const RecordPrograms& programs, const CallRecorder* calls,
                             const std::vector<unsigned>& cpus, std::optional<StackRecords> stacks, RecordingSink& sink)
    : programs_(programs), calls_(calls), stacks_(std::move(stacks)), sink_(sink), threads_(cpus) {
  for (const unsigned cpu : cpus) {
    CpuRings rings = programs.rings_of(cpu);
    if (calls != nullptr) calls->programs.add_rings(cpu, rings);
    cpus_.push_back(std::make_unique<Cpu>(cpu, std::move(rings)));
  }
  threads_.start([this](std::size_t thread, bool is_last_round) { read(thread, is_last_round); });
}

void RecordReaders::finish(std::string& error) {
  threads_.end();
  for (std::size_t thread = 0; thread < threads_.size(); ++thread)
    if (!threads_.error_of(thread).empty()) error = threads_.error_of(thread);
}

void RecordReaders::read(std::size_t thread, bool is_last_round) {
  const std::vector<std::size_t>& cpus = threads_.cpus_of(thread);
  double filled = 0;
  for (const std::size_t cpu : cpus) {
    take(*cpus_[cpu], false);
    filled = std::max(filled, cpus_[cpu]->rings.filled());
  }
  // Entries that are complete now are passed on by the next take().
  if (!is_last_round) std::this_thread::sleep_for(kNap);
  for (const std::size_t cpu : cpus) take(*cpus_[cpu], is_last_round);
  if (filled > fullest_) fullest_ = filled;
  if (!is_last_round) std::this_thread::sleep_for(filled > kFilledQuickly ? kShortPause : kPause);
}

void RecordReaders::take(Cpu& cpu, bool rest) {
  const auto give = [&](const kmt_entry& entry, const std::uint64_t* words) { add(cpu, entry, words); };
  if (rest)
    cpu.rings.take_rest(give);
  else
    cpu.rings.take(monotonic_ns(), give);
  flush(cpu);
}

void RecordReaders::add(Cpu& cpu, const kmt_entry& entry, const std::uint64_t* words) {
  if (entry.event == KMT_ENTRY_LOST) {
    cpu.records.push_back({entry.time_ns, {}, words[0]});
    return;
  }
  if (cpu.used + 3 * kMostRecordBytes > cpu.bytes.size()) flush(cpu);
  const auto append = [&](std::size_t size) {
    cpu.records.push_back({entry.time_ns, {cpu.bytes.data() + cpu.used, size}});
    cpu.used += (size + 7) / 8 * 8;
  };
  if (calls_ != nullptr && (entry.event == KMT_ENTRY_CALL || entry.event == KMT_ENTRY_RETURN))
    return append(calls_->layout.build_record(entry, words, cpu.bytes.data() + cpu.used));
  const EventLayout& layout = programs_.layout_of(entry.event);
  if (entry.words < layout.words) throw Error("A ring of a BPF program has an invalid entry");
  append(build_record(layout, programs_.kernel(), entry, words, programs_.caches_of(cpu.number, entry),
                      cpu.bytes.data() + cpu.used));
  if (!stacks_) return;
  const std::uint64_t* stack = words + layout.words;
  std::size_t frames = entry.words - layout.words;
  std::span<const std::uint64_t> user;
  std::uint32_t process = 0;
  if (stacks_->user && frames > 0) {
    process = static_cast<std::uint32_t>(*stack);
    const std::size_t of_kernel = std::min(to_size(*stack++ >> 32), --frames);
    user = {stack + of_kernel, frames - of_kernel};
    frames = of_kernel;
  }
  if (stacks_->kernel) {
    const std::size_t skipped = stacks_->tracing.leading({stack, frames});
    append(build_stack(*stacks_->kernel, entry, stack + skipped, frames - skipped, cpu.bytes.data() + cpu.used));
  }
  if (!user.empty())
    append(build_user_stack(*stacks_->user, entry, process, user.data(), user.size(), cpu.bytes.data() + cpu.used));
}

void RecordReaders::flush(Cpu& cpu) {
  cpu.given += static_cast<std::uint64_t>(
      std::count_if(cpu.records.begin(), cpu.records.end(), [](const LiveRecord& record) { return record.lost == 0; }));
  // Empties cpu.records even if the sink throws.
  const std::vector<LiveRecord> records = std::exchange(cpu.records, {});
  cpu.used = 0;
  sink_.records(cpu.number, records);
}

RecordReaders::Counts RecordReaders::counts(std::size_t index) const {
  const Cpu& cpu = *cpus_[index];
  return {cpu.given, cpu.rings.bytes(), cpu.rings.lost()};
}

}  // namespace kmt
