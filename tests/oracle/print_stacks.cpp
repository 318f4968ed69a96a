// SPDX-License-Identifier: GPL-2.0-or-later
// Prints every event of a trace with its kernel stack, innermost address first: "CPU NANOSECONDS NAME [ADDRESS…]".
#include <exception>

#include <fmt/format.h>

#include "formats/registry.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const auto source = kmt::open_trace(argv[1]);
  const kmt::TraceInfo& info = source->info();
  for (kmt::EventBatch batch; source->read(batch);) {
    for (const kmt::Event& event : batch) {
      fmt::print("{} {} {}", event.cpu, event.time_ns, info.tables.event_types[event.type.value].name);
      for (const std::uint64_t address : info.tables.stacks[event.stack]) fmt::print(" {:x}", address);
      fmt::print("\n");
    }
  }
  fmt::print("unmatched {}\n", info.findings.count_of(kmt::Imperfection::unmatched_stack));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
