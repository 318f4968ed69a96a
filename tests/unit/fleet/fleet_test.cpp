// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the rows and the SQL that are sent to the server of a fleet, byte by byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/support/parse_time.hpp"
#include "fleet/answer.hpp"
#include "fleet/clickhouse.hpp"
#include "fleet/row_binary.hpp"
#include "fleet/sql_text.hpp"
#include "fleet/trace_id.hpp"
#include "results/fleet/fleet.hpp"
#include "views/text/fleet.hpp"

namespace kmt {
namespace {

using namespace std::string_literals;

TEST(SqlText, QuotesAnyText) {
  EXPECT_EQ(sql_string("kmalloc-96"), "'kmalloc-96'");
  EXPECT_EQ(sql_string("it's"), R"('it\'s')");
  EXPECT_EQ(sql_string(R"(\' OR 1=1 --)"), R"('\\\' OR 1=1 --')");
  EXPECT_EQ(sql_string("a\0b"s), R"('a\0b')");
  EXPECT_EQ(sql_string("line\n\"`"), "'line\n\"`'");
  EXPECT_EQ(sql_name("a`b\\"), R"(`a\`b\\`)");
}

TEST(SqlText, GlobsBecomeLike) {
  EXPECT_EQ(sql_like("host", "web*"), "host LIKE 'web%'");
  EXPECT_EQ(sql_like("host", "web?"), "host LIKE 'web_'");
  // Special characters of LIKE must be matched literally. They are escaped once for LIKE and once for the string.
  EXPECT_EQ(sql_like("host", "100%_"), R"(host LIKE '100\\%\\_')");
  EXPECT_EQ(sql_like("host", R"(a\*)"), R"(host LIKE 'a\\\\%')");
  EXPECT_EQ(sql_like("host", "x' OR '1'='1"), R"(host LIKE 'x\' OR \'1\'=\'1')");
}

TEST(SqlText, FillsPlacesOnce) {
  EXPECT_EQ(fill_sql("-- {a comment}\nSELECT {a}, {b}\n", {{"a", "{b}"}, {"b", "2"}}), "SELECT {b}, 2\n\n");
  EXPECT_THROW(fill_sql("SELECT {c}", {{"a", "1"}}), Error);
  EXPECT_EQ(statements_of("CREATE x (\n a Int8\n);\n\nCREATE y;\n"),
            (std::vector<std::string>{"CREATE x (\n a Int8\n)", "CREATE y"}));
}

TEST(RowBinary, IsLittleEndianWithLengthsFirst) {
  RowBinary row;
  row.number(std::uint16_t{0x0102}).number(std::int32_t{-2}).text("ab").text("").number(1.0);
  EXPECT_EQ(row.bytes(),
            "\x02\x01\xfe\xff\xff\xff\x02"
            "ab\0\0\0\0\0\0\0\xf0\x3f"s);
}

TEST(RowBinary, NullsHaveAMarkAndNoValue) {
  RowBinary row;
  row.maybe<std::uint8_t>(std::optional<unsigned>(3)).maybe<std::uint64_t>(std::optional<std::uint64_t>());
  EXPECT_EQ(row.bytes(), "\x00\x03\x01"s);
}

TEST(RowBinary, LengthsAreVarints) {
  RowBinary row;
  row.text(std::string(300, 'x'));
  EXPECT_EQ(row.bytes().substr(0, 3), "\xac\x02x");
  EXPECT_EQ(row.take().size(), 302u);
  EXPECT_TRUE(row.bytes().empty());
}

TEST(TraceId, DistinguishesPartsOfATrace) {
  const auto id_of = [](std::initializer_list<std::string_view> parts) {
    TraceId id;
    for (const std::string_view part : parts) id.add(part);
    return id.text();
  };
  EXPECT_EQ(id_of({"ab", "c"}).size(), 32u);
  EXPECT_EQ(id_of({"ab", "c"}), id_of({"ab", "c"}));
  EXPECT_NE(id_of({"ab", "c"}), id_of({"a", "bc"}));
  EXPECT_NE(id_of({}), id_of({""}));
}

TEST(ServerAddress, ComesFromAUrl) {
  const ServerAddress plain = parse_server("http://db1:8123");
  EXPECT_EQ(plain.http.base, "http://db1:8123");
  EXPECT_EQ(plain.database, "kmemtrace");
  const ServerAddress full = parse_server("https://me:p%40ss@[::1]:8443/other/");
  EXPECT_EQ(full.http.base, "https://[::1]:8443");
  EXPECT_EQ(full.http.user, "me");
  EXPECT_EQ(full.http.password, "p@ss");
  EXPECT_EQ(full.database, "other");
  for (const char* const bad : {"", "db1:8123", "file:///etc/passwd", "ftp://db1/", "http://",
                                "http://db1:8123/?database=other", "http://db1:8123/other#1"})
    EXPECT_THROW(parse_server(bad), Error) << bad;
}

TEST(ParseUtc, TakesDaysAndTimes) {
  EXPECT_EQ(parse_utc("1970-01-02"), 86'400u);
  EXPECT_EQ(parse_utc("2026-11-21T12:13:14Z"), 1'795'263'194u);
  EXPECT_EQ(parse_utc("2026-11-21T12:13"), parse_utc("2026-11-21T12:13:00Z"));
  for (const char* const bad :
       {"", "yesterday", "2026-13-01", "2026-11-21 x", "1969-01-01", "2300-01-01", "2026-11-31", "2026-02-29",
        "2100-02-29T10:00", "2026-02-30T10:00:00Z", "2026-11-21T10:00:60Z", "2026-11-21T10:00:61Z", "2026-11-21T10:60"})
    EXPECT_THROW(parse_utc(bad), Error) << bad;
  EXPECT_EQ(parse_utc("2028-03-01") - parse_utc("2028-02-29"), 86'400u);
}

std::string why_not(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Whatever a server answers, the result is rows or the text of an error.
TEST(Answer, IsRowsOrAnError) {
  const auto rows = rows_of_answer(R"({"meta": [], "data": [["slab", 1], []], "rows": 2})");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].size(), 2u);
  EXPECT_TRUE(rows_of_answer(R"({"data": []})").empty());
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& bad :
       {""s, "Code: 47"s, "null"s, "[]"s, "7"s, R"("data")"s, "{}"s, R"({"data": null})"s, R"({"data": {}})"s,
        R"({"data": "rows"})"s, R"({"data": [1]})"s, R"({"data": [[1], {"a": 1}]})"s, R"({"data": [["slab", 1])"s,
        R"({"data": [["a)"s, R"({"data": [[1e999]]})"s, "{\"data\": [[\"\xff\"]]}"s, "{\"data\": [[\"a\0\"]]}"s, deep,
        "<html>\n\x1b[2Jbad gateway</html>"s})
    EXPECT_NE(why_not([&] { rows_of_answer(bad); }).find("is not a JSON table"), std::string::npos)
        << bad.substr(0, 80);
  const auto cell = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(rows_of_answer("{\"data\": [[" + cell(5) + "]]}").size(), 1u);
  for (const std::size_t depth : {7u, 1'000'000u})
    EXPECT_NE(
        why_not([&] { rows_of_answer("{\"data\": [[\"slab\", " + cell(depth) + "]]}"); }).find("is not a JSON table"),
        std::string::npos)
        << depth;
  const std::string hostile = why_not([] { rows_of_answer("\x1b[2J" + std::string(1 << 20, 'x')); });
  EXPECT_EQ(hostile.find('\x1b'), std::string::npos);
  EXPECT_LT(hostile.size(), 1000u);
}

TEST(Answer, ValidCellsAreRead) {
  const nlohmann::json row = nlohmann::json::parse(
      R"(["slab", ["6.1", "5.10"], 18446744073709551615, -5, -9223372036854775808, 4294967295, 0.5, null, 7, "a"])");
  AnswerCells cells(row);
  EXPECT_EQ(cells.allocator(), Allocator::slab);
  EXPECT_EQ(cells.texts(), (std::vector<std::string>{"6.1", "5.10"}));
  EXPECT_EQ(cells.count(), ~std::uint64_t{0});
  EXPECT_EQ(cells.count(), 0u);  // more was freed than allocated
  EXPECT_EQ(cells.number(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(cells.number_32(), 0xffffffffu);
  EXPECT_EQ(cells.decimal(), 0.5);
  EXPECT_EQ(cells.decimal(), std::nullopt);
  EXPECT_EQ(cells.decimal(), 7.0);
  EXPECT_EQ(cells.text(), "a");
  EXPECT_NE(why_not([&] { cells.text(); }).find("too few columns: 10"), std::string::npos);
  const nlohmann::json quoted = nlohmann::json::parse(R"(["18446744073709551615", "-5", "-9223372036854775808"])");
  AnswerCells texts(quoted);
  EXPECT_EQ(texts.count(), ~std::uint64_t{0});
  EXPECT_EQ(texts.count(), 0u);
  EXPECT_EQ(texts.number(), std::numeric_limits<std::int64_t>::min());
}

TEST(Answer, InvalidCellsAreErrors) {
  using Read = void (*)(AnswerCells&);
  const Read text = [](AnswerCells& cells) { (void)cells.text(); };
  const Read texts = [](AnswerCells& cells) { (void)cells.texts(); };
  const Read count = [](AnswerCells& cells) { (void)cells.count(); };
  const Read number = [](AnswerCells& cells) { (void)cells.number(); };
  const Read number_32 = [](AnswerCells& cells) { (void)cells.number_32(); };
  const Read decimal = [](AnswerCells& cells) { (void)cells.decimal(); };
  const Read allocator = [](AnswerCells& cells) { (void)cells.allocator(); };
  const std::vector<std::pair<Read, std::vector<const char*>>> refused = {
      {text, {"1", "null", "[]", "{}", "true"}},
      {texts, {"1", "\"a\"", "[1]", "[[\"a\"]]", "{}"}},
      {count, {"\"a\"", "\"\"", "\"1.5\"", "\"[1]\"", "1.5", "1e30", "null", "[]", "99999999999999999999"}},
      {number, {"\"1e3\"", "9223372036854775808", "\"9223372036854775808\"", "-0.5", "null"}},
      {number_32, {"4294967296", "-1", "0.5", "\"-1\""}},
      {decimal, {"\"nan\"", "[]", "true"}},
      {allocator, {"\"slub\"", "\"\"", "1"}},
  };
  for (const auto& [read, values] : refused)
    for (const char* const value : values) {
      const nlohmann::json row = nlohmann::json::array({nlohmann::json::parse(value)});
      EXPECT_NE(why_not([&, reading = read] {
                  AnswerCells cells(row);
                  reading(cells);
                }),
                "")
          << value;
    }
  const nlohmann::json hostile = nlohmann::json::array({std::string("\x1b[2J\xff") + std::string(1 << 20, 'x')});
  AnswerCells cells(hostile);
  const std::string why = why_not([&] { cells.allocator(); });
  EXPECT_EQ(why.find('\x1b'), std::string::npos);
  EXPECT_LT(why.size(), 1000u);
  nlohmann::json array = nlohmann::json::array({nlohmann::json::array({hostile})});
  EXPECT_NE(why_not([&] { (void)AnswerCells(array).text(); }).find("an array in column 1"), std::string::npos);
}

FleetRow row_of(const std::string& function, std::uint64_t allocations, std::uint64_t bytes) {
  FleetRow row;
  row.keys = {function};
  row.name = function;
  row.hosts = row.traces = 2;
  row.sums.allocations = allocations;
  row.sums.bytes_allocated = row.sums.bytes_requested = bytes;
  return row;
}

const FleetKeyInfo* key_named(std::string_view name) {
  return &*std::ranges::find(fleet_keys(), name, &FleetKeyInfo::name);
}

// As in a report on one trace, one row has the sums of the rows that are not shown, and another row has the total.
// Numbers of hosts are not added.
TEST(FleetText, ReportsAddUp) {
  const FleetReport report{{},
                           {key_named("function")},
                           {{Allocator::slab, {row_of("b", 20, 2000), row_of("c", 3, 300), row_of("a", 1, 10)}}}};
  FleetOptions options;
  options.sort_report = &*std::ranges::find(fleet_columns(), "hits", &Column<FleetRow>::key);
  options.limit = 1;
  const std::string text = text_fleet(report, options, {200, false, true});
  EXPECT_NE(text.find("Slab by function, ordered by Hits, 1 of 3\n"), std::string::npos) << text;
  const auto line_of = [&](const std::string& name) {
    const std::size_t at = text.find("\n  " + name + " ");
    std::string line = at == std::string::npos ? "" : text.substr(at + 3, text.find('\n', at + 1) - at - 3);
    for (std::size_t gap = 0; (gap = line.find("  ")) != std::string::npos;) line.erase(gap, 1);
    return line;
  };
  EXPECT_TRUE(line_of("b").starts_with("b 2 2 20 2000 2000 ")) << text;
  EXPECT_TRUE(line_of("(2 more)").starts_with("(2 more) - - 4 310 310 ")) << text;
  EXPECT_TRUE(line_of("total").starts_with("total - - 24 2310 2310 ")) << text;
  options.limit = 0;
  const std::string all = text_fleet(report, options, {200, false, true});
  EXPECT_NE(all.find("Slab by function, ordered by Hits, all 3\n"), std::string::npos) << all;
  EXPECT_EQ(all.find(" more)"), std::string::npos) << all;
}

TEST(FleetText, TracesKeepTheirTimesWhole) {
  FleetTraceRow trace{"0123456789abcdef0123456789abcdef",   "web1", "6.1.0-56-cloud-amd64", "x86_64", "aggregates",
                      "/var/lib/traces/of/a/long/name.kmt", "kmt"};
  trace.began = 1'795'263'194;
  trace.recorded_ns = 123'000'000'000;
  trace.events = 1'234'567;
  const FleetTraces traces{{}, {trace}};
  for (const unsigned width : {80u, 120u, 200u}) {
    const std::string text = text_fleet(traces, {}, {width, false, false});
    EXPECT_NE(text.find("  2026-11-21T12:13:14Z  web1"), std::string::npos) << text;
  }
  const std::string text = text_fleet(traces, {}, {150, false, false});
  EXPECT_NE(text.find("name.kmt"), std::string::npos) << text;
  EXPECT_EQ(text.find(trace.trace), std::string::npos) << text;
}

TEST(Docs, ManualNamesEveryKeyOfAFleet) {
  const std::string text = read_file(std::string(KMEMTRACE_DOCS) + "/man/kmemtrace-fleet.1.scd");
  for (const FleetKeyInfo& key : fleet_keys())
    EXPECT_NE(text.find(fmt::format("*{}*", key.name)), std::string::npos) << key.name;
}

}  // namespace
}  // namespace kmt
