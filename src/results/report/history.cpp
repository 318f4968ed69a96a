// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/history.hpp"

namespace kmt {

const DoubtText& describe(Doubt doubt) {
  static constexpr std::array<DoubtText, kDoubts> kTexts = {
      {{"frees-not-recorded", "no frees", "the trace has no frees of this allocator"},
       {"tasks-selected", "selected", "only some tasks were recorded, and frees by other tasks are not in the trace"},
       {"lost-stretch", "lost", "events were lost after the allocations, and their frees may be among the lost events"},
       {"incomplete-trace", "incomplete", "events are missing from the trace, at unknown times"},
       {"reallocated", "reused",
        "addresses of objects with the same call site and size were allocated again while the objects looked live: "
        "some of their frees are not traced"},
       {"untraced-path", "untraced", "the kernel may free such objects on a path without a tracepoint"},
       {"older-freed", "replaced",
        "older objects of the same kind, or of a kind that is allocated with them, were freed at the same pace: such "
        "objects live longer than the trace, and their number need not grow"},
       {"page-tables", "page tables",
        "page tables and anon_vmas grow with the memory of processes, and are freed with it"},
       {"slab-pages", "slab pages", "pages of slabs, whose objects count in the slab allocator"},
       {"reclaimable", "reclaimable",
        "user memory, page cache, inodes and similar objects: they grow with use, and the kernel reclaims them when "
        "memory is short"},
       {"tracing", "tracing", "memory of another tracing tool, such as perf or a second kmemtrace"}}};
  return kTexts[static_cast<std::size_t>(doubt)];
}

}  // namespace kmt
