// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/relay/guess.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/relay/walker.hpp"

namespace kmt::relay {

namespace {

constexpr std::size_t kLookAt = 64 << 10;  // number of bytes to examine at the start of each file
constexpr double kLeastShare = 0.5;

// Checks whether a kernel could have written the records in this order.
class Order {
 public:
  explicit Order(const Layout& layout) : numbered_(layout.sequence.bytes != 0) {}

  bool holds(const Record& record) {
    // Sequence numbers always increase within a file. Times may go back by this many nanoseconds, because a file may
    // have several CPUs with different clocks, and some clocks step back.
    constexpr std::int64_t kMostBack = 1'000'000'000;
    const std::uint64_t now = numbered_ ? record.sequence : record.time_ns;
    const std::uint64_t before = std::exchange(last_, now);
    if (std::exchange(first_, false)) return true;
    return numbered_ ? static_cast<std::int32_t>(now - before) > 0
                     : static_cast<std::int64_t>(now - before) > -kMostBack;
  }

 private:
  bool numbered_;
  bool first_ = true;
  std::uint64_t last_ = 0;
};

struct Score {
  std::uint64_t good = 0;  // number of examined bytes that are in valid records
  std::uint64_t looked_at = 0;
  bool all_addresses_short = true;

  double share() const { return looked_at == 0 ? 0 : static_cast<double>(good) / static_cast<double>(looked_at); }
};

void add_score(Bytes file, const Abi& abi, Score& score) {
  constexpr std::uint64_t kMostShort = 0xFFFFFFFF;
  // The examined part of a file may end within a record. Such a record does not count as damage.
  const Bytes part = file.first(std::min(file.size(), kLookAt));
  const bool whole = part.size() == file.size();
  Walker walker(part, abi);
  Order order(*abi.layout);
  for (Step step; walker.next(step);) {
    // Null records do not count, because zeros fit every layout that has null records.
    if (step.kind == Step::Kind::null) continue;
    const bool cut_off = !whole && step.offset + step.bytes == part.size() && step.kind == Step::Kind::torn;
    if (!cut_off || step.bytes >= abi.layout->alloc_bytes) score.looked_at += step.bytes;
    if (step.kind != Step::Kind::record) continue;
    const Record record = parse(walker.bytes_of(step), abi);
    if (record.call_site > kMostShort || record.ptr > kMostShort) score.all_addresses_short = false;
    if (order.holds(record) && is_plausible(record)) score.good += step.bytes;
  }
}

Score score_of(const Abi& abi, std::span<const Bytes> files) {
  Score score;
  for (const Bytes file : files) add_score(file, abi, score);
  return score;
}

}  // namespace

std::optional<Guess> guess_abi(std::span<const Bytes> files) {
  Guess guess;
  for (const Abi& abi : all_abis()) {
    const Score score = score_of(abi, files);
    if (score.share() > guess.share) {
      guess.next = guess.abi;
      guess.next_share = guess.share;
      guess.abi = abi;
      guess.share = score.share();
      guess.all_addresses_short = score.all_addresses_short;
    } else if (score.share() > guess.next_share) {
      guess.next = abi;
      guess.next_share = score.share();
    }
  }
  return guess.share < kLeastShare ? std::nullopt : std::optional(guess);
}

Guess fit_of(const Abi& abi, std::span<const Bytes> files) {
  const Score score = score_of(abi, files);
  return {abi, score.share(), {}, 0, score.all_addresses_short};
}

std::string describe(const Guess& guess) {
  const std::string next = guess.next_share == 0 ? "no other layout fits"
                                                 : fmt::format("{:.1f}% with {}, the next best layout",
                                                               guess.next_share * 100, name_of(guess.next));
  return fmt::format("{}: {:.1f}% of the sampled bytes are valid records, {}", name_of(guess.abi), guess.share * 100,
                     next);
}

}  // namespace kmt::relay
