// SPDX-License-Identifier: GPL-2.0-or-later
// Prints every event of a trace as tab-separated fields: nanoseconds, CPU, task ID, task name, event, address, call
// site, requested bytes, allocated bytes, and the addresses of the kernel stack.
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "formats/registry.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const auto source = kmt::open_trace(argv[1]);
  const kmt::TraceInfo& info = source->info();
  for (kmt::EventBatch batch; source->read(batch);) {
    for (const kmt::Event& event : batch)
      fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", event.time_ns, event.cpu, event.tid,
                 kmt::printable(task_name(info.tasks, event.tid, event.time_ns)),
                 info.tables.event_types[event.type.value].name, event.address,
                 info.tables.call_sites[event.call_site.value], event.bytes_requested, event.bytes_allocated,
                 fmt::join(info.tables.stacks[event.stack], " "));
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
