// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/cgroup_moves.hpp"

#include <ctime>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.hpp"
#include "base/number.hpp"

namespace kmt {

namespace {

constexpr std::size_t kRingBytes = 64 << 10;
constexpr std::size_t kMostBytes = 8 << 20;  // maximum size of the note `cgroup_moves` in bytes

// Returns the number that follows `words` in a format such as " pid;\toffset:24;". Empty if the words are missing.
std::optional<std::size_t> number_after(std::string_view format, std::string_view words) {
  const std::size_t at = format.find(words);
  return at == std::string_view::npos ? std::nullopt : parse_leading<std::size_t>(format.substr(at + words.size()));
}

}  // namespace

CgroupMoves::CgroupMoves(const std::string& tracefs, const std::vector<unsigned>& cpus, std::string clock,
                         const ClockScale& scale)
    : clock_(std::move(clock)), scale_(scale) {
  const std::string format =
      try_read_file(fmt::format("{}/events/cgroup/cgroup_attach_task/format", tracefs)).value_or("");
  const auto id = number_after(format, "ID: ");
  const auto hierarchy = number_after(format, " dst_root;\toffset:");
  const auto task = number_after(format, " pid;\toffset:");
  const auto path = number_after(format, " dst_path;\toffset:");
  if (!id || !hierarchy || !task || !path) return;
  places_ = {*hierarchy, *task, *path};
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.config = *id;
  attributes.sample_period = 1;
  attributes.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
  rings_.emplace(attributes, cpus, clock_, kRingBytes);
}

void CgroupMoves::cpus_changed(const std::vector<CpuChange>& changes) {
  if (!rings_) return;
  poll();
  for (const unsigned cpu : rings_->cpus_changed(changes)) late_.insert(cpu);
}

void CgroupMoves::poll() {
  if (!rings_) return;
  rings_->read([this](Bytes record, std::uint32_t type, std::uint16_t) {
    if (type == PERF_RECORD_SAMPLE) take(record);
  });
}

std::string CgroupMoves::lost_text() const {
  if (!rings_) return {};
  std::vector<std::string> lost = rings_->losses("moves", omitted_);
  if (const std::string why = rings_->why_none(); !why.empty()) lost.push_back("all: " + why);
  for (const unsigned cpu : late_) lost.push_back(fmt::format("moves on CPU {} when it came online", cpu));
  return fmt::format("{}", fmt::join(lost, "; "));
}

// Reads a sample, which consists of the time, the record's size, and the record.
void CgroupMoves::take(Bytes sample) {
  ByteReader in(sample, kHostOrder);
  const std::uint64_t time_ns = in.u64();
  const Bytes record = in.bytes(in.u32());
  const auto word = [record](std::size_t offset) {
    ByteReader at(record, kHostOrder);
    at.seek(offset);
    return at.u32();
  };
  if (word(places_.hierarchy) != 0) return;  // hierarchy 0 is cgroup version 2
  ByteReader path(record, kHostOrder);
  path.seek(word(places_.path) & 0xffff);
  const std::string name(path.c_string());
  if (name.find('\n') != std::string::npos || text_.size() + name.size() > kMostBytes)
    ++omitted_;
  else
    text_ += fmt::format("{} {} {}\n", ticks_at(time_ns), word(places_.task), name);
}

// Converts a time of perf to ticks. The conversion from nanoseconds to ticks of x86-tsc is slightly inexact. Therefore
// only the short time from the event until now is converted and subtracted from the current ticks.
std::uint64_t CgroupMoves::ticks_at(std::uint64_t perf_ns) const {
#if defined(__x86_64__) || defined(__i386__)
  if (clock_ == "x86-tsc") {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    const std::uint64_t now_ns =
        static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    return __builtin_ia32_rdtsc() - scale_.to_ticks(now_ns - perf_ns);
  }
#endif
  return perf_ns;
}

}  // namespace kmt
