// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/session/command.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"

namespace kmt {

namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Uses sockets instead of a pipe, because a write to a pipe whose reader is dead would raise a signal (SIGPIPE).
Pipe make_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw system_error("Cannot make a socket pair", "");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("Cannot make a pipe", "");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// The child's report: its PID, or the error number if the child could not be started.
struct Held {
  pid_t pid = -1;
  int error = 0;
};

Error cannot_execute(const std::string& name, int number) {
  return Error(fmt::format("Cannot execute the command: {}", std::strerror(number))).at({name, {}, {}});
}

// Throws Error if the program does not exist. Called before the output file is opened, because an existing trace must
// not be replaced if the command cannot start.
void find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) != 0) throw cannot_execute(name, errno);
    return;
  }
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/bin:/usr/bin";  // the same default as that of execvp(3)
  for (const std::string_view folder : split(folders, ':'))
    if (::access(fmt::format("{}/{}", folder.empty() ? "." : folder, name).c_str(), X_OK) == 0) return;
  throw cannot_execute(name, ENOENT);
}

// The child's ends of the sockets that connect it to the recorder.
struct Ends {
  int go = -1;
  int recorder = -1;  // the recorder's end of the `go` channel
  int failed = -1;
};

// Signal state of both processes, to be restored before the exec.
struct Signals {
  sigset_t mask;
  struct sigaction stop;  // original action of SIGTSTP
};

// Runs in the child, which shares the recorder's memory and must not change it; only its descriptors are separate.
// Signals are blocked until the exec, because the recorder's handlers are not for the child. If the child were stopped,
// the waiting thread would be stopped too.
[[noreturn]] void hold_and_execute(const Ends& ends, char* const* argv, const Signals& signals) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // an exec of a set-user-ID program clears this
  // The command must not have the recorder's handlers. Ignored signals stay ignored.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (number != SIGXFSZ && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  // The child has the command's name even before the exec, so that its calls count as the command's calls.
  const char* const slash = std::strrchr(argv[0], '/');
  ::prctl(PR_SET_NAME, slash != nullptr ? slash + 1 : argv[0]);
  ::close(ends.recorder);
  const Held held{::getpid(), 0};
  if (::write(ends.go, &held, sizeof held) != sizeof held) ::_exit(127);
  // The recorder sends a byte when the child may execute the command. If the recorder closes the socket instead, the
  // child ends.
  char byte = 0;
  if (::read(ends.go, &byte, 1) != 1) ::_exit(127);
  ::prctl(PR_SET_PDEATHSIG, 0);
  ::sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
  ::sigaction(SIGTSTP, &signals.stop, nullptr);
  ::execvp(argv[0], argv);
  const int number = errno;
  if (::write(ends.failed, &number, sizeof number) < 0) ::_exit(126);
  ::_exit(127);
}

// Returns after the command has been executed or has failed. Under ThreadSanitizer, vfork is fork and returns at once.
// So signal the child only after it has closed the other end of `failed`.
void start_in_own_memory(const Ends& ends, char* const* argv, const Signals& signals) {
  const pid_t pid = ::vfork();
  if (pid == 0) hold_and_execute(ends, argv, signals);
  if (pid > 0) return;
  const Held none{-1, errno};
  ::send(ends.go, &none, sizeof none, MSG_NOSIGNAL);
}

}  // namespace

HeldCommand::HeldCommand(const std::vector<std::string>& arguments) : arguments_(arguments) {
  find_program(arguments_.front());
  std::vector<char*> argv;
  for (std::string& argument : arguments_) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Pipe go = make_sockets();
  Pipe failed = make_pipe();
  // Ignores Ctrl-Z (SIGTSTP). While one of its threads waits for the child, the recorder cannot stop as a whole, and
  // the shell would not notice the stop.
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGTSTP, &ignored, &original_stop_);
  // The child inherits the signal mask of the thread that starts it.
  Signals before{{}, original_stop_};
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before.mask);
  const Ends ends{go.read_end.get(), go.write_end.get(), failed.write_end.get()};
  starter_ = start_thread("the thread that starts the command",
                          [this, argv = std::move(argv), before, ends, held_end = std::move(go.read_end)]() mutable {
                            thread_ = ::gettid();
                            start_in_own_memory(ends, argv.data(), before);
                            held_end.reset();
                            // the recording excludes this thread's ID; the thread lives on, so that no other thread
                            // gets the ID
                            ended_.wait();
                          });
  // Waits until the child has the command's name, or until the socket is closed because the child was killed.
  Held held{-1, ESRCH};
  ssize_t got = 0;
  do {
    got = ::read(go.write_end.get(), &held, sizeof held);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof held || held.pid < 0) {
    const int error = got < 0 ? errno : held.error;
    go.write_end.reset();  // if the child still waits for the byte, closing the socket ends it
    end_starter();
    errno = error;
    throw system_error("Cannot start a process", arguments_.front());
  }
  pid_ = held.pid;
  go_ = std::move(go.write_end);
  failed_ = std::move(failed.read_end);
}

HeldCommand::~HeldCommand() {
  if (!status_) terminate();
  if (starter_.joinable()) end_starter();
}

void HeldCommand::end_starter() {
  let_stop();
  ended_.count_down();
  starter_.join();
}

void HeldCommand::let_stop() const {
  struct sigaction now {};
  ::sigaction(SIGTSTP, nullptr, &now);
  if (now.sa_handler == SIG_IGN)
    ::sigaction(SIGTSTP, &original_stop_, nullptr);  // restored only if SIGTSTP is still ignored
}

void HeldCommand::release() {
  // Tries to send several times, because a lack of memory may be temporary.
  constexpr int kAttempts = 3;
  ssize_t sent = 0;
  for (int attempt = 0; attempt < kAttempts && sent != 1; ++attempt) sent = ::send(go_.get(), "g", 1, MSG_NOSIGNAL);
  // If a signal has ended the child before the exec, poll() reports that.
  if (sent != 1 && errno != EPIPE && errno != ECONNRESET)
    throw system_error("Cannot start the command", arguments_.front());
  go_.reset();
  int number = 0;
  ssize_t got = 0;
  do {
    got = ::read(failed_.get(), &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  let_stop();
  if (got != sizeof number) return;
  ::waitpid(pid_, nullptr, 0);
  status_ = -1;
  throw cannot_execute(arguments_.front(), number);
}

std::optional<int> HeldCommand::poll() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

void HeldCommand::terminate() {
  using namespace std::chrono_literals;
  if (poll() || asked_to_end_) return;
  asked_to_end_ = true;
  go_.reset();  // a held command blocks signals, but ends when its socket is closed
  ::kill(pid_, SIGTERM);
  for (int attempt = 0; attempt < 100 && !poll(); ++attempt) std::this_thread::sleep_for(10ms);
}

}  // namespace kmt
