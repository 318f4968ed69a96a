// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of user stacks, whatever process they are of: the same place in the same file is the same frame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

struct UserFrame {
  std::uint64_t offset = 0;  // in the object's file; an address where there is no file
  std::uint32_t object = 0;  // UserCode::objects
  std::uint32_t is_return_address = 0;

  friend bool operator==(const UserFrame&, const UserFrame&) = default;
};

struct UserCode {
  static constexpr std::uint32_t kUnknown = 0;  // an address without a known mapping
  static constexpr std::uint32_t kKernel = 1;   // a sample's address that is no user's
  static constexpr std::uint32_t kFirstObject = 2;

  std::vector<CodeObject> objects = {{"[unknown]", "", ""}, {"[kernel.kallsyms]", "", ""}};
  std::vector<UserFrame> frames;
};

// The name of a frame.
struct UserName {
  std::string object;        // in short: "libc.so.6", "[vdso]", "[JIT] tid 812"
  std::string function;      // empty: not known
  std::uint64_t offset = 0;  // in the function; where it is not known, in the object
  bool of_kernel = false;

  // "getdents64", "0x1d4e7" where no function is known.
  std::string symbol() const;
};

// The last part of a path; "[JIT] tid PID" for a perf-PID.map, as in perf.
std::string short_object_name(std::string_view path);

}  // namespace kmt
