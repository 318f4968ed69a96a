// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/frames.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/growth/census_change.hpp"
#include "analysis/snapshot/census_text.hpp"
#include "analysis/snapshot/page_census.hpp"
#include "base/error.hpp"
#include "cli/snapshot/pages.hpp"
#include "cli/support/live_kernel.hpp"

namespace kmt {

namespace {

constexpr double kSecondsOfAGiB = 0.04;  // CPU time, measured on x86-64
// Parts of the CPU budget that both censuses together may take.
constexpr double kUsualPart = 0.1;
constexpr double kPartIfUnaccounted = 0.5;

bool is_unaccounted_large(const SnapshotResult& snapshot) {
  return std::ranges::any_of(snapshot.health, [](const HealthCheck& check) {
    return check.topic == HealthTopic::unaccounted && is_unhealthy(check);
  });
}

std::shared_ptr<const PageCensus> count(const SnapshotResult& snapshot, StateSample& sample,
                                        std::vector<UnseenSource>& unseen) {
  try {
    std::optional<PageCensus> census = count_pages(sample, snapshot.memory.page_size, false);
    if (!census) return nullptr;
    sample.texts.emplace_back("census", census_text(*census));
    compare_with_counters(snapshot, *census);
    return std::make_shared<const PageCensus>(std::move(*census));
  } catch (const Error& error) {
    unseen.push_back({"the use of each page frame", error.what(), error.hint()});
    return nullptr;
  }
}

}  // namespace

void WatchedFrames::begin(const SnapshotResult& before, StateSample& sample, const InvestigationPlan& plan,
                          std::vector<UnseenSource>& unseen) {
  const double needed = 2 * kSecondsOfAGiB * static_cast<double>(before.total) / (1 << 30);
  const bool is_large = is_unaccounted_large(before);
  const double most = (is_large ? kPartIfUnaccounted : kUsualPart) * plan.most_cpu_seconds;
  if (needed > most) {
    if (is_large)
      unseen.push_back({"the use of each page frame",
                        fmt::format("counting them twice takes about {:.1f} s of the CPU budget of {:.1f} s", needed,
                                    plan.most_cpu_seconds),
                        "raise --cpu, or run `kmemtrace snapshot --pages`"});
    return;
  }
  const std::uint64_t begin_ns = own_cpu_ns();
  before_ = count(before, sample, unseen);
  cpu_seconds_ = static_cast<double>(own_cpu_ns() - begin_ns) / 1e9;
}

void WatchedFrames::end(const SnapshotResult& after, StateSample& sample, std::vector<UnseenSource>& unseen) {
  if (before_) after_ = count(after, sample, unseen);
}

std::optional<CensusChange> WatchedFrames::change(const SnapshotResult& after) const {
  if (!before_ || !after_) return std::nullopt;
  return census_change(*before_, *after_, after.memory.page_size);
}

}  // namespace kmt
