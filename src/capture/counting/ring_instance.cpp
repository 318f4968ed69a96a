// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/counting/ring_instance.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/ftrace/buffer_size.hpp"
#include "capture/ftrace/event_filters.hpp"
#include "capture/tracefs/buffer_counters.hpp"

namespace kmt {

namespace {

// Enough for several 100,000 events per second and CPU, because events are read about 20 times per second.
constexpr std::uint64_t kMostBytesPerCpu = 8 << 20;

}  // namespace

RingInstance::RingInstance(const std::string& tracefs, const std::vector<EventName>& events,
                           const std::vector<pid_t>& processes, const std::string& cgroup)
    : watcher_(instance_use(tracefs, "")), instance_(tracefs) {
  instance_.set("tracing_on", "0");
  for (const char* const option : {"options/stacktrace", "options/userstacktrace"})
    if (instance_.has(option)) instance_.set(option, "0");  // another user may have set it at the top level
  size_buffers(instance_, std::min(buffer_limits(tracefs).default_bytes_per_cpu, kMostBytesPerCpu));
  const auto own_header = try_read_file(instance_.file("events/header_page"));  // since Linux 6.8
  kernel_.header_page = own_header ? *own_header : read_file(tracefs + "/events/header_page");
  kernel_.sub_buffer_bytes = sub_buffer_bytes(kernel_.header_page);
  if (kernel_.sub_buffer_bytes == 0)
    throw Error("Cannot determine the size of the ring buffer's pages", ExitCode::unsupported);
  page_.resize(kernel_.sub_buffer_bytes);
  for (const EventName& event : events)
    kernel_.formats.push_back(
        {event.system, read_file(fmt::format("{}/events/{}/{}/format", tracefs, event.system, event.name))});
  raise_descriptor_limit();
  for (const unsigned cpu : ring_buffer_cpus(instance_.path())) {
    const std::uint64_t bytes = read_buffer_size(instance_.path(), cpu);
    cpus_.push_back({cpu,
                     open_file(instance_.file(fmt::format("per_cpu/cpu{}/trace_pipe_raw", cpu)), O_RDONLY | O_NONBLOCK),
                     bytes / kernel_.sub_buffer_bytes + 1});
    buffer_bytes_ += bytes;
  }
  if (!processes.empty() || !cgroup.empty()) processes_.emplace(instance_, processes, cgroup, watcher_.pid(), false);
  set_event_filters(instance_, events, {}, {::getpid(), watcher_.pid()});
  for (const EventName& event : events)
    instance_.set(fmt::format("events/{}/{}/enable", event.system, event.name), "1");
  instance_.set("tracing_on", "1");
}

void RingInstance::drain(const std::function<void(unsigned cpu, Bytes page)>& take) {
  if (processes_) processes_->update();
  for (const Cpu& cpu : cpus_)
    // A busy CPU may write as fast as its pages are read, so at most one buffer is read before the next CPU's turn.
    for (std::uint64_t left = cpu.pages; left > 0; --left) {
      const ssize_t got = ::read(cpu.ring.get(), page_.data(), page_.size());
      if (got < 0 && errno == EINTR) continue;
      // ENODEV means that the CPU was never online since the buffer was created.
      if (got < 0 && errno != EAGAIN && errno != ENODEV) throw system_error("Cannot read the ring buffer", "");
      if (got <= 0) break;
      std::fill(page_.begin() + got, page_.end(), std::uint8_t{0});
      take(cpu.number, {page_.data(), page_.size()});
    }
}

std::uint64_t RingInstance::lost() const {
  std::uint64_t lost = 0;
  for (const Cpu& cpu : cpus_) lost += parse_buffer_counters(read_buffer_statistics(instance_.path(), cpu.number)).lost;
  return lost;
}

}  // namespace kmt
