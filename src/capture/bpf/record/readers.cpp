// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/record/readers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "capture/ahead_of_others.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostThreads = 64;
constexpr std::size_t kBatchBytes = 128 << 10;  // small enough to stay in a CPU's own cache
constexpr std::chrono::microseconds kNap{100};
constexpr std::chrono::microseconds kPause{4000};
constexpr std::chrono::microseconds kShortPause{500};
constexpr double kFilledQuickly = 0.2;  // filled fraction of a ring between two reads

}  // namespace

RecordReaders::Cpu::Cpu(unsigned number_, CpuRings rings_)
    : number(number_), rings(std::move(rings_)), bytes(kBatchBytes) {}

RecordReaders::RecordReaders(const RecordPrograms& programs, const CallRecorder* calls,
                             const std::vector<unsigned>& cpus, std::optional<StackRecords> stacks, RecordingSink& sink)
    : programs_(programs), calls_(calls), stacks_(std::move(stacks)), sink_(sink) {
  for (const unsigned cpu : cpus) {
    CpuRings rings = programs.rings_of(cpu);
    if (calls != nullptr) calls->programs.add_rings(cpu, rings);
    cpus_.push_back(std::make_unique<Cpu>(cpu, std::move(rings)));
  }
  for (std::size_t i = 0; i < std::min(cpus_.size(), kMostThreads); ++i) {
    Reader& reader = *readers_.emplace_back(std::make_unique<Reader>());
    for (std::size_t cpu = i; cpu < cpus_.size(); cpu += kMostThreads) reader.cpus.push_back(cpus_[cpu].get());
  }
  try {
    for (const auto& reader : readers_)
      reader->thread = start_thread(fmt::format("a reader thread for CPU {}", reader->cpus.front()->number),
                                    [this, &reader = *reader] { run(reader); });
  } catch (const Error&) {
    end_threads();
    throw;
  }
}

RecordReaders::~RecordReaders() { end_threads(); }

void RecordReaders::end_threads() {
  ending_ = true;
  for (const auto& reader : readers_)
    if (reader->thread.joinable()) reader->thread.join();
}

void RecordReaders::finish(std::string& error) {
  end_threads();
  for (const auto& reader : readers_)
    if (!reader->error.empty()) error = reader->error;
}

void RecordReaders::run(Reader& reader) {
  const AheadOfOthers ahead;
  try {
    for (bool last_round = false; !last_round && !failed_;) {
      last_round = ending_;
      double filled = 0;
      for (Cpu* const cpu : reader.cpus) {
        take(*cpu, false);
        filled = std::max(filled, cpu->rings.filled());
      }
      // Entries that are complete now can be passed on after the next take().
      if (!last_round) std::this_thread::sleep_for(kNap);
      for (Cpu* const cpu : reader.cpus) take(*cpu, last_round);
      if (filled > fullest_) fullest_ = filled;
      if (!last_round) std::this_thread::sleep_for(filled > kFilledQuickly ? kShortPause : kPause);
    }
  } catch (const std::exception& error) {  // may be std::bad_alloc
    reader.error = error.what();
    failed_ = true;
  }
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
  if (entry.words < layout.words) throw Error("A ring of a BPF program holds what is no entry");
  append(build_record(layout, programs_.kernel(), entry, words, programs_.caches_of(cpu.number, entry),
                      cpu.bytes.data() + cpu.used));
  if (!stacks_) return;
  const std::uint64_t* stack = words + layout.words;
  std::size_t frames = entry.words - layout.words;
  std::span<const std::uint64_t> user;
  std::uint32_t process = 0;
  if (stacks_->user && frames > 0) {
    process = static_cast<std::uint32_t>(*stack);
    const std::size_t of_kernel = std::min<std::size_t>(*stack++ >> 32, --frames);
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
  // Clears cpu.records even if the sink throws.
  const std::vector<LiveRecord> records = std::exchange(cpu.records, {});
  cpu.used = 0;
  sink_.records(cpu.number, records);
}

RecordReaders::Counts RecordReaders::counts(std::size_t index) const {
  const Cpu& cpu = *cpus_[index];
  return {cpu.given, cpu.rings.bytes(), cpu.rings.lost()};
}

}  // namespace kmt
