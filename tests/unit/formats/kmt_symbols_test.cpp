// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/symbols.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/kmt/payload.hpp"

namespace kmt::kmt_format {

namespace {

Payload payload_of(std::uint64_t digits, std::string_view types, const Payload& addresses, std::string_view names) {
  Payload out;
  append_varint(out, digits);
  append_text(out, types);
  append_text(out, {reinterpret_cast<const char*>(addresses.data()), addresses.size()});
  append_text(out, names);
  return out;
}

// Empty if the text has no columns.
std::optional<Payload> encoded(std::string_view text) {
  const KallsymsText kallsyms = KallsymsText::in_columns(text);
  const SymbolColumns* const symbols = kallsyms.columns();
  if (symbols == nullptr) return std::nullopt;
  Payload whole = encode_symbols_head(*symbols);
  whole.insert(whole.end(), symbols->names.begin(), symbols->names.end());
  return whole;
}

void expect_restored(const std::string& text) {
  const auto columns = encoded(text);
  ASSERT_TRUE(columns) << text;
  EXPECT_EQ(decode_symbols(*columns), text);
}

void expect_other_form(const std::string& text) { EXPECT_FALSE(encoded(text)) << text; }

}  // namespace

TEST(KmtSymbols, AreEncodedAsDocumented) {
  // 0x1000, 0x1010 (0x10 later: zigzag 0x20), 0xff0 (0x20 earlier: zigzag 0x3f)
  const Payload expected = payload_of(4, std::string("T\xf4t"), {0x80, 0x40, 0x20, 0x3f}, "start\nwork\t[mod]\n");
  EXPECT_EQ(encoded("1000 T start\n1010 t __pfx_work\t[mod]\n0ff0 t work\t[mod]\n"), expected);
  EXPECT_EQ(decode_symbols(expected), "1000 T start\n1010 t __pfx_work\t[mod]\n0ff0 t work\t[mod]\n");
}

TEST(KmtSymbols, AreRestored) {
  expect_restored("0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\nffffffff81000000 T _text\n");
  expect_restored("ffffffffffffffff t last\n0000000000000000 t first\nffffffffffffffff t last\n");
  expect_restored("c0008000 T stext\nc0008000 T _text\nbf000000 t init\t[brd]\n");
  expect_restored("0000 t \n0000 t  a name with blanks \n");
  // padding of padding, and padding without a function
  expect_restored("10 t __pfx___pfx_a\n11 t __pfx_a\n12 t a\n13 t __pfx_b\n14 t c\n15 t __pfx_c\n");
  expect_restored("10 t __pfx_\n11 t \n");
}

TEST(KmtSymbols, OtherTextsAreNotEncoded) {
  expect_other_form("");
  expect_other_form("ffffffff81000000 T _stext");  // no end of line
  expect_other_form("ffffffff81000000 T _stext\n\n");
  expect_other_form("ffffffff81000000 T _stext\nfff T short\n");
  expect_other_form("FFFFFFFF81000000 T _stext\n");
  expect_other_form("ffffffff81000000  T_stext\n");
  expect_other_form("ffffffff81000000 \xc1 _stext\n");
  expect_other_form("ffffffff81000000T _stext\n");
  expect_other_form("00000000000000000 T _stext\n");  // 17 digits
}

TEST(KmtSymbols, DamagedColumnsAreRefused) {
  const auto expect_refused = [](const Payload& payload) { EXPECT_THROW(decode_symbols(payload), Error); };
  expect_refused({});
  expect_refused(payload_of(0, "t", {0}, "a\n"));
  expect_refused(payload_of(17, "t", {0}, "a\n"));
  expect_refused(payload_of(2, "t", {0x80, 0x04}, "a\n"));  // address 0x100
  expect_refused(payload_of(4, "tt", {0}, "a\nb\n"));       // too few addresses
  expect_refused(payload_of(4, "t", {0, 0}, "a\n"));
  expect_refused(payload_of(4, "tt", {0, 0}, "a\n"));  // too few names
  expect_refused(payload_of(4, "t", {0}, "a\nb\n"));
  expect_refused(payload_of(4, "t", {0}, "a"));
  expect_refused(payload_of(4, "\xf4", {0}, "a\n"));             // padding without a next symbol
  expect_refused(payload_of(4, "\xf4\xf4t", {0, 0, 0}, "a\n"));  // the name of padding is unknown
  EXPECT_EQ(decode_symbols(payload_of(4, "", {}, "")), "");
}

TEST(KmtSymbols, LimitTheSizeOfTheText) {
  // Each of these symbols has 3 bytes in the columns, and 20 bytes in the text.
  const std::size_t symbols = (64u << 20) / 20 + 1;
  const std::string types(symbols, 't');
  const std::string names(symbols, '\n');
  EXPECT_THROW(decode_symbols(payload_of(16, types, Payload(symbols), names)), Error);
}

}  // namespace kmt::kmt_format
