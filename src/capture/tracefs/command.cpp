// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/command.hpp"

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

namespace kmt {

namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Sockets, so that writing to a command that is gone is an error and no signal.
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

Error cannot_execute(const std::string& name, int number) {
  Error error(fmt::format("Cannot execute the command: {}", std::strerror(number)));
  error.at({name, {}, {}});
  return error;
}

// What exec would not find either is said before anything is recorded, and an older trace replaced. Throws Error.
void find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) != 0) throw cannot_execute(name, errno);
    return;
  }
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/bin:/usr/bin";  // as execvp(3) has it
  for (const std::string_view folder : split(folders, ':'))
    if (::access(fmt::format("{}/{}", folder.empty() ? "." : folder, name).c_str(), X_OK) == 0) return;
  throw cannot_execute(name, ENOENT);
}

}  // namespace

HeldCommand::HeldCommand(const std::vector<std::string>& arguments) : arguments_(arguments) {
  find_program(arguments_.front());
  // All memory is taken before the fork: the child only makes system calls.
  std::vector<char*> argv;
  for (std::string& argument : arguments_) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Pipe go = make_sockets();
  Pipe failed = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) throw system_error("Cannot start a process", arguments_.front());
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // cleared by nothing but an exec of a set-user-id program
    // The recorder's handlers are not for the command; what was ignored stays ignored.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action {};
      ::sigaction(number, nullptr, &action);
      if (action.sa_handler != SIG_IGN) ::signal(number, SIG_DFL);
    }
    ::signal(SIGXFSZ, SIG_DFL);
    // Until the exec it is the command, too: what it calls then is to be counted as the command's.
    const char* const slash = std::strrchr(argv[0], '/');
    ::prctl(PR_SET_NAME, slash != nullptr ? slash + 1 : argv[0]);
    go.write_end.reset();
    char byte = 0;
    if (::write(go.read_end.get(), &byte, 1) != 1) ::_exit(127);
    // One byte lets it go; the end of the pipe means that the recorder gave up.
    if (::read(go.read_end.get(), &byte, 1) != 1) ::_exit(127);
    ::prctl(PR_SET_PDEATHSIG, 0);
    ::execvp(argv[0], argv.data());
    const int number = errno;
    if (::write(failed.write_end.get(), &number, sizeof number) < 0) ::_exit(126);
    ::_exit(127);
  }
  go_ = std::move(go.write_end);
  go.read_end.reset();
  // From here on it has its name, whoever looks. The end of the pipe means that it ended.
  char named = 0;
  while (::read(go_.get(), &named, 1) < 0 && errno == EINTR) {
  }
  failed_ = std::move(failed.read_end);
}

HeldCommand::~HeldCommand() {
  go_.reset();
  if (!status_ && pid_ > 0) terminate();
}

void HeldCommand::release() {
  // A command that a signal has ended before it began is found by poll().
  if (::send(go_.get(), "g", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE && errno != ECONNRESET)
    throw system_error("Cannot start the command", arguments_.front());
  go_.reset();
  int number = 0;
  ssize_t got = 0;
  do {
    got = ::read(failed_.get(), &number, sizeof number);
  } while (got < 0 && errno == EINTR);
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
  ::kill(pid_, SIGTERM);
  for (int attempt = 0; attempt < 100 && !poll(); ++attempt) std::this_thread::sleep_for(10ms);
}

}  // namespace kmt
