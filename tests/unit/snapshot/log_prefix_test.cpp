// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the prefixes that kernels of vendors and programs write before messages, and times without a time zone.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "snapshot/log/kernel_log.hpp"
#include "snapshot/log/oom_report.hpp"
#include "snapshot/log/prefix.hpp"

namespace kmt {
namespace {

std::string text_after_prefix(std::string_view line) { return std::string(without_prefix(line).message.text); }
std::string caller_in(std::string_view line) { return std::string(without_prefix(line).message.caller); }

TEST(LogPrefixes, OfVendorsAreRemoved) {
  for (const char* const line : {
           "<6>[  123.456789] [0:    kworker:  123] Mem-Info:",     // Samsung
           "[  123.456789] I[3: kworker/u16:1:  123] Mem-Info:",    //
           "<4>[  123.456789]  (0)[123:kworker]Mem-Info:",          // MediaTek
           "[  123.456789] -(5)[123:kworker/5:1]Mem-Info:",         //
           "[  123.456789] [pid:123,cpu4,kworker]Mem-Info:",        // Huawei
           "[  123.456789 / 01-31 23:59:59.123] Mem-Info:",         // Qualcomm
           "[  123.456789 / 01-31 23:59:59.123][2] Mem-Info:",      //
           "01-31 23:59:59.123     0     0 W kernel  : Mem-Info:",  // Android's logcat
           "01-31 23:59:59.123  root     0     0 W         : [  123.456789] Mem-Info:",
           "W/kernel  (    0): Mem-Info:",
           "10.0.0.2: kern: warning: [2024-03-01T10:00:00.123456789Z]: Mem-Info:",  // Talos
           "kern:    info: [2024-03-01T10:00:00.123456789Z]: Mem-Info:",
           "2024-03-01T10:00:00.123456789Z [  123.456789] Mem-Info:",  // docker, kubectl
           "web-1  | [  123.456789] Mem-Info:",
           "2024-03-01T10:00:00+01:00 DiskStation kernel: [  123.456789] Mem-Info:",  // Synology
           "Mon 2024-03-01 10:00:00 UTC host kernel: Mem-Info:",
       })
    EXPECT_EQ(text_after_prefix(line), "Mem-Info:") << line;
}

// All lines of a report are from one task, but the CPU may change between them.
TEST(LogPrefixes, TheCallerIsTheTask) {
  EXPECT_EQ(caller_in("[  1.500000] [0:  hog:  123] x"), caller_in("[  1.500000] [7:  hog:  123] x"));
  EXPECT_EQ(caller_in("[  1.500000]  (0)[123:hog]x"), caller_in("[  1.500000]  (7)[123:hog]x"));
  EXPECT_EQ(caller_in("[  1.500000] [pid:123,cpu4,hog]x"), "pid:123");
}

TEST(LogPrefixes, MessagesThatLookSimilarAreKept) {
  for (const char* const text : {"[  123]     0   123  1 2 3 bash", "[0: x] y", "(0) z", "I/O error, dev sda (x): y",
                                 "Out of memory: Killed process 5 (a)", "Node 0 DMA: 1*4kB (U) = 4kB"}) {
    EXPECT_EQ(text_after_prefix(std::string("[  1.500000] ") + text), text);
    EXPECT_EQ(text_after_prefix(text), text);
  }
}

TEST(LogPrefixes, RecordsOfTalosHaveTimes) {
  each_log_message(
      "{\"clock\":1500000,\"facility\":\"kern\",\"msg\":\"Mem-Info:\\n\",\"priority\":\"warning\",\"seq\":3,"
      "\"talos-level\":\"warn\",\"talos-time\":\"2024-03-01T10:00:00.5Z\"}\n",
      [](const LogMessage& message) {
        EXPECT_EQ(message.text, "Mem-Info:");
        EXPECT_EQ(message.boot_ns, 1'500'000'000u);
        EXPECT_EQ(message.wall_ns, 1709287200'500'000'000u);
        EXPECT_TRUE(message.has_zone);
      });
}

TEST(LogTimes, WithoutAZoneAreNotUtc) {
  const auto has_zone = [](std::string_view line) { return without_prefix(line).message.has_zone; };
  EXPECT_TRUE(has_zone("2024-03-01T10:00:00Z host kernel: x"));
  EXPECT_TRUE(has_zone("2024-03-01T10:00:00.123+0100 host kernel: x"));
  EXPECT_TRUE(has_zone("1709287200.123456 host kernel: x"));
  EXPECT_FALSE(has_zone("2024-03-01T10:00:00 host kernel: x"));
  EXPECT_FALSE(has_zone("2024-03-01 10:00:00,123 host kernel: x"));
  EXPECT_FALSE(has_zone("[Fri Mar  1 10:00:00 2024] x"));

  const auto sample_in = [](const std::string& time) {
    return sample_of(oom_reports(time + "Mem-Info:\n" + time + "active_anon:1 inactive_anon:2\n").at(0));
  };
  const StateSample local = sample_in("[Fri Mar  1 10:00:00 2024] ");
  EXPECT_EQ(local.unix_ns, 0u);
  EXPECT_NE(text_of(local, "missing").find("from 2024-03-01 10:00:00 in the machine's time zone"), std::string::npos);
  EXPECT_EQ(sample_in("2024-03-01T10:00:00+00:00 h kernel: ").unix_ns, 1709287200'000'000'000u);
}

}  // namespace
}  // namespace kmt
