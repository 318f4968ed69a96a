// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/metadata_checks.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"

namespace kmt::ctf {

namespace {

Error cut_off(std::uint64_t packet, std::uint64_t needed, std::uint64_t there) {
  return Error(fmt::format("The trace's metadata is cut off: a packet has only {} of its {} bytes", there, needed))
      .at({{}, {}, packet})
      .hint("The events cannot be decoded without complete metadata: copy the trace again");
}

// Counts the members of structures in metadata, which may come in pieces. Skips strings and comments, which have the
// syntax of C (CTF 1.8.3, appendix C).
class MemberCount {
 public:
  // Counts the members in a text. `offset` is the position of the text in the file, in bytes.
  void add(Bytes text, std::uint64_t offset) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (is_code(static_cast<char>(text[i]))) take(static_cast<char>(text[i]), offset + i);
  }

 private:
  enum class In : std::uint8_t { code, text, character, comment, line_comment };
  // Maximum number of members of a structure. Events of Linux and lttng-modules have fewer than 100 members, and their
  // enumerations have fewer than 1,000.
  static constexpr std::size_t kMost = 2048;
  // Maximum number of members in total, because libbabeltrace2 needs up to 7 KiB of memory for each. All events of
  // lttng-modules 2.13 together have about 12,000 members.
  static constexpr std::size_t kMostOfAll = 32768;
  struct Brace {
    std::size_t members;  // number of members so far
    // True if the brace follows the type of a number or a string. Then the braces contain attributes of the type, not
    // members.
    bool of_a_number;
  };

  // Returns true if the character is neither in a string nor in a comment.
  bool is_code(char c) {
    const char before = std::exchange(last_, c);
    switch (in_) {
      case In::code:
        if (c == '"') in_ = In::text;
        if (c == '\'') in_ = In::character;
        if (before == '/' && c == '*') in_ = In::comment, last_ = 0;
        if (before == '/' && c == '/') in_ = In::line_comment;
        return in_ == In::code;
      case In::text:
      case In::character:
        if (before == '\\' && c == '\\') last_ = 0;
        if (c == (in_ == In::text ? '"' : '\'') && before != '\\') in_ = In::code;
        return false;
      case In::comment:
        if (before == '*' && c == '/') in_ = In::code, last_ = 0;
        return false;
      case In::line_comment:
        if (c == '\n') in_ = In::code;
        return false;
    }
    return false;
  }

  void take(char c, std::uint64_t offset) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      if (!in_word_) word_.clear();
      in_word_ = true;
      word_ += c;
      return;
    }
    in_word_ = false;
    if (c == '{') braces_.push_back({0, word_ == "integer" || word_ == "floating_point" || word_ == "string"});
    if (braces_.empty()) return;
    if (c == '}') braces_.pop_back();
    if ((c == ';' || c == ',') && !braces_.empty()) add_member(braces_.back(), offset);
  }

  void add_member(Brace& brace, std::uint64_t offset) {
    all_ += brace.of_a_number ? 0 : 1;
    if (++brace.members > kMost)
      throw Error(fmt::format("The trace's metadata has a structure with more than {} members", kMost))
          .at({{}, {}, offset});
    if (all_ > kMostOfAll)
      throw Error(fmt::format("The trace's metadata has structures with more than {} members in total", kMostOfAll))
          .at({{}, {}, offset});
  }

  In in_ = In::code;
  char last_ = 0;
  bool in_word_ = false;
  std::string word_;           // the latest word before the current position
  std::vector<Brace> braces_;  // the braces that are open at the current position, outermost first
  std::size_t all_ = 0;
};

}  // namespace

std::optional<ByteOrder> order_of_metadata(Bytes file) {
  if (file.size() < sizeof kMetadataMagic) return std::nullopt;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    if (load<std::uint32_t>(file.data(), order) == kMetadataMagic) return order;
  return std::nullopt;
}

void for_each_packet(Bytes file, ByteOrder order, const std::function<void(Bytes, std::uint64_t)>& visit) {
  for (std::uint64_t at = 0; at < file.size();) {
    const Bytes rest = file.subspan(to_size(at));
    if (rest.size() < kPacketHeaderBytes) throw cut_off(at, kPacketHeaderBytes, rest.size());
    ByteReader in(rest, order, at);
    const std::uint32_t magic = in.u32();
    const Bytes uuid = in.bytes(kUuidBytes);
    in.skip(4);  // checksum
    const std::uint64_t content_bits = in.u32();
    const std::uint64_t packet_bits = in.u32();
    const bool is_of_file = magic == kMetadataMagic && std::ranges::equal(uuid, file.subspan(4, kUuidBytes));
    if (!is_of_file || packet_bits % 8 != 0 || content_bits % 8 != 0 || content_bits < kPacketHeaderBytes * 8 ||
        content_bits > packet_bits)
      throw Error("The trace's metadata is damaged: a packet's header is impossible").at({{}, {}, at});
    if (packet_bits / 8 > rest.size()) throw cut_off(at, packet_bits / 8, rest.size());
    visit(rest.first(to_size(content_bits / 8)), at);
    at += packet_bits / 8;
  }
}

void check_metadata(Bytes file) {
  MemberCount members;
  const std::optional<ByteOrder> order = order_of_metadata(file);
  if (!order) return members.add(file, 0);
  for_each_packet(file, *order, [&members](Bytes packet, std::uint64_t offset) {
    members.add(packet.subspan(kPacketHeaderBytes), offset + kPacketHeaderBytes);
  });
}

}  // namespace kmt::ctf
