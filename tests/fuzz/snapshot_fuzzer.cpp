// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any texts as the kernel's files. Parsing, adding up and showing must not crash, hang or use excessive memory.
// The lines of the balance sheet must add up to MemTotal. An input consists of texts, each after a line "@NAME". The
// input is also read as one file of copied texts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "analysis/snapshot/series.hpp"
#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/parse.hpp"
#include "views/json/series.hpp"
#include "views/json/snapshot.hpp"
#include "views/text/series.hpp"
#include "views/text/snapshot.hpp"

namespace {

kmt::StateSample sample_of(std::string_view input) {
  kmt::StateSample sample;
  kmt::each_line(input, [&](std::string_view line) {
    if (line.starts_with('@'))
      sample.texts.emplace_back(line.substr(1), "");
    else if (!sample.texts.empty())
      sample.texts.back().second.append(line).push_back('\n');
  });
  return sample;
}

// Builds the balance sheet. If meminfo lacks needed lines, appends those of a complete meminfo.
kmt::SnapshotResult stock_of(kmt::StateSample& sample) {
  try {
    return kmt::take_stock(kmt::parse_snapshot(sample, 0));
  } catch (const kmt::Error&) {
    constexpr const char* kWhole =
        "\nMemTotal: 1000000 kB\nMemFree: 100000 kB\nBuffers: 1000 kB\nCached: 200000 kB\nAnonPages: 300000 kB\n"
        "Shmem: 2000 kB\nSlab: 50000 kB\nKernelStack: 5000 kB\nPageTables: 6000 kB\nVmallocUsed: 7000 kB\n"
        "Percpu: 3000 kB\n";
    const auto meminfo = std::find_if(sample.texts.begin(), sample.texts.end(),
                                      [](const auto& text) { return text.first == "meminfo"; });
    if (meminfo == sample.texts.end())
      sample.texts.emplace(sample.texts.begin(), "meminfo", kWhole);
    else
      meminfo->second += kWhole;
    return kmt::take_stock(kmt::parse_snapshot(sample, 0));
  }
}

// Checks that the lines add up. Sums that are too large for 64 bits wrap around on both sides, so they stay equal. A
// report in the kernel's log may lack the total of memory or a large part of it. Then unaccounted memory is unknown,
// and only the parts of each line add up.
void expect_to_add_up(const kmt::SnapshotResult& result) {
  std::uint64_t sum = 0;
  std::uint64_t parts = 0;
  const kmt::BalanceLine* whole = nullptr;
  bool has_parts = false;
  bool lacks_part = false;
  const auto end_group = [&] {
    if (has_parts && parts != static_cast<std::uint64_t>(whole->bytes)) std::abort();
    parts = 0;
    has_parts = false;
  };
  for (const kmt::BalanceLine& line : result.sheet) {
    if (!line.counted) continue;
    const bool large = line.id.starts_with("free") || line.id.starts_with("user") || line.id.starts_with("slab");
    if (large && !line.known) lacks_part = true;
    if (line.depth == 0) {
      end_group();
      whole = &line;
      sum += static_cast<std::uint64_t>(line.bytes);
    } else {
      has_parts = true;
      parts += static_cast<std::uint64_t>(line.bytes);
    }
  }
  end_group();
  const auto rest = std::ranges::find(result.sheet, "unaccounted", &kmt::BalanceLine::id);
  if (rest == result.sheet.end() || (!rest->known && result.total != 0 && !lacks_part)) std::abort();
  if (rest->known && sum != result.total) std::abort();
}

// Shows a series of snapshots; every second snapshot lacks the last text.
void show_as_series(kmt::StateSample sample, const kmt::SnapshotResult& whole) {
  sample.texts.pop_back();
  kmt::SnapshotSeriesAnalysis analysis;
  analysis.add(whole, 0);
  for (std::uint64_t i = 1; i < 18; ++i) {
    try {
      analysis.add(i % 2 == 0 ? kmt::take_stock(kmt::parse_snapshot(sample, 0)) : kmt::SnapshotResult(), i << 30);
    } catch (const kmt::Error&) {
      // expected: the missing text was meminfo
    }
  }
  const kmt::SnapshotSeries series = analysis.finish(1);
  kmt::json_series(series, {});
  kmt::text_series_leaks(series, {}, {});
  kmt::text_series_report(series, {kmt::SeriesOrder::change, 0}, {});
  kmt::text_series_timeline(series, {kmt::SeriesOrder::change, 0}, {});
}

// Reads the input as an archive or a kernel log.
void read_as_file(const std::uint8_t* data, std::size_t size) {
  try {
    const kmt::Copies copies = kmt::copies_in_file("input", {data, size});
    for (const kmt::StateSample& report : copies.reports) {
      const kmt::SnapshotResult result = kmt::take_stock(kmt::parse_snapshot(report, 0));
      expect_to_add_up(result);
      kmt::json_snapshot(result, {});
      kmt::text_snapshot(result, {}, {});
    }
  } catch (const kmt::Error&) {
    // expected: most inputs have no report
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_as_file(data, size);
  kmt::StateSample sample = sample_of({reinterpret_cast<const char*>(data), size});
  try {
    const kmt::SnapshotResult result = stock_of(sample);
    expect_to_add_up(result);
    kmt::SnapshotOptions options;
    options.limit = 0;
    kmt::json_snapshot(result, options);
    kmt::text_snapshot(result, options, {});
    const kmt::SnapshotDiff none = kmt::diff(result, result);
    if (!none.caches.empty() || !none.vmalloc.empty()) std::abort();
    kmt::json_snapshot_diff(none, options);
    kmt::text_snapshot_diff(none, options, {});
    show_as_series(sample, result);
  } catch (const kmt::Error&) {
    // expected: the page size is invalid, or meminfo is damaged despite the appended lines
  }
  return 0;
}
