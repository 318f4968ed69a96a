// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/kallsyms_text.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace kmt {

namespace {

constexpr std::string_view kSymbols =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000010 t __pfx_kfree_bulk\n"
    "ffffffff81000020 t kfree_bulk\n"
    "ffffffffc0481000 t __pfx_brd_init\t[brd]\n"
    "ffffffffc0481010 t brd_init\t[brd]\n";

KallsymsText in_pieces(std::string_view text, std::size_t bytes) {
  return KallsymsText::in_columns([&text, bytes] {
    const std::string_view piece = text.substr(0, bytes);
    text.remove_prefix(piece.size());
    return piece;
  });
}

}  // namespace

TEST(KallsymsText, IsTheSameInColumns) {
  for (const std::size_t bytes : {1u, 7u, 53u, 4096u}) {
    const KallsymsText kallsyms = in_pieces(kSymbols, bytes);
    ASSERT_NE(kallsyms.columns(), nullptr);
    EXPECT_EQ(kallsyms.text(), kSymbols);
    EXPECT_EQ(kallsyms.columns()->text_bytes, kSymbols.size());
  }
}

TEST(KallsymsText, IsWrittenInPieces) {
  std::string text;
  while (text.size() < 200'000) text += kSymbols;  // more than one piece
  ASSERT_NE(KallsymsText::in_columns(text).columns(), nullptr);
  for (const KallsymsText& kallsyms : {KallsymsText(text), KallsymsText::in_columns(text), KallsymsText()}) {
    std::string written;
    std::size_t largest = 0;
    kallsyms.write_to([&](std::string_view piece) {
      written += piece;
      largest = std::max(largest, piece.size());
    });
    EXPECT_EQ(written, kallsyms.text());
    EXPECT_EQ(kallsyms.size(), written.size());
    if (kallsyms.columns() != nullptr) {
      EXPECT_LT(largest, 66'000u);
    }
  }
}

TEST(KallsymsText, KeepsATextOfAnotherForm) {
  for (const std::string_view last : {"ffffffff81000000 T no_end", "no symbol\nffffffff81000000 T after\n", "\n"}) {
    const std::string text = std::string(kSymbols) + std::string(last);
    for (const std::size_t bytes : {1u, 7u, 4096u}) {
      const KallsymsText kallsyms = in_pieces(text, bytes);
      EXPECT_EQ(kallsyms.columns(), nullptr);
      EXPECT_EQ(kallsyms.text(), text);
    }
  }
  EXPECT_TRUE(in_pieces("", 1).empty());
}

TEST(KallsymsText, AnswersTheSameWithAndWithoutColumns) {
  for (const KallsymsText& kallsyms : {in_pieces(kSymbols, 10), KallsymsText(std::string(kSymbols))}) {
    EXPECT_TRUE(kallsyms.has_function("kfree_bulk"));
    EXPECT_TRUE(kallsyms.has_function("fixed_percpu_data"));
    EXPECT_FALSE(kallsyms.has_function("kfree"));
    EXPECT_FALSE(kallsyms.has_function("bulk"));
    EXPECT_FALSE(kallsyms.has_function("brd_init"));
    EXPECT_EQ(kallsyms.kernel_text_address(), 0xffffffff81000000u);
    EXPECT_TRUE(kallsyms.has_addresses());
    EXPECT_EQ(kallsyms.in_front_of_modules(), kSymbols.find("ffffffff81000020"));
  }
}

TEST(KallsymsText, FindsTheLastLineIfNoModuleIsLoaded) {
  const std::string_view text = "0000000000000000 T _text\n0000000000000000 t last\n";
  for (const KallsymsText& kallsyms : {in_pieces(text, 10), KallsymsText(std::string(text))}) {
    EXPECT_EQ(kallsyms.in_front_of_modules(), text.find("\n") + 1);
    EXPECT_FALSE(kallsyms.has_addresses());
    EXPECT_EQ(kallsyms.kernel_text_address(), std::nullopt);
  }
}

TEST(KallsymsText, HiddenAddressesAreDetected) {
  EXPECT_FALSE(has_addresses("0000000000000000 T first\n0000000000000000 t second\n"));
  EXPECT_TRUE(has_addresses("0000000000000000 A per_cpu\nffffffff81000000 T _text\n"));
  EXPECT_FALSE(has_addresses(""));
}

}  // namespace kmt
