// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parts/missing_part.hpp"

#include <fmt/format.h>

namespace kmt {

Error missing_part(std::string_view purpose, std::string_view package, std::string_view part) {
#ifdef KMEMTRACE_RECORDER
  static_cast<void>(package);
  static_cast<void>(part);
  return Error(fmt::format("The recorder cannot {}", purpose), ExitCode::unsupported)
      .hint("Use the full kmemtrace (docs/install.md in the sources)");
#else
  return Error(fmt::format("This build cannot {}", purpose), ExitCode::unsupported)
      .hint(fmt::format("Install {} and build again with -DKMEMTRACE_{}=ON", package, part));
#endif
}

}  // namespace kmt
