// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/result_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "cli/support/output.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};

// The unfinished file, which ending signals remove.
std::atomic<const char*> g_unfinished = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

void remove_and_end(int number) {
  if (const char* const path = g_unfinished) ::unlink(path);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Signals that are handled or ignored elsewhere stay unchanged.
void on_ending_signals(void (*from)(int), void (*to)(int)) {
  for (const int number : kEndingSignals) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != from) continue;
    action = {};
    action.sa_handler = to;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace

ResultFile::ResultFile(std::string path, const std::vector<std::string>& inputs) : path_(std::move(path)) {
  if (path_ == "-") path_.clear();
  if (path_.empty()) return;
  std::error_code code;
  for (const std::string& input : inputs)
    if (fs::equivalent(input, path_, code)) throw Error("Trace and output are the same file").at({path_, {}, {}});
  if (const auto number = open_number(path_)) {
    file_ = FileDescriptor(::dup(*number));
    if (file_.get() < 0) throw system_error("Cannot write", path_);
    return;
  }
  struct stat status {};
  const bool exists = ::lstat(path_.c_str(), &status) == 0 && !S_ISLNK(status.st_mode);
  if (exists && S_ISDIR(status.st_mode)) throw Error("The output is a folder").at({path_, {}, {}});
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = open_file(path_, O_WRONLY | O_TRUNC | O_NOFOLLOW);
    return;
  }
  open_beside(exists ? status.st_mode & 0777u : 0);
}

void ResultFile::open_beside(unsigned replaced_mode) {
  unfinished_ = unfinished_name(path_);
  g_unfinished = unfinished_.c_str();
  on_ending_signals(SIG_DFL, remove_and_end);
  const int fd = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile);
  if (fd < 0) {
    const Error error = system_error("Cannot create a temporary file beside it", path_);
    forget();
    throw error;
  }
  file_ = FileDescriptor(fd);
  if (replaced_mode != 0) (void)::fchmod(fd, replaced_mode);
}

ResultFile::~ResultFile() {
  if (!beside()) return;
  ::unlink(unfinished_.c_str());
  forget();
}

void ResultFile::forget() {
  g_unfinished = nullptr;
  on_ending_signals(remove_and_end, SIG_DFL);
  unfinished_.clear();
}

bool ResultFile::write(std::string_view text) {
  if (path_.empty()) return print_result(text);
  write_all(file_.get(), text, path_);
  return true;
}

std::string ResultFile::name() const { return path_.empty() ? "standard output" : printable(path_); }

void ResultFile::write_by_name(const std::function<void(const std::string&)>& write) {
  if (!beside()) throw Error("This format needs a file").hint("Name it: -o FILE");
  try {
    write(unfinished_);
  } catch (Error& error) {
    error.rename_file(path_);
    throw;
  }
}

void ResultFile::finish() {
  if (!beside()) return;
  file_.reset();
  if (::rename(unfinished_.c_str(), path_.c_str()) != 0) throw system_error("Cannot rename the result", path_);
  forget();
}

}  // namespace kmt
