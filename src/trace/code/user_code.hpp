// SPDX-License-Identifier: GPL-2.0-or-later
// Frames in the user stacks of all processes. The same position in a file is one frame, even if processes map it at
// different addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

struct UserFrame {
  std::uint64_t offset = 0;  // byte offset in the file of the object; if the object has no file, an address
  std::uint32_t object = 0;  // index into UserCode::objects
  std::uint32_t is_return_address = 0;

  friend bool operator==(const UserFrame&, const UserFrame&) = default;
};

struct UserCode {
  static constexpr std::uint32_t kUnknown = 0;  // stands for an address without a known mapping
  static constexpr std::uint32_t kKernel = 1;   // stands for an address outside user memory
  static constexpr std::uint32_t kFirstObject = 2;

  std::vector<CodeObject> objects = {{"[unknown]", "", ""}, {"[kernel.kallsyms]", "", ""}};
  std::vector<UserFrame> frames;
};

// The name of a frame.
struct UserName {
  std::string object;        // short name of the file: "libc.so.6", "[vdso]", "[JIT] tid 812"
  std::string function;      // empty: unknown
  std::uint64_t offset = 0;  // byte offset in the function; if the function is unknown, offset in the object
  bool of_kernel = false;

  // Returns "getdents64", or "0x1d4e7" if the function is unknown.
  std::string symbol() const;
};

// Returns the last part of a path. As in perf, returns "[JIT] tid PID" for a file perf-PID.map.
std::string short_object_name(std::string_view path);

}  // namespace kmt
