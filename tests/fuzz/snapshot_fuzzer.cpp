// SPDX-License-Identifier: GPL-2.0-or-later
// Any texts as those of the kernel's files: parsing, adding up and showing must not crash, hang or take memory out of
// proportion, and the balance sheet's lines add up to MemTotal. An input is texts, each behind a line "@NAME".
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "analysis/snapshot.hpp"
#include "analysis/snapshot_series.hpp"
#include "base/error.hpp"
#include "snapshot/parse.hpp"
#include "snapshot/words.hpp"
#include "views/json_series.hpp"
#include "views/json_snapshot.hpp"
#include "views/text_series.hpp"
#include "views/text_snapshot.hpp"

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

// Sums wrap around where numbers are larger than any machine; they are still the same.
void expect_to_add_up(const kmt::SnapshotResult& result) {
  std::uint64_t sum = 0;
  std::uint64_t parts = 0;
  const kmt::BalanceLine* whole = nullptr;
  bool has_parts = false;
  const auto end_group = [&] {
    if (has_parts && parts != static_cast<std::uint64_t>(whole->bytes)) std::abort();
    parts = 0;
    has_parts = false;
  };
  for (const kmt::BalanceLine& line : result.sheet) {
    if (!line.counted) continue;
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
  if (sum != result.total) std::abort();
}

// The snapshot, of which every other time the last text is missing.
void show_as_series(kmt::StateSample sample, const kmt::SnapshotResult& whole) {
  sample.texts.pop_back();
  kmt::SnapshotSeriesAnalysis analysis;
  analysis.add(whole, 0);
  for (std::uint64_t i = 1; i < 18; ++i) {
    try {
      analysis.add(i % 2 == 0 ? kmt::take_stock(kmt::parse_snapshot(sample, 0)) : kmt::SnapshotResult(), i << 30);
    } catch (const kmt::Error&) {
      // the text was meminfo
    }
  }
  const kmt::SnapshotSeries series = analysis.finish(1);
  kmt::json_series(series, {});
  kmt::text_series_leaks(series, {}, {});
  kmt::text_series_report(series, {kmt::SeriesOrder::change, 0}, {});
  kmt::text_series_timeline(series, {kmt::SeriesOrder::change, 0}, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const kmt::StateSample sample = sample_of({reinterpret_cast<const char*>(data), size});
  try {
    const kmt::SnapshotResult result = kmt::take_stock(kmt::parse_snapshot(sample, 0));
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
    // says that there is no MemTotal
  }
  return 0;
}
