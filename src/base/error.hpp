// SPDX-License-Identifier: GPL-2.0-or-later
// The one exception of the project: what failed, where, why, and what the user can do about it.
// Thrown where the failure is seen; each layer above may add a cause line; printed once, in cli.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

// The process' exit status, documented in every command's help.
enum class ExitCode : int {
  good = 0,
  found = 1,        // the command found what it looks for (check, leaks)
  bad_input = 2,    // usage or input error
  unsupported = 3,  // not permitted or not supported here
};

// Where in the input something is; whatever is unknown stays empty.
struct Place {
  std::string file;
  std::optional<unsigned> cpu;
  std::optional<std::uint64_t> offset;  // bytes from the start of the file
};

// "trace.dat, cpu 1, offset 0x1000"; empty when nothing is known.
std::string to_string(const Place& place);

class Error : public std::exception {
 public:
  explicit Error(std::string what, ExitCode exit_code = ExitCode::bad_input)
      : what_(std::move(what)), exit_code_(exit_code) {}

  Error& at(Place place);                 // a place that is already known is kept
  Error& rename_file(std::string path) {  // where what was written had a name of its own
    place_.file = std::move(path);
    return *this;
  }
  Error& hint(std::string text);     // advice for the user
  Error& context(std::string text);  // "while …" of an outer layer, innermost first

  const char* what() const noexcept override { return what_.c_str(); }
  const Place& place() const noexcept { return place_; }
  const std::string& hint() const noexcept { return hint_; }
  const std::vector<std::string>& contexts() const noexcept { return contexts_; }
  ExitCode exit_code() const noexcept { return exit_code_; }

 private:
  std::string what_;
  Place place_;
  std::string hint_;
  std::vector<std::string> contexts_;
  ExitCode exit_code_;
};

// An Error from errno, worded "ACTION: strerror"; permission errors exit with `unsupported`.
Error system_error(const std::string& action, const std::string& path);

}  // namespace kmt
