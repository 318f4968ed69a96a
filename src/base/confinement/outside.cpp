// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/confinement/outside.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confinement/code_file.hpp"
#include "base/error.hpp"
#include "base/folder.hpp"
#include "base/new_file.hpp"
#include "base/new_folder.hpp"
#include "base/output_file.hpp"
#include "base/sudo_user.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRequestBytes = 8192;

// Messages to the child. A request starts with its kind. For `name` and `remove`, the index of an output follows. For
// `open_code`, a folder, NUL, and a path in that folder follow. The reply is an errno; 0 means success.
enum class Asked : char { name = 'n', remove = 'r', open_code = 'o' };
using Reply = int;

std::vector<PreparedOutput> g_outputs;
std::atomic<int> g_socket = -1;
std::atomic<pid_t> g_parent = 0, g_child = 0;
std::mutex g_mutex;  // locked during a request and its reply

void remove_unfinished(const PreparedOutput& output) {
  if (output.unfinished.empty()) return;
  std::error_code code;
  switch (output.kind) {
    case PreparedOutput::Kind::file: ::unlink(output.unfinished.c_str()); break;
    case PreparedOutput::Kind::open: ::rmdir(output.unfinished.c_str()); break;
    case PreparedOutput::Kind::folder:
    case PreparedOutput::Kind::scratch:
      for (int attempts = 0; attempts < 3 && fs::exists(output.unfinished, code); ++attempts)
        fs::remove_all(output.unfinished, code);
      break;
  }
}

// Sends the reply and, if a file was opened, its descriptor.
void send_reply(int socket, const Reply& reply, int fd) {
  Reply content = reply;
  iovec part{&content, sizeof content};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  ssize_t sent = -1;
  for (int attempts = 0; attempts < 3 && sent < 0; ++attempts) sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  if (sent < 0) ::shutdown(socket, SHUT_RDWR);  // ends the parent's wait for the reply
}

Reply name(const PreparedOutput& output) {
  if (output.kind == PreparedOutput::Kind::folder) give_tree_to_sudo_user(output.unfinished);
  return give_name(output.unfinished, output.path, false) == NamingStep::none ? 0 : errno;
}

void answer(int socket, std::string_view request) {
  const Asked asked{request.front()};
  const std::string rest(request.substr(1));
  if (asked == Asked::open_code) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    const FileDescriptor file = open_code_file(rest.substr(std::min(end + 1, rest.size())), rest.substr(0, end));
    return send_reply(socket, file ? 0 : ENOENT, file.get());
  }
  // An attacker may control the confined process. Therefore the child gives each output its final name only once, and
  // never renames a scratch folder.
  const std::size_t index = std::strtoul(rest.c_str(), nullptr, 10);
  if (index >= g_outputs.size() || g_outputs[index].unfinished.empty()) return send_reply(socket, EINVAL, -1);
  PreparedOutput& output = g_outputs[index];
  Reply reply = 0;
  if (asked == Asked::remove)
    remove_unfinished(output);
  else if (asked != Asked::name ||
           (output.kind != PreparedOutput::Kind::file && output.kind != PreparedOutput::Kind::folder))
    reply = EINVAL;
  else
    reply = name(output);
  if (reply == 0) output.unfinished.clear();
  send_reply(socket, reply, -1);
}

// noexcept: an exception ends the child, which must not continue with the code of its parent.
[[noreturn]] void serve(int socket) noexcept {
  ::prctl(PR_SET_NAME, "kmemtrace-files");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  ::dup2(socket, 0);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 1);
  ::dup2(null, 2);
  close_descriptors_from(3);
  char request[kMostRequestBytes];
  for (;;) {
    const ssize_t bytes = ::recv(0, request, sizeof request, 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    answer(0, {request, static_cast<std::size_t>(bytes)});
  }
  for (const PreparedOutput& output : g_outputs) {
    if (output.kind == PreparedOutput::Kind::open) give_files_to_sudo_user(output.path);
    remove_unfinished(output);
  }
  ::_exit(0);
}

struct Answer {
  Reply reply = 0;
  FileDescriptor file;
};

Answer ask(Asked asked, const std::string& rest) {
  const std::string request = static_cast<char>(asked) + rest;
  const std::scoped_lock lock(g_mutex);
  ssize_t bytes = 0;
  do {
    bytes = ::send(g_socket, request.data(), request.size(), MSG_NOSIGNAL);
  } while (bytes < 0 && errno == EINTR);
  Answer answer;
  if (bytes < 0) return {errno, {}};
  iovec part{&answer.reply, sizeof answer.reply};
  int fd = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  do {
    bytes = ::recvmsg(g_socket, &message, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof answer.reply) return {bytes < 0 ? errno : EPIPE, {}};
  if (const cmsghdr* const head = CMSG_FIRSTHDR(&message); head != nullptr && head->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
    answer.file = FileDescriptor(fd);
  }
  return answer;
}

std::string index_of(const PreparedOutput& output) { return std::to_string(&output - g_outputs.data()); }

// Ends the child, which then removes unfinished outputs. If the child could not be started, removes them in this
// process.
void remove_at_exit() {
  if (g_child != 0) return end_outside();
  std::ranges::for_each(g_outputs, remove_unfinished);
}

// Adds an output. The outputs must not move in memory, because NewFile and signal handlers refer to them.
PreparedOutput& add(PreparedOutput::Kind kind, const std::string& path) {
  constexpr std::size_t kMost = 16;
  if (g_outputs.empty()) std::atexit(remove_at_exit);
  g_outputs.reserve(kMost);
  if (g_outputs.size() == kMost) throw Error("Too many outputs");
  PreparedOutput& output = g_outputs.emplace_back();
  output.kind = kind;
  output.path = path;
  return output;
}

}  // namespace

void prepare_file(const std::string& path) {
  NewFile file(path);
  std::move(file).give_to(add(PreparedOutput::Kind::file, path));
}

void prepare_folder(const std::string& path) {
  NewFolder folder(path);
  std::move(folder).give_to(add(PreparedOutput::Kind::folder, path));
}

void prepare_open_folder(const std::string& path) {
  std::error_code code;
  const bool is_there = fs::is_directory(path, code);
  if (!is_there) make_folder(path);
  PreparedOutput& output = add(PreparedOutput::Kind::open, fs::absolute(path));
  if (!is_there) output.unfinished = output.path;
}

void prepare_scratch(const std::string& path) {
  try {
    // The suffix makes the name differ from the temporary name of the output, which may be a folder too.
    NewFolder folder(path + ".scratch");
    std::move(folder).give_to(add(PreparedOutput::Kind::scratch, path));
  } catch (const Error&) {
    // the code that uses the folder later will report the error
  }
}

const std::vector<PreparedOutput>& prepared_outputs() { return g_outputs; }

PreparedOutput* take_prepared(PreparedOutput::Kind kind, const std::string& path) {
  const auto found = std::ranges::find_if(
      g_outputs, [&](const PreparedOutput& one) { return one.kind == kind && !one.taken && one.path == path; });
  if (found == g_outputs.end()) return nullptr;
  found->taken = true;
  return &*found;
}

std::string scratch_folder() {
  const auto found = std::ranges::find(g_outputs, PreparedOutput::Kind::scratch, &PreparedOutput::kind);
  return found == g_outputs.end() ? std::string() : found->unfinished;
}

void start_outside() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw system_error("Cannot start the process that renames complete outputs", "");
  FileDescriptor mine(ends[0]), others(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw system_error("Cannot start the process that renames complete outputs", "");
  if (child == 0) {
    // The child must not keep the parent's end of the socket, or it would never notice that the parent has ended. Close
    // it here, because closing all inherited descriptors later may fail.
    mine.reset();
    serve(others.get());
  }
  g_parent = parent;
  g_child = child;
  g_socket = mine.release();
  if (g_outputs.empty()) std::atexit(end_outside);
}

void start_outside_with_file(const std::string& path) {
  PreparedOutput& output = add(PreparedOutput::Kind::file, path);
  output.unfinished = unfinished_name(path);
  start_outside();
  output.taken = true;  // there is no file yet
  NewFile file(path, Replaced::removed, output.unfinished);
  std::move(file).give_to(output);
  output.taken = false;
}

void name_outside(const PreparedOutput& output) {
  const Reply reply = ask(Asked::name, index_of(output)).reply;
  if (reply == 0) return;
  errno = reply;
  throw naming_error(NamingStep::renaming, output.path);
}

void remove_outside(const PreparedOutput& output) { (void)ask(Asked::remove, index_of(output)); }

FileDescriptor open_code(const std::string& path, const std::string& root) {
  if (!outside_runs()) return open_code_file(path, root);
  const std::string place = root + '\0' + path;
  if (place.size() >= kMostRequestBytes) return {};
  return std::move(ask(Asked::open_code, place).file);
}

bool outside_runs() { return g_socket >= 0 && g_parent == ::getpid(); }

void end_outside() {
  if (!outside_runs()) return;
  const int socket = g_socket.exchange(-1);
  if (socket < 0) return;
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  // Limit the wait: the child may be opening a file on a server that does not answer.
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int attempts = 0; attempts < 400 && ::waitpid(g_child, nullptr, WNOHANG) == 0; ++attempts)
    ::nanosleep(&kPause, nullptr);
}

}  // namespace kmt
