// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/arithmetic/size.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace kmt {

void throw_too_large(std::uint64_t size) {
  throw Error(fmt::format("A size of {} does not fit into the memory of a 32-bit program", size), ExitCode::unsupported)
      .hint("Read the file with kmemtrace on a 64-bit machine");
}

}  // namespace kmt
