// SPDX-License-Identifier: GPL-2.0-or-later
// Creates COUNT objects of several kinds in the kernel, and keeps them until it is killed: open eventfds that an epoll
// watches, and POSIX timers. Prints "ready" when all exist.
//   object_kinds COUNT
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const char* action) {
  std::perror(action);
  std::exit(1);
}

void raise_limit(__rlimit_resource resource, rlim_t limit) {
  const rlimit wanted{limit, limit};
  if (::setrlimit(resource, &wanted) != 0) fail("setrlimit");
}

}  // namespace

int main(int, char** arguments) {
  const unsigned long count = std::strtoul(arguments[1], nullptr, 10);
  raise_limit(RLIMIT_NOFILE, count + 100);
  raise_limit(RLIMIT_SIGPENDING, count + 100);
  const int watch = ::epoll_create1(0);
  if (watch < 0) fail("epoll_create1");
  for (unsigned long i = 0; i < count; ++i) {
    const int file = ::eventfd(0, 0);
    if (file < 0) fail("eventfd");
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(watch, EPOLL_CTL_ADD, file, &event) != 0) fail("epoll_ctl");
    sigevent signal{};
    signal.sigev_notify = SIGEV_SIGNAL;
    signal.sigev_signo = SIGUSR1;
    timer_t timer{};
    if (::timer_create(CLOCK_MONOTONIC, &signal, &timer) != 0) fail("timer_create");
  }
  std::puts("ready");
  std::fflush(stdout);
  ::pause();
}
