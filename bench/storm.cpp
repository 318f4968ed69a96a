// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the kernel allocate and free as fast as it can:
//   storm THREADS iterations COUNT | storm THREADS seconds TIME
// Each thread stays on a separate CPU, starting with CPU 0. It repeatedly makes an eventfd and closes it. This pair of
// system calls causes more kmem events per second than pipes, sockets, epoll or messages. Prints JSON with the
// iterations of all threads, the seconds from the start to the end of the last thread, and their CPU time in
// seconds.
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Limit {
  std::uint64_t iterations = UINT64_MAX;
  std::chrono::duration<double> time = std::chrono::hours(24);
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void stay_on(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

// Returns the CPU time of this process in user space and in the kernel.
double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint64_t allocate_and_free(const Limit& limit) {
  const Clock::time_point begin = Clock::now();
  std::uint64_t done = 0;
  while (done < limit.iterations && (done % 256 != 0 || Clock::now() - begin < limit.time)) {
    const int file = ::eventfd(0, 0);
    if (file < 0) fail("eventfd");
    ::close(file);
    ++done;
  }
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto threads = static_cast<unsigned>(std::atoi(argv[1]));
  Limit limit;
  if (argv[2] == std::string_view("seconds"))
    limit.time = std::chrono::duration<double>(std::atof(argv[3]));
  else
    limit.iterations = std::strtoull(argv[3], nullptr, 10);

  std::barrier start(threads + 1);
  std::vector<std::uint64_t> done(threads);
  std::vector<std::thread> running;
  for (unsigned cpu = 0; cpu < threads; ++cpu)
    running.emplace_back([&, cpu] {
      stay_on(cpu);
      start.arrive_and_wait();
      done[cpu] = allocate_and_free(limit);
    });
  start.arrive_and_wait();
  const Clock::time_point begin = Clock::now();
  for (std::thread& thread : running) thread.join();
  const std::chrono::duration<double> seconds = Clock::now() - begin;

  std::uint64_t total = 0;
  for (const std::uint64_t iterations : done) total += iterations;
  std::printf("{\"iterations\": %llu, \"seconds\": %.6f, \"processor_seconds\": %.6f}\n",
              static_cast<unsigned long long>(total), seconds.count(), processor_seconds());
  return 0;
}
