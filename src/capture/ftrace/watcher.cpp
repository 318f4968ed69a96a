// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/watcher.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

namespace {

// Protects the watcher from the OOM killer. The watcher needs little memory. Without permission, this function
// changes nothing.
void stay_alive() {
  if (const FileDescriptor score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); score)
    static_cast<void>(::write(score.get(), "-1000", 5) == 5);
}

// Leaves the terminal's session and closes the recorder's descriptors. If the watcher kept these descriptors open, a
// process that waits for the end of the recorder's output would also wait for the watcher.
[[noreturn]] void watch(int alive, const InstanceUse& instance) {
  ::setsid();
  stay_alive();
  ::prctl(PR_SET_NAME, "kmemtrace-watch");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(number, SIG_IGN);
  ::dup2(alive, 0);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 1);
  ::dup2(null, 2);
  close_descriptors_from(3);
  if (::chdir("/") != 0) ::_exit(1);
  char byte = 0;
  ssize_t got = 0;
  do got = ::read(0, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got == 1) ::_exit(0);  // dismissed
  // time during which removing the instance is retried, because another process may have it open
  constexpr unsigned kPatienceSeconds = 60;
  ::_exit(end_use(instance, kPatienceSeconds) ? 0 : 1);
}

}  // namespace

Watcher::Watcher(const InstanceUse& instance) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("Cannot make a pipe", "");
  FileDescriptor read_end(ends[0]);
  alive_ = FileDescriptor(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) throw system_error("Cannot start a process", "");
  if (pid_ == 0) watch(read_end.get(), instance);
}

void Watcher::dismiss() const {
  if (::write(alive_.get(), "x", 1) != 1) return;  // the watcher has ended already
}

Watcher::~Watcher() {
  alive_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace kmt
