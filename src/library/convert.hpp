// SPDX-License-Identifier: GPL-2.0-or-later
// Converts internal types to those of the library: public headers include none of the project's own.
#pragma once

#include <vector>

#include <kmemtrace/trace.hpp>

#include "base/error.hpp"
#include "trace/trace_info.hpp"

namespace kmemtrace {

Machine machine_of(const kmt::TraceInfo& info);
std::vector<Finding> findings_of(const kmt::Findings& findings);

// Returns the result of `work`; an Error of the project is thrown as one of the library.
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
