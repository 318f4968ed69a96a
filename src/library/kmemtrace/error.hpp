// SPDX-License-Identifier: GPL-2.0-or-later
// The only exception that the library throws. It states the problem, its place in the input, and advice for the user.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#define KMEMTRACE_API __attribute__((visibility("default")))

namespace kmemtrace {

class KMEMTRACE_API Error : public std::runtime_error {
 public:
  Error(const std::string& message, std::string file, std::optional<std::uint64_t> offset, std::string hint)
      : std::runtime_error(message), file_(std::move(file)), offset_(offset), hint_(std::move(hint)) {}
  ~Error() override;

  const std::string& file() const { return file_; }                // empty if the error is not about a file
  std::optional<std::uint64_t> offset() const { return offset_; }  // in bytes, from the start of the file
  const std::string& hint() const { return hint_; }                // advice; may be empty

 private:
  std::string file_;
  std::optional<std::uint64_t> offset_;
  std::string hint_;
};

}  // namespace kmemtrace
