// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "analysis/report/pipeline.hpp"
#include "formats/registry.hpp"
#include "views/json/report.hpp"

namespace kmt {
namespace {

class AddressNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return std::to_string(address); }
};

// Reports with different keys and filters. Those that select the same events share a matching.
std::vector<ReportRequest> requests() {
  std::vector<ReportRequest> all(8);
  all[1].by = {GroupKey::comm, GroupKey::size};
  all[2].by = {GroupKey::order, GroupKey::lifetime};
  all[2].filter.cpus = {0};
  all[3].by = {GroupKey::free_site};
  all[4].by = {GroupKey::task};
  all[4].history = all[4].holders = true;
  all[5].by = {GroupKey::cpu};
  all[5].filter.cpus = {0};
  all[7].by = {GroupKey::address};  // depends on more than the shape of an event
  all[7].filter.cpus = {0};
  all[6].by = {GroupKey::process};
  all[6].traffic = all[6].most_live = true;
  return all;
}

std::vector<std::string> reports_of(const std::string& path, std::vector<ReportRequest> wanted, unsigned threads) {
  const std::unique_ptr<Source> source = open_trace(path);
  const AddressNames symbols;
  std::vector<std::unique_ptr<ReportAnalysis>> analyses;
  std::vector<ReportAnalysis*> pointers;
  for (ReportRequest& request : wanted)
    pointers.push_back(
        analyses.emplace_back(std::make_unique<ReportAnalysis>(source->info(), symbols, std::move(request))).get());
  run_analyses(*source, pointers, threads);
  std::vector<std::string> reports;
  for (ReportAnalysis* const analysis : pointers) reports.push_back(json_report(analysis->finish(), {}));
  return reports;
}

TEST(SharedMatching, ReportsTogetherEqualReportsAlone) {
  for (const std::string trace : {"amd64/trace.dat", "amd64-stacks/trace.dat", "i386/trace.dat", "s390x/trace.dat"}) {
    SCOPED_TRACE(trace);
    const std::string path = std::getenv("KMEMTRACE_DATA") + ("/" + trace);
    std::vector<std::string> alone;
    for (ReportRequest& request : requests()) {
      std::vector<ReportRequest> one;
      one.push_back(std::move(request));
      alone.push_back(reports_of(path, std::move(one), 1).front());
    }
    EXPECT_GT(alone.front().size(), 1000u);
    EXPECT_EQ(reports_of(path, requests(), 1), alone);
    EXPECT_EQ(reports_of(path, requests(), 4), alone);
  }
}

}  // namespace
}  // namespace kmt
