// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/history.hpp"

namespace kmt {

const DoubtText& describe(Doubt doubt) {
  static constexpr std::array<DoubtText, kDoubts> kTexts = {
      {{"frees-not-recorded", "no frees", "the trace holds no frees of this allocator at all"},
       {"lost-stretch", "lost", "events were lost after they had been allocated, their frees may be among them"},
       {"incomplete-trace", "incomplete", "events are missing from the trace, nobody knows of which time"},
       {"reallocated", "reused",
        "others of the same call site and size were allocated again while they looked live: their frees are not "
        "traced"},
       {"untraced-path", "untraced", "the kernel may free such objects where it has no tracepoint"}}};
  return kTexts[static_cast<std::size_t>(doubt)];
}

}  // namespace kmt
