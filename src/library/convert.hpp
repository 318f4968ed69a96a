// SPDX-License-Identifier: GPL-2.0-or-later
// Converts types of the program to types of the library. These differ because public headers cannot include headers of
// the program.
#pragma once

#include <vector>

#include <kmemtrace/trace.hpp>

#include "base/error.hpp"
#include "trace/trace_info.hpp"

namespace kmemtrace {

Machine machine_of(const kmt::TraceInfo& info);
std::vector<Finding> findings_of(const kmt::Findings& findings);

// Throws the error as an Error of the library. guarded() returns the result of `work`, and does this with its errors.
[[noreturn]] void throw_as_public(const kmt::Error& error);
template <typename Work>
auto guarded(Work&& work) {
  try {
    return work();
  } catch (const kmt::Error& error) {
    throw_as_public(error);
  }
}

}  // namespace kmemtrace
