// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/wrapped.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "base/error.hpp"
#include "formats/registry.hpp"

namespace kmt::text {
namespace {

const std::string kText =
    "# tracer: nop\n"
    "#\n"
    "  loom-17 [001] ....  77.000010: kmalloc: call_site=f+0x1 ptr=0000000000001000 bytes_req=100 bytes_alloc=128 "
    "gfp_flags=GFP_KERNEL\n"
    "  loom-17 [001] ....  77.000020: 0: B|515|it's \"1 < 2\" \\ & more\n"
    "  loom-17 [001] ....  77.000030: tracing_mark_write: E\n";

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

std::string packed(const std::string& text, int level = Z_DEFAULT_COMPRESSION) {
  std::string out(compressBound(text.size()), '\0');
  uLongf size = out.size();
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                      text.size(), level),
            Z_OK);
  out.resize(size);
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(WrappedText, UnpacksAtrace) {
  for (const int level : {1, 6, 9})
    for (const char* const before : {"TRACE:\n", "capturing trace... done\nTRACE:\n", "TRACE:\r\n", ""}) {
      const auto found = unwrap(bytes_of(before + packed(kText, level)));
      ASSERT_TRUE(found) << before;
      EXPECT_EQ(found->text, kText);
      EXPECT_EQ(found->damage, "");
    }
}

TEST(WrappedText, UndoesTheLineEndsOfOldAdb) {
  std::string text = kText;
  for (std::size_t i = 0; packed(text).find('\n') == std::string::npos; ++i) text += std::string(1 + i % 7, 'x') + "\n";
  const auto found = unwrap(bytes_of("TRACE:\r\n" + replaced(packed(text), "\n", "\r\n")));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, text);
}

TEST(WrappedText, KeepsWhatIsIntact) {
  std::string text = kText;
  for (int i = 0; i < 500; ++i)
    text += "  loom-17 [001] ....  78.000" + std::to_string(100 + i) + ": tracing_mark_write: E\n";
  const std::string whole = "TRACE:\n" + packed(text);
  const auto cut = unwrap(bytes_of(whole.substr(0, whole.size() * 3 / 4)));
  ASSERT_TRUE(cut);
  EXPECT_TRUE(text.starts_with(cut->text));
  EXPECT_EQ(cut->damage, "the compressed text is cut off");
  const auto source = open_trace(TraceFile{"x", bytes_of(whole.substr(0, whole.size() * 3 / 4)), nullptr}, {});
  EXPECT_EQ(source->info().findings.count_of(Imperfection::truncated_file), 1u);
}

TEST(WrappedText, LeavesOtherFilesAlone) {
  EXPECT_FALSE(unwrap(bytes_of(kText)));
  EXPECT_FALSE(unwrap(bytes_of("TRACE:\n" + kText)));
  EXPECT_FALSE(unwrap(bytes_of("")));
  EXPECT_FALSE(unwrap(bytes_of("TRACE:\n" + packed("no trace"))));
}

TEST(WrappedText, FindsTheTextOfSystrace) {
  const std::string escaped = replaced(replaced(replaced(kText, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n\\\n");
  const std::string old =
      "<!DOCTYPE html>\n<script>f();</script><SCRIPT>\n  var linuxPerfData = \"\\\n" + escaped + "\";\n</SCRIPT>";
  const std::string recent =
      "\n<!doctype html><script>'use strict';</script>\r\n<script class=\"trace-data\" type=\"application/text\">\r\n" +
      replaced(kText, "\n", "\r\n") +
      "</script><script class=\"trace-data\" type=\"application/text\">{\"a\": 1}</script>";
  const std::string json = "<html><script>{\"traceEvents\": [], \"systemTraceEvents\": \"" +
                           replaced(replaced(replaced(kText, "\\", "\\u005c"), "\"", "\\x22"), "\n", "\\n") +
                           "\"}</script>";
  const std::string pre =
      "<html><pre>" + replaced(replaced(replaced(kText, "&", "&amp;"), "<", "&lt;"), "'", "&#39;") + "</pre></html>";
  for (const std::string& page : {old, recent, json, pre}) {
    const auto found = unwrap(bytes_of(page));
    ASSERT_TRUE(found);
    EXPECT_EQ(replaced(found->text, "\r", ""), kText);
  }
  const auto both = unwrap(bytes_of(old + recent));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->text.size(), 2 * kText.size() + 5);  // the lines of the second text end with CR LF
}

TEST(WrappedText, FindsTheTextInJsonOfChrome) {
  const std::string escaped = replaced(replaced(replaced(kText, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n");
  for (const std::string start : {"{\"traceEvents\": [], ", "\n{\"traceEvents\":[{\"ph\":\"M\"}],"}) {
    const auto found = unwrap(bytes_of(start + "\"systemTraceEvents\": \"" + escaped + "\"}\n"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->text, kText);
  }
  EXPECT_FALSE(unwrap(bytes_of("{\"traceEvents\": []}")));
}

TEST(WrappedText, AnEscapeMayBeCutOff) {
  const std::string page = "<html><script>linuxPerfData=\"\\u41";
  const std::vector<std::uint8_t> bytes(page.begin(), page.end());  // AddressSanitizer finds reads beyond its end
  EXPECT_THROW(unwrap(bytes), Error);
}

TEST(WrappedText, RefusesAPageWithoutATrace) {
  EXPECT_THROW(unwrap(bytes_of("<html><script>f();</script><pre>text</pre>")), Error);
  EXPECT_THROW(unwrap(bytes_of("<html><script")), Error);
  EXPECT_THROW(unwrap(bytes_of("<html><script>\"linuxPerfData\" = \"")), Error);
}

}  // namespace
}  // namespace kmt::text
