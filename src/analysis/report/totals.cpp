// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/totals.hpp"

#include <algorithm>

namespace kmt {

void Totals::add(const MatchedBatch& batch) {
  EventSpan whole;
  EventSpan selected;
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& event = batch.events[i];
    const Step& step = batch.steps[i];
    whole.add(event);
    if (step.outcome == Outcome::unseen) continue;
    if (!step.selected) {
      other_events.add(event);
      continue;
    }
    selected.add(event);
    selected_events.count(event.type);
  }
  whole_span.add(whole);
  selected_events.span.add(selected);
}

void Totals::found(Imperfection kind, const Event& event, CallSiteId first, CallSiteId second, std::uint32_t cache) {
  if (kind != Imperfection::failed_allocation) ++anomalies[static_cast<std::size_t>(kind)];
  const auto [id, is_new] = anomaly_keys.id_of({first.value, second.value, cache, static_cast<std::uint16_t>(kind),
                                                static_cast<std::uint16_t>(allocator_of(event.kind))});
  if (is_new) anomaly_counts.push_back({0, event.time_ns, 0});
  AnomalyCount& count = anomaly_counts[id];
  ++count.count;
  count.last_ns = std::max(count.last_ns, event.time_ns);
}

}  // namespace kmt
