// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the reader of the files events/SYSTEM/EVENT/hist.
#include <string>

#include <gtest/gtest.h>

#include "formats/text/histogram.hpp"

namespace kmt::text {
namespace {

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

const std::string kText =
    "# event histogram\n#\n"
    "# trigger info: hist:keys=call_site.sym,common_pid.execname:vals=bytes_req:sort=bytes_req:size=2048 "
    "[active]\n#\n\n"
    "{ call_site: [ffffffff8134b9c0] alloc_fdtable        , common_pid: bash            [       812] } "
    "hitcount:       1676  bytes_req:      33520\n"
    "{ call_site: [ffffffff81a2c110] __alloc_skb          , common_pid: a: b            [         7] } "
    "hitcount:        485  bytes_req:      27160\n"
    "\nTotals:\n    Hits: 2161\n    Entries: 2\n    Dropped: 3\n";

TEST(Histogram, HasRowsAndTotals) {
  ASSERT_TRUE(is_histogram(bytes_of(kText)));
  const auto all = read_histograms(bytes_of(kText));
  ASSERT_EQ(all.size(), 1u);
  const Histogram& one = all[0];
  EXPECT_TRUE(one.trigger.starts_with("hist:keys=call_site.sym"));
  EXPECT_EQ(one.keys, (std::vector<std::string>{"call_site", "common_pid"}));
  EXPECT_EQ(one.values, (std::vector<std::string>{"hitcount", "bytes_req"}));
  ASSERT_EQ(one.rows.size(), 2u);
  EXPECT_EQ(one.rows[0].keys, (std::vector<std::string>{"alloc_fdtable", "bash [812]"}));
  EXPECT_EQ(one.rows[0].values[1], 33520u);
  EXPECT_EQ(one.hits, 2161u);
  EXPECT_EQ(one.entries, 2u);
  EXPECT_EQ(one.dropped, 3u);
  EXPECT_EQ(sums_of(one)[1], 60680u);
}

TEST(Histogram, ALastRowMayBeCut) {
  const std::string rows = kText.substr(0, kText.find("\nTotals"));
  EXPECT_EQ(read_histograms(bytes_of(rows))[0].rows.size(), 2u);
  EXPECT_EQ(read_histograms(bytes_of(rows.substr(0, rows.size() - 1)))[0].rows.size(), 2u);  // without line break
  const auto cut = read_histograms(bytes_of(rows.substr(0, rows.size() - 3)));
  EXPECT_EQ(cut[0].rows.size(), 1u);
  EXPECT_EQ(cut[0].unreadable_rows, 1u);
  EXPECT_EQ(read_histograms(bytes_of("{ call_site: 1 } hitcount: x\n")).at(0).unreadable_rows, 1u);
}

// Each stack has a line for each function. Addresses may be decimal. An event may have several triggers.
TEST(Histogram, OtherKeysAndValues) {
  const auto all = read_histograms(bytes_of(
      "# trigger info: hist:keys=stacktrace:vals=bytes_req [active]\n"
      "{ stacktrace:\n         __kmalloc+0x11b/0x1b0\n         seq_buf_alloc+0x1b/0x50\n} hitcount: 3 bytes_req: 9\n"
      "Totals:\n    Hits: 3\n"
      "# trigger info: hist:keys=call_site:vals=bytes_req [active]\n"
      "{ call_site: 18446744072106379007 } hitcount:          1  bytes_req:        176\n"
      "{ call_site: damaged\n{ call_site: 1 } hitcount: x\n"));
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(all[0].rows.size(), 1u);
  EXPECT_EQ(all[0].rows[0].keys[0], "__kmalloc+0x11b/0x1b0 < seq_buf_alloc+0x1b/0x50");
  ASSERT_EQ(all[1].rows.size(), 1u);
  EXPECT_EQ(all[1].rows[0].keys[0], "0xffffffffa07186ff");
  EXPECT_EQ(all[1].unreadable_rows, 1u);
  EXPECT_FALSE(all[1].hits);
}

// The modifiers .percent, .graph and .hex of values (Linux 6.3 and later).
TEST(Histogram, ValuesMayBePercentagesAndHex) {
  const auto all = read_histograms(bytes_of(
      "# trigger info: hist:keys=call_site.sym:vals=hitcount,hitcount.percent,bytes_req.hex,bytes_alloc.graph "
      "[active]\n"
      "{ call_site: [ffffffff8134b9c0] f } hitcount:  3  hitcount (%):  75.00  bytes_req: 1a0  bytes_alloc: ####    \n"
      "{ call_site: [ffffffff8134b9d0] g } hitcount:  1  hitcount (%):  25.00  bytes_req:  10  bytes_alloc: #       "
      "\n"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].values, (std::vector<std::string>{"hitcount", "hitcount (%)", "bytes_req", "bytes_alloc"}));
  ASSERT_EQ(all[0].rows.size(), 2u);
  EXPECT_EQ(all[0].rows[0].values[1], 7500u);
  EXPECT_EQ(all[0].rows[0].values[2], 0x1A0u);
  EXPECT_EQ(all[0].rows[1].values[2], 0x10u);
  EXPECT_FALSE(all[0].rows[0].values[3]);
  EXPECT_EQ(sums_of(all[0])[1], 10000u);
}

// A modifier such as .hex changes the number base of a value only if it follows the value's name after "vals=".
TEST(Histogram, TheBaseOfAKeyIsNotThatOfAValue) {
  for (const char* const trigger :
       {"hist:keys=call_site:vals=bytes_req:sort=bytes_req.hex", "hist:keys=bytes_req.hex"}) {
    const auto all = read_histograms(bytes_of("# trigger info: " + std::string(trigger) +
                                              " [active]\n{ call_site: 1 } hitcount:  3  bytes_req: 10\n"));
    EXPECT_EQ(all.at(0).rows.at(0).values[1], 10u) << trigger;
  }
}

TEST(Histogram, RowsMayDifferFromTotals) {
  const auto difference = [](const std::string& text) {
    return difference_from_totals(read_histograms(bytes_of(text))[0]);
  };
  EXPECT_FALSE(difference(kText).entries);
  EXPECT_FALSE(difference(kText).hits);
  std::string without_row = kText;
  without_row.erase(without_row.find("{ call_site: [ffffffff81a"),
                    without_row.find("\nTotals") - without_row.find("{ call_site: [ffffffff81a"));
  EXPECT_TRUE(difference(without_row).entries);
  EXPECT_TRUE(difference(without_row).hits);
  std::string damaged = kText;
  damaged.replace(damaged.find("1676"), 4, "1677");
  EXPECT_FALSE(difference(damaged).entries);
  EXPECT_TRUE(difference(damaged).hits);
  EXPECT_FALSE(difference(kText.substr(0, kText.find("\nTotals"))).hits) << "the totals are unknown";
}

TEST(Histogram, MailsAndWebPagesChangeTheText) {
  std::string quoted = "> " + kText;
  for (std::size_t at = quoted.find('\n'); at + 1 < quoted.size(); at = quoted.find('\n', at + 2))
    quoted.replace(at, 1, "\r\n> ");
  ASSERT_TRUE(is_histogram(bytes_of(quoted)));
  const auto all = read_histograms(bytes_of(quoted));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].rows.size(), 2u);
  EXPECT_EQ(all[0].hits, 2161u);
  const auto blanks = read_histograms(bytes_of("\xC2\xA0{ call_site:\xC2\xA0&lt;f&gt; } hitcount:\xC2\xA0 3\n"));
  ASSERT_EQ(blanks.at(0).rows.size(), 1u);
  EXPECT_EQ(blanks[0].rows[0].keys[0], "<f>");
  EXPECT_EQ(blanks[0].rows[0].values[0], 3u);
}

// The kernel may print hits as bars. A bar shows only a share, so the number of hits is unknown. A bar may be empty.
TEST(Histogram, BarsAreUnknownValues) {
  const std::string rows =
      "{ bytes_req: ~ 0-255 } hitcount: ####                  bytes_alloc:      2000\n"
      "{ bytes_req: ~ 256-511 } hitcount: ##########            bytes_alloc:      4000\n";
  const auto expect = [](const std::string& text, std::size_t count) {
    const auto found = read_histograms({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].unreadable_rows, 0u);
    ASSERT_EQ(found[0].rows.size(), count);
    EXPECT_FALSE(found[0].rows[0].values[0]);
    EXPECT_EQ(found[0].rows[0].values[1], 2000u);
  };
  expect(rows, 2);
  expect("# trigger info: hist:keys=bytes_req.buckets=256:vals=hitcount.graph,bytes_alloc:sort=bytes_req [active]\n" +
             rows + "{ bytes_req: ~ 512-767 } hitcount:                       bytes_alloc:       600\n",
         3);
}

TEST(Histogram, RowsThatMailsWrappedAreJoined) {
  const auto found = read_histograms(
      bytes_of("{ call_site: [ffffffff8134b9c0] f } hitcount:          3\nbytes_req:        144\n"
               "{ call_site: [ffffffff8134b9c1] g } hitcount:\n5  bytes_req:        240\n\nTotals:\n    Hits: 8\n"));
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].rows.size(), 2u);
  EXPECT_EQ(found[0].rows[0].values[1], 144u);
  EXPECT_EQ(found[0].rows[1].values[0], 5u);
  EXPECT_EQ(found[0].rows[1].values[1], 240u);
  EXPECT_EQ(found[0].hits, 8u);
  // If a line is cut within a number, no value may be read from the parts of the number.
  const auto cut =
      read_histograms(bytes_of("{ call_site: f } hitcount: 3  bytes_req: 144\n"
                               "{ call_site: g } hitcount: 1\n2  bytes_req: 240\n"));
  EXPECT_EQ(cut.at(0).rows.size(), 1u);
  EXPECT_EQ(cut.at(0).unreadable_rows, 1u);
}

TEST(Histogram, OtherTextIsNone) {
  for (const char* const other : {"", "# tracer: nop\n", "{ \"a\": 1 }\n", "# trigger info: snapshot\n"})
    EXPECT_FALSE(is_histogram(bytes_of(other))) << other;
}

}  // namespace
}  // namespace kmt::text
