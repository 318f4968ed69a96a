// SPDX-License-Identifier: GPL-2.0-or-later
// A workload with a known number of kernel allocations, which the kernel counts while the workload runs:
//   pipe_loop PIPES [THREADS] [--wait]
// Opens and closes PIPES pipes in each of THREADS threads. Prints JSON about the main thread: pid, first and last time
// in CLOCK_MONOTONIC, and the counts of its perf counters. With --wait, the workload starts when it reads a line from
// stdin, and exits at the end of stdin.
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::array kEvents = {"kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"};

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Opens a counter for the calling thread, not yet enabled. Returns -1 if the kernel does not allow the counter.
int open_counter(const char* event) {
  std::ifstream file(std::string("/sys/kernel/tracing/events/kmem/") + event + "/id");
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.size = sizeof attributes;
  attributes.disabled = 1;
  if (!(file >> attributes.config)) return -1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

void open_pipes(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto count = static_cast<unsigned>(std::atoi(argv[1]));
  const auto threads = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  const bool wait = std::strcmp(argv[argc - 1], "--wait") == 0;

  std::array<int, kEvents.size()> counters{};
  for (std::size_t i = 0; i < kEvents.size(); ++i) counters[i] = open_counter(kEvents[i]);
  int go[2];
  if (::pipe(go) != 0) return 1;
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([count, &go] {
      char byte = 0;
      if (::read(go[0], &byte, 1) == 1) open_pipes(count);
    });
  std::array<char, 16> line{};
  std::printf("ready %d\n", ::getpid());
  std::fflush(stdout);
  if (wait && ::read(STDIN_FILENO, line.data(), line.size()) <= 0) return 1;

  for (unsigned i = 1; i < threads; ++i)
    if (::write(go[1], "g", 1) != 1) return 1;
  for (std::thread& other : others) other.join();
  const std::uint64_t first = now_ns();
  for (const int counter : counters) ::ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
  open_pipes(count);
  for (const int counter : counters) ::ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
  const std::uint64_t last = now_ns();

  std::printf("{\"pid\": %d, \"first\": %llu, \"last\": %llu", ::getpid(), static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(last));
  for (std::size_t i = 0; i < kEvents.size(); ++i) {
    std::uint64_t value = 0;
    if (::read(counters[i], &value, sizeof value) == sizeof value)
      std::printf(", \"%s\": %llu", kEvents[i], static_cast<unsigned long long>(value));
  }
  std::printf("}\n");
  std::fflush(stdout);
  if (wait)
    while (::read(STDIN_FILENO, line.data(), line.size()) > 0) continue;
  return 0;
}
