// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the accounts of a report: how much memory each group allocated and freed, and how much of it is live.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/matching/freed_by.hpp"
#include "analysis/matching/matching.hpp"
#include "analysis/report/history.hpp"
#include "analysis/report/totals.hpp"
#include "analysis/report/traffic_log.hpp"
#include "analysis/report/window.hpp"
#include "results/report/report.hpp"

namespace kmt {

// The sums of one group. All sums in a report are computed from these.
struct Account : AllocationSums {
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
  std::uint64_t first_ns = 0;  // time of the first allocation, including failed ones
  std::uint64_t last_ns = 0;
  std::uint64_t cross_node_frees = 0;
  Lifetimes lifetimes;
};

struct LedgerOptions {
  std::uint64_t page_size = 0;
  std::vector<std::int16_t> cpu_nodes;  // empty: unknown
  bool cache_object_may_be_kfreed = true;
  RecorderTasks recorder = {};
  bool by_lifetime = false;
  bool by_freer = false;
  bool history = false;
  bool traffic = false;
  std::optional<TimeWindow> window = {};
  // True: an allocation reported by two events counts twice. Must not be set together with `traffic`.
  bool count_duplicates = false;
  CpuPageLists cpu_page_lists;  // only needed for histories
};

class Ledger {
 public:
  explicit Ledger(LedgerOptions options) : options_(std::move(options)) {
    if (options_.history) history_.emplace(options_.page_size, options_.cpu_page_lists);
    if (options_.traffic) traffic_.emplace();
    if (options_.window) window_.emplace(*options_.window);
  }
  void add(const MatchedBatch& batch, const BatchOrigins& origins);
  // Counts an allocation, or a part of it, that is live at the end of the trace.
  void add_live(const Origin& origin, const LiveCount& amount, std::uint64_t began_ns) {
    if (window_) window_->add_live(origin.allocator, origin.group, amount, began_ns);
  }
  // Sets the end time of the recording.
  void end(std::uint64_t time_ns) {
    if (history_) history_->end(time_ns);
  }

  // Computes no totals from now on. Call this before the first batch.
  void leave_totals_out() { totals_.reset(); }
  const std::optional<Totals>& totals() const { return totals_; }
  const std::vector<Origin>& origins() const { return origins_; }
  const std::vector<Account>& accounts() const { return accounts_; }
  // Freed allocations of a group are counted by the values of those keys that are only known at the free. This key
  // contains these values.
  struct FreedKey {
    std::uint32_t group;
    std::uint32_t freer;  // Grouping::freer_of(); 0 unless LedgerOptions::by_freer is set
    unsigned octave;      // octave (power of two) of the lifetime; 0 unless LedgerOptions::by_lifetime is set
    // clang-tidy mistakes the zero in the generated comparison for a pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const FreedKey&) const = default;
  };
  // Returns the accounts by properties of the free. Only filled if LedgerOptions::by_lifetime or by_freer is set.
  const std::map<FreedKey, Account>& freed_accounts() const { return freed_accounts_; }
  const std::optional<History>& history() const { return history_; }     // set if LedgerOptions::history is set
  std::optional<TrafficLog>& traffic() { return traffic_; }              // set if LedgerOptions::traffic is set
  const std::optional<WindowCounts>& window() const { return window_; }  // set if LedgerOptions::window is set

 private:
  // An allocation that an event ends, or the part of an allocation that the event ends.
  struct Ending {
    std::uint64_t began_ns;
    std::uint64_t bytes;
    std::uint32_t origin;
    std::uint16_t began_cpu;
    bool whole;               // true: nothing of the allocation remains live
    std::uint32_t freer = 0;  // a number like FreedKey::freer
  };

  void open(const Event& event, std::uint32_t number);
  void begin(const Event& event, const Step& step);
  void fail(const Event& event, const Step& step);
  void replace(const Event& event, const Step& step);
  void take_back(const Origin& origin);
  void count_end(const Event& event, const Ending& ending);
  void add_unmatched(const Event& event, const Step& step);
  void end_freed(const Event& event, const Ending& ending);
  void end(const Ending& ending);
  void end_replaced(const Ending& ending);
  void add_page_event(const Event& event, const Step& step, std::span<const PagesTaken> parts, std::uint32_t freer);
  void check_free(const Event& event, const Step& step);
  void found(Imperfection kind, const Event& event, CallSiteId first, CallSiteId second, std::uint32_t cache);
  void count_free(const Event& event, const Ending& ending, Account& account) const;
  void add_freed(const Event& event, const Ending& ending, const Origin& origin);
  bool on_other_node(std::uint16_t cpu, std::uint16_t other) const;

  LedgerOptions options_;
  std::optional<Totals> totals_ = Totals{};
  bool begun_ = false;
  std::vector<Origin> origins_ = {{}};  // index: number of the origin; 0 means "none"
  std::vector<Account> accounts_;       // index: group
  std::map<FreedKey, Account> freed_accounts_;
  std::optional<History> history_;
  std::optional<TrafficLog> traffic_;
  std::optional<WindowCounts> window_;
};

}  // namespace kmt
