// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/session/command.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kmt {
namespace {

int status_of(HeldCommand& command) {
  while (!command.poll()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return *command.poll();
}

bool is_there(pid_t thread) { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0; }

TEST(HeldCommand, StopsNeitherTheCommandNorTheWaitingProcess) {
  HeldCommand command({"true"});
  ::kill(command.pid(), SIGTSTP);
  ::raise(SIGTSTP);
  command.release();
  const int status = status_of(command);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  struct sigaction stop {};
  ::sigaction(SIGTSTP, nullptr, &stop);
  EXPECT_EQ(stop.sa_handler, SIG_DFL);
}

TEST(HeldCommand, KeepsItsThreadUntilDestruction) {
  pid_t thread = 0;
  {
    HeldCommand command({"true"});
    thread = command.thread();
    command.release();
    status_of(command);
    EXPECT_TRUE(is_there(thread));
  }
  EXPECT_FALSE(is_there(thread));
}

TEST(HeldCommand, RunsOnlyAfterRelease) {
  pid_t pid = 0;
  {
    HeldCommand command({"sleep", "1000"});
    pid = command.pid();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
}

TEST(HeldCommand, EndsAtOnceIfItIsStillHeld) {
  HeldCommand command({"sleep", "1000"});
  EXPECT_TRUE(command.is_held());
  command.terminate();
  EXPECT_FALSE(command.is_held());
  EXPECT_TRUE(command.poll());
}

TEST(HeldCommand, CanBeKilledBeforeItRuns) {
  HeldCommand command({"true"});
  ::kill(command.pid(), SIGKILL);
  const int status = status_of(command);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_NO_THROW(command.release());
}

}  // namespace
}  // namespace kmt
