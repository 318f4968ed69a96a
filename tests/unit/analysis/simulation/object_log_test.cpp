// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the objects of a log with those that an ObjectStream provides for the same trace.
#include "analysis/simulation/object_log.hpp"

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/simulation/cache_suggestions.hpp"
#include "formats/registry.hpp"

namespace kmt {
namespace {

class AddressNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return std::to_string(address); }
};

// Stores all calls by a stream or by a log.
struct Notes : ObjectSink {
  using Call = std::tuple<char, std::uint32_t, std::uint32_t, std::uint64_t, unsigned, int, std::uint64_t>;

  void kind(const ObjectKind& kind) override { kinds.emplace_back(kind.origin.bytes_requested, kind.cache); }
  void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) override {
    calls.emplace_back(again ? 'a' : 'b', object, kind, event.time_ns, event.cpu, event.node, event.address);
  }
  void ended(std::uint32_t object, const Event& event, bool freed) override {
    calls.emplace_back(freed ? 'f' : 'r', object, 0, event.time_ns, event.cpu, 0, 0);
  }
  void freed_older(const Event& event) override {
    calls.emplace_back('o', 0, event.cache.value, event.time_ns, event.cpu, 0, event.address);
  }

  std::vector<std::pair<std::uint64_t, std::string>> kinds;
  std::vector<Call> calls;
};

std::unique_ptr<Source> trace_of(const std::string& name) {
  return open_trace(std::getenv("KMEMTRACE_DATA") + ("/" + name));
}

void read_into(Source& source, auto&& add) {
  EventBatch batch;
  while (source.read(batch)) add(batch);
}

TEST(ObjectLog, RepeatsTheObjectsOfATrace) {
  const AddressNames symbols;
  // Free events name the caches in the first trace, and not in the second. The third is from a 32-bit machine.
  for (const std::string name : {"amd64/trace.dat", "amd64-5.10/trace.dat", "i386/trace.dat"}) {
    SCOPED_TRACE(name);
    const std::unique_ptr<Source> ahead = trace_of(name);
    CacheNames caches(ahead->info());
    read_into(*ahead, [&](const EventBatch& batch) { caches.learn(batch, ahead->info()); });
    Notes streamed;
    const std::unique_ptr<Source> second = trace_of(name);
    CacheNames names(second->info());
    names.take_learned(caches);
    ObjectStream stream(second->info(), symbols, names, streamed);
    read_into(*second, [&](EventBatch& batch) { stream.add(batch); });

    const std::unique_ptr<Source> once = trace_of(name);
    ObjectLog log(true);
    KmallocProfile profile(once->info(), symbols, log);
    read_into(*once, [&](EventBatch& batch) { profile.add(batch); });
    profile.finish();
    ASSERT_TRUE(log.is_whole());
    CacheNames taught(once->info());
    log.teach(taught);
    Notes logged;
    log.replay(logged, taught);
    EXPECT_GT(logged.calls.size(), 1000u);
    EXPECT_EQ(logged.kinds, streamed.kinds);
    EXPECT_EQ(logged.calls, streamed.calls);
    EXPECT_EQ(log.span().events, stream.span().events);
    EXPECT_EQ(log.span().last_ns, stream.span().last_ns);
  }
}

Event event_at(std::uint64_t time_ns) {
  Event event{};
  event.time_ns = time_ns;
  event.node = kNoNode;
  return event;
}

TEST(ObjectLog, GivesUpIfTheTraceIsTooLong) {
  ObjectLog log(false, 2);
  log.kind({});
  log.began(0, 1, event_at(10), false);
  log.ended(0, 1, event_at(20), true);
  EXPECT_TRUE(log.is_whole());
  log.began(0, 1, event_at(30), false);
  EXPECT_FALSE(log.is_whole());
}

TEST(ObjectLog, GivesUpIfAValueDoesNotFit) {
  ObjectLog late(false);
  late.kind({});
  late.began(0, 1, event_at(10), false);
  late.ended(0, 1, event_at(10 + (std::uint64_t{1} << 48) - 1), true);
  EXPECT_TRUE(late.is_whole());
  late.began(0, 1, event_at(10 + (std::uint64_t{1} << 48)), false);
  EXPECT_FALSE(late.is_whole());

  ObjectLog earlier(false);  // the times of a damaged trace go back
  earlier.kind({});
  earlier.began(0, 1, event_at(10), false);
  earlier.ended(0, 1, event_at(9), true);
  EXPECT_FALSE(earlier.is_whole());

  for (const int node : {510, 511}) {
    ObjectLog log(false);
    log.kind({});
    Event event = event_at(10);
    event.node = static_cast<std::int16_t>(node);
    log.began(0, 1, event, false);
    EXPECT_EQ(log.is_whole(), node == 510);
  }
  Event event = event_at(10);
  event.node = std::numeric_limits<std::int16_t>::min();
  ObjectLog negative(false);
  negative.kind({});
  negative.began(0, 1, event, false);
  EXPECT_FALSE(negative.is_whole());
}

}  // namespace
}  // namespace kmt
