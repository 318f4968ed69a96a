// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/history.hpp"

namespace kmt {

const DoubtText& describe(Doubt doubt) {
  static constexpr std::array<DoubtText, kDoubts> kTexts = {
      {{"frees-not-recorded", "no frees", "the trace holds no frees of this allocator at all"},
       {"tasks-selected", "selected", "only some tasks were recorded, and what others free is not in the trace"},
       {"lost-stretch", "lost", "events were lost after they had been allocated, their frees may be among them"},
       {"incomplete-trace", "incomplete", "events are missing from the trace, at unknown times"},
       {"reallocated", "reused",
        "others of the same call site and size were allocated again while they looked live: their frees are not "
        "traced"},
       {"untraced-path", "untraced", "the kernel may free such objects where it has no tracepoint"},
       {"reclaimable", "reclaimable",
        "user memory, page cache, inodes and the like: they grow with use, and the kernel takes them back when memory "
        "is short"}}};
  return kTexts[static_cast<std::size_t>(doubt)];
}

}  // namespace kmt
