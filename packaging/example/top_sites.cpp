// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the call sites with the most live memory at the end of a trace, and the length of the trace.
//   g++ -std=c++20 top_sites.cpp $(pkg-config --cflags --libs libkmemtrace) -o top_sites && ./top_sites trace.kmt
#include <cstdio>

#include <kmemtrace/report.hpp>
#include <kmemtrace/version.hpp>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s TRACE        (libkmemtrace %s)\n", argv[0], kmemtrace::version());
    return 2;
  }

  // Read the sums that `kmemtrace report` shows.
  const kmemtrace::Report report = kmemtrace::report(argv[1], {.sort = "live-bytes"});
  const std::size_t live = kmemtrace::column("live-bytes");
  unsigned shown = 0;
  for (const kmemtrace::Group& group : report.groups) {
    const auto* bytes = std::get_if<std::uint64_t>(&group.values[live]);
    if (group.allocator != "slab" || bytes == nullptr) continue;
    if (shown++ == 5) break;
    std::printf("%12llu  %s\n", static_cast<unsigned long long>(*bytes), group.keys.front().c_str());
  }

  // Read the events themselves.
  kmemtrace::Trace trace(argv[1]);
  std::uint64_t events = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  for (kmemtrace::Event event; trace.next(event);) {
    if (events++ == 0) first = event.time_ns;
    last = event.time_ns;
  }
  std::printf("%llu events in %.3f s on %s, %llu lost\n", static_cast<unsigned long long>(events),
              static_cast<double>(last - first) / 1e9, trace.machine().kernel.c_str(),
              static_cast<unsigned long long>(trace.lost_events()));
  return 0;
} catch (const kmemtrace::Error& error) {
  std::fprintf(stderr, "%s: %s\n%s\n", error.file().c_str(), error.what(), error.hint().c_str());
  return 2;
}
