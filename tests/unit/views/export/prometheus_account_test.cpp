// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the metrics of the kernel's account with hand-made files. tests/live/serve_test.py compares them with /proc.
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "snapshot/parse.hpp"
#include "views/export/prometheus_text.hpp"

namespace kmt {
namespace {

constexpr const char* kMeminfo =
    "MemTotal:        1000000 kB\nMemFree:          400000 kB\nMemAvailable:     500000 kB\nBuffers: 0 kB\n"
    "Cached:           100000 kB\nAnonPages:        100000 kB\nShmem: 0 kB\nSlab:             200000 kB\n"
    "SReclaimable:      50000 kB\nSUnreclaim:       150000 kB\nKernelStack:       10000 kB\nPageTables:   10000 kB\n"
    "VmallocUsed:       30000 kB\nPercpu:             2000 kB\n";
constexpr const char* kSlabinfo =
    "slabinfo - version: 2.1\n"
    "# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> "
    "<sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n"
    "twice               10     20    128   32    1 : tunables    0    0    0 : slabdata      1      1      0\n"
    "twice                5     40    128   32    1 : tunables    0    0    0 : slabdata      2      2      0\n"
    "twice                7     16    256   16    1 : tunables    0    0    0 : slabdata      1      1      0\n";
constexpr const char* kVmallocinfo =
    "0xffffa00000000000-0xffffa00000005000   20480 big+0x10/0x20 pages=4 vmalloc N0=4\n"
    "0xffffa00000010000-0xffffa00000012000    8192 small+0x10/0x20 pages=1 vmalloc N0=1\n"
    "0xffffa00000020000-0xffffa00000022000    8192 tiny+0x10/0x20 pages=1 vmalloc N0=1\n";
constexpr const char* kVmstat =
    "allocstall_dma32 2\nallocstall_normal 5\ncompact_stall 3\ncompact_fail 1\noom_kill 4\npgscan_direct 90\n"
    "pgsteal_direct 60\n";
constexpr const char* kPressure =
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n";

std::string metrics(std::vector<std::pair<std::string, std::string>> texts) {
  StateSample sample;
  sample.texts = std::move(texts);
  const MemoryAccount account{take_stock(parse_snapshot(sample, 4096)), {{3, {0, "Normal", 0.25, {}}}}};
  return prometheus_text({}, account, 1);
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(PrometheusAccount, HasTheNumbersOfTheFiles) {
  const std::string text = metrics({{"meminfo", kMeminfo},
                                    {"slabinfo", kSlabinfo},
                                    {"vmallocinfo", kVmallocinfo},
                                    {"vmstat", kVmstat},
                                    {"pressure", kPressure}});
  for (const char* const line : {
           "kmemtrace_memory_total_bytes 1024000000",
           "kmemtrace_slab_unreclaimable_bytes 153600000",
           "kmemtrace_percpu_bytes 2048000",
           "kmemtrace_memory_bytes{use=\"slab\"} 204800000",
           "kmemtrace_slabinfo_active_objects{cache=\"twice\",object_bytes=\"128\"} 15",
           "kmemtrace_slabinfo_objects{cache=\"twice\",object_bytes=\"128\"} 60",
           "kmemtrace_slabinfo_bytes{cache=\"twice\",object_bytes=\"128\"} 12288",
           "kmemtrace_slabinfo_bytes{cache=\"twice\",object_bytes=\"256\"} 4096",
           "kmemtrace_vmalloc_bytes{function=\"big\"} 16384",
           "kmemtrace_vmalloc_bytes{function=\"other\"} 8192",
           "kmemtrace_direct_reclaim_stalls_total 7",
           "kmemtrace_compaction_stalls_total 3",
           "kmemtrace_compaction_failures_total 1",
           "kmemtrace_oom_kills_total 4",
           "kmemtrace_direct_reclaim_scanned_pages_total 90",
           "kmemtrace_direct_reclaim_reclaimed_pages_total 60",
           "kmemtrace_memory_pressure_seconds_total{tasks=\"some\"} 2.5",
           "kmemtrace_memory_pressure_seconds_total{tasks=\"full\"} 1",
           "kmemtrace_unusable_free_memory_ratio{node=\"0\",zone=\"Normal\",order=\"3\"} 0.25",
           "kmemtrace_health{check=\"unreclaimable_slab\"} 1",
       })
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(PrometheusAccount, NoTwoSeriesHaveTheSameLabels) {
  const std::string text = metrics({{"meminfo", kMeminfo}, {"slabinfo", kSlabinfo}});
  std::set<std::string> series;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_GT(series.size(), 10u);
}

TEST(PrometheusAccount, LeavesOutWhatIsUnknown) {
  const std::string text = metrics({{"meminfo", kMeminfo}, {"missing", "slabinfo\tnot permitted\trun as root\n"}});
  for (const char* const name :
       {"kmemtrace_slabinfo", "kmemtrace_vmalloc", "kmemtrace_memory_pressure", "kmemtrace_direct_reclaim"})
    EXPECT_EQ(text.find(std::string("\n") + name), std::string::npos) << name;
  EXPECT_TRUE(has_line(text, "kmemtrace_missing_source{source=\"slabinfo\",reason=\"not permitted\"} 1"));
}

TEST(PrometheusAccount, SumsCountedCachesWithTheSameNameAndSize) {
  ExportedMetrics counted;
  counted.cache_objects.emplace(2);
  for (CacheCount& cache : *counted.cache_objects) {
    cache.name = "twice";
    cache.object_bytes = 64;
    cache.allocations = 10;
    cache.frees = 4;
  }
  const std::string text = prometheus_text(counted, {}, 1);
  EXPECT_TRUE(has_line(text, "kmemtrace_cache_objects_allocated_total{cache=\"twice\",object_bytes=\"64\"} 20"));
  EXPECT_TRUE(has_line(text, "kmemtrace_cache_objects_freed_bytes_total{cache=\"twice\",object_bytes=\"64\"} 512"));
}

TEST(PrometheusAccount, SaysWhyNoEventsAreCounted) {
  ExportedMetrics none;
  none.why_no_events = "no BTF";
  const std::string text = prometheus_text(none, {}, 1);
  EXPECT_TRUE(has_line(text, "kmemtrace_events_counted{reason=\"no BTF\"} 0"));
  EXPECT_EQ(text.find("kmemtrace_slab_allocations_total"), std::string::npos);
}

}  // namespace
}  // namespace kmt
