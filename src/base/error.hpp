// SPDX-License-Identifier: GPL-2.0-or-later
// The project's only exception class. It states what failed, where, why, and what the user can do. Errors are thrown
// where the failure is detected. Each outer layer may add a context line. Only src/cli prints errors.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

// The exit status of the process. Every command's help documents these values.
enum class ExitCode : int {
  good = 0,
  found = 1,        // the command found the problem that it searches for (check, leaks)
  bad_input = 2,    // usage or input error
  unsupported = 3,  // not permitted or not supported here
};

// The place in the input that an error is about. Parts that are unknown stay empty.
struct Place {
  std::string file;
  std::optional<unsigned> cpu;
  std::optional<std::uint64_t> offset;  // in bytes from the start of the file
};

// Returns a text such as "trace.dat, cpu 1, offset 0x1000"; empty if nothing is known.
std::string to_string(const Place& place);

class Error : public std::exception {
 public:
  explicit Error(std::string what, ExitCode exit_code = ExitCode::bad_input)
      : what_(std::move(what)), exit_code_(exit_code) {}

  Error& at(Place place);                 // sets the place of the error, unless it is set already
  Error& rename_file(std::string path) {  // replaces a temporary file name by the final name
    place_.file = std::move(path);
    return *this;
  }
  Error& hint(std::string text);  // advice for the user
  // Adds a text that says what the calling code was doing, such as "Reading the header of the trace". The innermost
  // text comes first.
  Error& context(std::string text);

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

// Makes an Error from errno with the text "ACTION: strerror". The exit code of permission errors is `unsupported`.
Error system_error(const std::string& action, const std::string& path);

}  // namespace kmt
