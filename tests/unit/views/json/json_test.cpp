// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/sample_report.hpp"
#include "views/json/check.hpp"
#include "views/json/report.hpp"

namespace kmt {
namespace {

using Json = nlohmann::ordered_json;

Json report(const ReportResult& result, const ReportOptions& options = {}) {
  return Json::parse(json_report(result, options));
}

TEST(JsonReport, HasTheDocumentedKeysInTheirOrder) {
  const Json json = report(test::sample_report());
  const auto keys = [](const Json& object) {
    std::string text;
    for (const auto& [key, value] : object.items()) text += key + " ";
    return text;
  };
  EXPECT_EQ(keys(json),
            "schema complete trace events calls slab pages memory page_orders call_sites_total call_sites percpu "
            "percpu_call_sites_total percpu_call_sites vmalloc by groups older_objects_lived older_objects anomalies "
            "explained_anomalies anomaly_sites findings ");
  EXPECT_EQ(keys(json["trace"]),
            "path format kernel arch byte_order word_bits page_size cpus clock recorded_at recorder_arguments "
            "first_ns duration_ns recorded_ns events stacks user_stacks lost_events lost_per_cpu loss_known ");
  EXPECT_EQ(keys(json["slab"]),
            "allocations frees failed_allocations bytes_requested bytes_allocated bytes_freed "
            "live_allocations live_bytes matched_frees unmatched_frees null_frees cross_cpu_frees "
            "peak_bytes peak_ns lifetime live_is_upper_bound maybe_freed_allocations maybe_freed_bytes "
            "cross_node_frees cross_node_allocations ");
  EXPECT_EQ(keys(json["pages"]),
            "allocations frees failed_allocations bytes_allocated bytes_freed live_bytes peak_bytes peak_ns lifetime ");
  EXPECT_EQ(keys(json["groups"]["slab"]["rows"][0]),
            "keys allocations failed_allocations frees bytes_requested bytes_allocated bytes_wasted bytes_freed "
            "live_allocations live_bytes peak_bytes peak_ns first_ns last_ns cross_cpu_frees cross_node_frees "
            "lifetime live_is_upper_bound maybe_freed_allocations maybe_freed_bytes ");
  EXPECT_EQ(keys(json["slab"]["lifetime"]), "count mean_ns p50_ns p90_ns p99_ns under_1ms histogram ");
  EXPECT_EQ(keys(json["call_sites"][0]),
            "address symbol allocations frees failed_allocations bytes_requested "
            "bytes_allocated live_allocations live_bytes cross_cpu_frees ");
}

TEST(JsonReport, ContainsTheNumbers) {
  const Json json = report(test::sample_report());
  EXPECT_EQ(json["schema"], "kmemtrace.report/1");
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["trace"]["byte_order"], "big");
  EXPECT_EQ(json["events"]["kmalloc"], 700);
  EXPECT_EQ(json["slab"]["allocations"], 111);
  EXPECT_TRUE(json["slab"]["cross_node_allocations"].is_null());
  EXPECT_EQ(json["pages"]["bytes_allocated"], 147456);
  EXPECT_EQ(json["page_orders"][1]["order"], 3);
  EXPECT_EQ(json["call_sites"][0]["symbol"], "second_function_with_a_rather_long_name+0x1f4 [a_module]");
  EXPECT_EQ(json["call_sites"][0]["address"], "0x2000");
  EXPECT_EQ(json["anomalies"]["allocated_before_trace"], 5);
}

TEST(JsonReport, AllAllocatorsHaveTheKeysOfSlab) {
  ReportResult result = test::sample_report();
  result.percpu.allocations = 3;
  result.percpu.bytes_allocated = 500;
  test::add_percpu(result, {test::site(0x5000, "counters+0x2", 1, 4, 100), test::site(0x6000, "more+0x2", 2, 8, 400)});
  result.vmalloc.live_bytes = 8192;
  Json json = report(result);
  EXPECT_EQ(json["percpu"]["bytes_allocated"], 500);
  EXPECT_EQ(json["percpu_call_sites_total"], 2);
  EXPECT_EQ(json["percpu_call_sites"][0]["symbol"], "more+0x2");
  EXPECT_EQ(json["vmalloc"]["live_bytes"], 8192);
  EXPECT_FALSE(json["vmalloc"].contains("cross_node_allocations"));

  result.percpu.knows_bytes = result.groups[1].rows[0].knows_bytes = false;
  json = report(result);
  for (const char* const key : {"bytes_allocated", "bytes_freed", "live_bytes"})
    EXPECT_TRUE(json["percpu"][key].is_null()) << key;
  EXPECT_EQ(json["percpu"]["allocations"], 3);
  EXPECT_TRUE(json["percpu_call_sites"][1]["live_bytes"].is_null());
}

TEST(JsonReport, KeepsLargeNumbersWhole) {
  ReportResult result = test::sample_report();
  result.slab.bytes_allocated = ~std::uint64_t{0};
  result.slab.cross_node_allocations = 4;
  EXPECT_EQ(report(result)["slab"]["bytes_allocated"].get<std::uint64_t>(), ~std::uint64_t{0});
  EXPECT_EQ(report(result)["slab"]["cross_node_allocations"], 4);
}

TEST(JsonReport, FollowsSortAndLimit) {
  ReportOptions options;
  options.sort = find_group_column("hits");
  options.limit = 2;
  const Json json = report(test::sample_report(), options);
  EXPECT_EQ(json["call_sites_total"], 4);
  ASSERT_EQ(json["call_sites"].size(), 2u);
  EXPECT_EQ(json["call_sites"][0]["symbol"], "first+0x10");
}

TEST(JsonReport, UnknownValuesAreNull) {
  ReportResult result = test::sample_report();
  result.trace.kernel.clear();
  result.trace.complete = false;
  EXPECT_TRUE(report(result)["trace"]["kernel"].is_null());
  EXPECT_EQ(report(result)["complete"], false);
}

TEST(JsonReport, IsValidForAnyTrace) {
  ReportResult result = test::sample_report();
  const std::string hostile = "\x1b[2J\"\\\n\xff\xc3";
  result.trace.kernel = hostile;
  test::call_sites(result)[0].keys = {CodeAddress{0x1000, hostile}};
  result.events = {{hostile, 3}, {"\\x1b[2J\"\\\\x0a\\xff\\xc3", 4}};  // the escaped form of the first name
  result.findings.add({Imperfection::damaged_page, hostile, 1, 0x1000, 77});
  const Json json = report(result);
  EXPECT_EQ(json["trace"]["kernel"], "\\x1b[2J\"\\\\x0a\\xff\\xc3");
  EXPECT_EQ(json["events"].size(), 1u);
  EXPECT_EQ(json["events"].begin().value(), 7);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["kind"], "damaged_page");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["count"], 1);
  EXPECT_EQ(finding["examples"][0]["cpu"], 1);
  EXPECT_EQ(finding["examples"][0]["offset"], 4096);
  EXPECT_EQ(finding["examples"][0]["time_ns"], 77);
}

TEST(JsonCheck, DistinguishesSoundUnsoundAndUnreadableFiles) {
  std::vector<CheckedFile> files(3);
  CheckResult result;
  result.trace = test::sample_report().trace;
  files[0] = {"a.dat", result, {}};
  result.affected = {AffectedNumbers::totals};
  result.sound = false;
  files[1] = {"b.dat", result, {}};
  files[1].result->findings.add({Imperfection::lost_events, "", 0, {}, {}}, 268);
  Error error("no trace");
  error.at({"c.dat", {}, 16}).hint("do this").context("reading that");
  files[2] = {"c.dat", {}, error};

  const Json json = Json::parse(json_check(files));
  EXPECT_EQ(json["schema"], "kmemtrace.check/1");
  EXPECT_EQ(json["files"][0]["verdict"], "sound");
  EXPECT_TRUE(json["files"][0]["error"].is_null());
  EXPECT_EQ(json["files"][1]["verdict"], "unsound");
  EXPECT_EQ(json["files"][1]["affected"], Json({"totals"}));
  EXPECT_EQ(json["files"][1]["findings"][0]["count"], 268);
  EXPECT_TRUE(json["files"][1]["findings"][0]["examples"][0]["offset"].is_null());
  EXPECT_EQ(json["files"][2]["verdict"], "unreadable");
  EXPECT_TRUE(json["files"][2]["trace"].is_null());
  EXPECT_EQ(json["files"][2]["error"]["what"], "no trace");
  EXPECT_EQ(json["files"][2]["error"]["offset"], 16);
  EXPECT_EQ(json["files"][2]["error"]["hint"], "do this");
}

}  // namespace
}  // namespace kmt
