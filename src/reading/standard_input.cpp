// SPDX-License-Identifier: GPL-2.0-or-later
#include "reading/standard_input.hpp"

namespace kmt {

TraceFile standard_input() {
  static const auto kInput = std::make_shared<const MappedFile>("/dev/stdin");
  return {"standard input", kInput->bytes(), kInput};
}

}  // namespace kmt
