// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that facts stated in the documents agree with the code.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/file.hpp"
#include "results/calls/graph.hpp"
#include "results/columns.hpp"
#include "results/report/leaks.hpp"
#include "results/report/pages_columns.hpp"
#include "trace/code/code_owner.hpp"
#include "trace/code/untraced_paths.hpp"
#include "trace/code/wrappers.hpp"
#include "trace/imperfections.hpp"

namespace kmt {
namespace {

std::string document(const std::string& name) { return read_file(std::string(KMEMTRACE_DOCS) + "/" + name); }

TEST(Docs, ImperfectionsEqualTheTable) {
  const std::string text = document("imperfections.md");
  std::size_t rows = 0;
  for (std::size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) ++rows;
  EXPECT_EQ(rows, kImperfections.size());
  for (const ImperfectionText& kind : kImperfections) {
    const std::string row = fmt::format("\n| `{}` | {} | {} | ", kind.id, to_string(kind.severity), kind.sentence);
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(Docs, CommandsForSeriesNameTheirFile) {
  for (const char* const name : {"faq.md", "peers.md", "tutorial.md", "man/kmemtrace-snapshot.1.scd", "../README.md"}) {
    const std::string text = document(name);
    constexpr std::string_view kCommand = "kmemtrace snapshot --every 1";
    for (std::size_t at = text.find(kCommand); at != std::string::npos; at = text.find(kCommand, at + 1)) {
      const std::string command = text.substr(at, text.find_first_of("`\n", at) - at);
      EXPECT_NE(command.find(" -o "), std::string::npos) << name << ": " << command;
    }
  }
}

TEST(Docs, WrappersEqualTheList) {
  const std::string text = document("wrappers.md");
  std::string rows;
  for (std::size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1))
    rows += text.substr(at, text.find('\n', at + 1) - at);
  std::string expected;
  const WrapperList list = WrapperList::built_in();
  for (const WrapperList::Entry& entry : list.entries())
    expected += fmt::format("\n| `{}` | {} |", entry.glob, entry.why);
  EXPECT_EQ(rows, expected);
}

TEST(Docs, SubsystemsEqualTheTable) {
  const std::string text = document("modules.md");
  std::string rows;
  for (const Subsystem& subsystem : subsystems())
    rows += fmt::format("| `{}` | {} |\n", subsystem.directory, subsystem.name);
  EXPECT_TRUE(text.ends_with("| directory | subsystem |\n|---|---|\n" + rows));
}

TEST(Docs, ManualNamesEverySortKey) {
  const std::string text = document("man/kmemtrace-report.1.scd");
  for (const auto& column : group_columns())
    EXPECT_NE(text.find(fmt::format("*{}*", column.key)), std::string::npos) << column.key;
  const std::string pages = document("man/kmemtrace-pages.1.scd");
  for (const auto& column : page_task_columns())
    EXPECT_NE(pages.find(fmt::format("\n*{}*\n", column.key)), std::string::npos) << column.key;
}

// After a change of the table, the test prints the rows for the document.
TEST(Docs, UntracedPathsEqualTheTable) {
  const std::string text = document("untraced-paths.md");
  std::string rows;
  for (std::size_t at = text.find("\n| "); at != std::string::npos; at = text.find("\n| ", at + 1))
    if (!text.substr(at).starts_with("\n| missing")) rows += text.substr(at, text.find('\n', at + 1) - at);
  const auto code = [](std::string_view name, const char* none) {
    return name.empty() ? std::string(none) : fmt::format("`{}`", name);
  };
  std::string expected;
  for (const UntracedPath& path : untraced_paths()) {
    const std::string until =
        path.until == KernelVersion{} ? std::string("today") : fmt::format("{}.{}", path.until.major, path.until.minor);
    expected += fmt::format("\n| {} | {} | {} | {}.{} to {} | {} | {} |", path.frees ? "frees" : "allocations",
                            code(path.cache, path.of_pages ? "pages" : "any"), code(path.call_site, "any"),
                            path.from.major, path.from.minor, until, path.sentence, code(path.probe, "none"));
  }
  EXPECT_EQ(rows, expected);
}

TEST(Docs, ManualNamesEveryColumnOfGraph) {
  const std::string text = document("man/kmemtrace-graph.1.scd");
  for (const auto& column : graph_function_columns())
    EXPECT_NE(text.find(fmt::format("\n*{}*\n", column.key)), std::string::npos) << column.key;
}

TEST(Docs, EveryVerdictOfLeaksIsDescribed) {
  const std::string manual = document("man/kmemtrace-leaks.1.scd");
  const std::string json = document("formats/leaks-json.md");
  for (const LeakVerdictText& verdict : leak_verdicts()) {
    EXPECT_NE(manual.find(fmt::format("*{}*", verdict.id)), std::string::npos) << verdict.id;
    EXPECT_NE(json.find(fmt::format("`{}`", verdict.id)), std::string::npos) << verdict.id;
  }
}

TEST(Docs, ManualNamesEveryColumnOfLeaks) {
  const std::string text = document("man/kmemtrace-leaks.1.scd");
  for (const auto& column : leak_columns())
    EXPECT_NE(text.find(fmt::format("*{}*", column.key)), std::string::npos) << column.key;
}

}  // namespace
}  // namespace kmt
