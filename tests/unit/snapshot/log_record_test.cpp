// SPDX-License-Identifier: GPL-2.0-or-later
// Tests reading logs of containers, tables, quoted-printable mail, and lines that a terminal split.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "snapshot/log/kernel_log.hpp"

namespace kmt {
namespace {

std::vector<std::string> messages_in(std::string_view log) {
  std::vector<std::string> texts;
  each_log_message(log, [&](const LogMessage& message) {
    if (!message.text.empty()) texts.emplace_back(message.text);
  });
  return texts;
}

using Texts = std::vector<std::string>;

TEST(LogRecords, LogsOfContainersAreRead) {
  EXPECT_EQ(
      messages_in("{\"log\":\"[  1.500000] Node 0 x\\n\",\"stream\":\"stderr\",\"time\":\"2024-03-01T10:00:00Z\"}\n"
                  "{\"@timestamp\":\"2024\",\"message\":\"Mem-Info:\"}\n"
                  "2024-03-01T10:00:00.123456789Z stderr F [  2.500000] free:5\n"),
      (Texts{"Node 0 x", "Mem-Info:", "free:5"}));
}

TEST(LogRecords, ContainersHaveTheTime) {
  each_log_message("{\"log\":\"x\\n\",\"stream\":\"stderr\",\"time\":\"2024-03-01T10:00:00Z\"}",
                   [](const LogMessage& message) { EXPECT_EQ(message.wall_ns, 1709287200'000'000'000u); });
}

TEST(LogRecords, TablesAreRead) {
  EXPECT_EQ(messages_in(
                "\"5000.000110\",\"host\",\"kernel\",\"Mem-Info:\"\n\"5000.1\",\"h\",\"kernel\",\"a \"\"b\"\", c\"\n"),
            (Texts{"Mem-Info:", "a \"b\", c"}));
  EXPECT_EQ(messages_in("time,message,host\n5000.5,Mem-Info:,h\n5000.6,\"CPU 0: hi: 0, btch: 1\",h\n"),
            (Texts{"Mem-Info:", "CPU 0: hi: 0, btch: 1"}));
  each_log_message("\"5000.5\",\"Mem-Info:\"", [](const LogMessage& message) {
    EXPECT_EQ(message.text, "Mem-Info:");
    EXPECT_EQ(message.boot_ns, 5000'500'000'000u);
  });
}

TEST(LogRecords, QuotedPrintableMailIsDecoded) {
  EXPECT_EQ(messages_in("Node 0 DMA: 1*4kB 0*8k=\nB =3D 4kB\r\nFree swap  =3D 0kB\n"),
            (Texts{"Node 0 DMA: 1*4kB 0*8kB = 4kB", "Free swap  = 0kB"}));
  EXPECT_EQ(messages_in("Free swap  = 0kB\n"), (Texts{"Free swap  = 0kB"}));
}

// A part of a quoted-printable mail may contain no "=3D". Its "=" are then text, except at the ends of lines.
TEST(LogRecords, PartsOfQuotedPrintableMailAreJoined) {
  EXPECT_EQ(messages_in("> slab_unreclaimable:226=\n> 23\n> isolated_=\nfile:0\nhugepages_total=10\n"),
            (Texts{"slab_unreclaimable:22623", "isolated_file:0", "hugepages_total=10"}));
  EXPECT_EQ(messages_in("[ 1.0] 1*4kB =\n4kB\n[ 2.0] 1*8kB =\n8kB\n").front(), "1*4kB =");
}

TEST(LogRecords, StringsOfAJsonArrayAreRead) {
  EXPECT_EQ(messages_in("  \"Mem-Info:\",\n\"a \\\"b\\\", 1\",\n\t\"free:5\"\n"),
            (Texts{"Mem-Info:", "a \"b\", 1", "free:5"}));
}

TEST(LogRecords, LinesThatATerminalSplitAreJoined) {
  const std::string begin = "[  1.500000] " + std::string(60, 'a') + " 1*12";  // 78 columns
  EXPECT_EQ(messages_in(begin + "\n8kB\n" + begin + "\n 2kB\n" + begin + "\n3kB\n"),
            (Texts{std::string(60, 'a') + " 1*128kB", std::string(60, 'a') + " 1*12 2kB",
                   std::string(60, 'a') + " 1*123kB"}));
}

TEST(LogRecords, ABlankAtTheEndOfASplitLineIsKept) {
  const std::string begin = "[  1.500000] " + std::string(60, 'a') + " 12  ";  // 78 columns
  EXPECT_EQ(messages_in(begin + "\n34\n" + begin + "\n" + begin + "\n"),
            (Texts{std::string(60, 'a') + " 12 34", std::string(60, 'a') + " 12", std::string(60, 'a') + " 12"}));
}

TEST(LogRecords, AShortLineIsJoinedIfTheNextWordDidNotFit) {
  const std::string word = "gfp_mask=0x140dca(" + std::string(50, 'A') + "),";
  EXPECT_EQ(messages_in("[  1.500000] a invoked oom-killer:\n" + word + "\n"),
            (Texts{"a invoked oom-killer: " + word}));
  EXPECT_EQ(messages_in("[  1.500000] Mem-Info:\nshort\n"), (Texts{"Mem-Info:", "short"}));
}

TEST(LogRecords, HostsAreRead) {
  std::string hosts;
  each_log_message(
      "Mar  1 10:00:00 alpha kernel: x\n<4>1 2024-03-01T10:00:00Z beta kernel - - - x\n"
      "{\"_HOSTNAME\":\"gamma\",\"MESSAGE\":\"x\"}\n[  1.500000] delta kernel: x\n"
      "Mar  1 10:00:00 epsilon kern.info kernel: x\nMon Mar  6 11:02:33 2023 kern.err kernel: x\n",
      [&](const LogMessage& message) { hosts.append(message.host).append("|"); });
  EXPECT_EQ(hosts, "alpha|beta|gamma|delta|epsilon||");
}

TEST(LogRecords, NonBreakingBlanksAreBlanks) {
  EXPECT_EQ(messages_in("Node\xc2\xa0"
                        "0 x"),
            (Texts{"Node 0 x"}));
}

}  // namespace
}  // namespace kmt
