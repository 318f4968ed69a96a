// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/snapshot/object_kinds.hpp"

namespace kmt {

std::string_view text_of(ModuleSource source) {
  switch (source) {
    case ModuleSource::symbols: return "symbols";
    case ModuleSource::list: return "list";
    case ModuleSource::neighbour: return "neighbour";
    case ModuleSource::structure: return "structure";
    case ModuleSource::unknown: break;
  }
  return "unknown";
}

std::string_view text_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::high: return "high";
    case Confidence::medium: return "medium";
    case Confidence::low: return "low";
    case Confidence::none: break;
  }
  return "none";
}

}  // namespace kmt
