// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the reader of CTF 2 with hand-made fields; tests/oracle/ctf_test.py has whole traces of LTTng's form.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/endian.hpp"
#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "formats/bit_reader.hpp"
#include "formats/ctf/json/metadata.hpp"
#include "formats/ctf/reader.hpp"

namespace kmt::ctf {
namespace {

using namespace std::string_literals;

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

TEST(BitReader, FollowsByteOrderAndBitOrder) {
  const std::vector<std::uint8_t> bytes = {0xA1, 0x34};  // bits 10100001 00110100
  const auto read = [&bytes](bool big, bool last_to_first, std::vector<unsigned> lengths) {
    BitReader in(bytes, 0);
    std::vector<std::uint64_t> values;
    for (const unsigned length : lengths) values.push_back(in.bits(length, big, last_to_first));
    return values;
  };
  using Values = std::vector<std::uint64_t>;
  EXPECT_EQ(read(false, false, {16}), (Values{0x34A1}));
  EXPECT_EQ(read(true, true, {16}), (Values{0xA134}));
  EXPECT_EQ(read(false, true, {16}), (Values{0x852C}));
  EXPECT_EQ(read(true, false, {16}), (Values{0x2C85}));
  EXPECT_EQ(read(true, true, {3, 9, 4}), (Values{5, 0x13, 4}));
  EXPECT_EQ(read(false, false, {3, 9, 4}), (Values{1, 0x94, 3}));
}

TEST(BitReader, RefusesTwoByteOrdersInAByteAndMissingBits) {
  const std::vector<std::uint8_t> bytes = {1, 2};
  BitReader in(bytes, 0);
  in.bits(3, true, true);
  EXPECT_THROW(in.bits(3, false, false), Error);
  in.align(8);
  EXPECT_EQ(in.bits(8, false, false), 2u);
  EXPECT_THROW(in.bits(1, false, false), Error);
}

constexpr const char* kU8 = R"({"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"})";

std::string integer(unsigned bits, const std::string& more = "") {
  return fmt::format(R"({{"type":"fixed-length-unsigned-integer","length":{},"byte-order":"big-endian"{}}})", bits,
                     more);
}

std::string structure(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text;
  for (const auto& [name, field] : members)
    text += fmt::format(R"({}{{"name":"{}","field-class":{}}})", text.empty() ? "" : ",", name, field);
  return fmt::format(R"({{"type":"structure","member-classes":[{}]}})", text);
}

std::string sequence(const std::vector<std::string>& fragments) {
  std::string text;
  for (const std::string& fragment : fragments) text += "\x1e" + fragment + "\n";
  return text;
}

const std::string kPreamble = R"({"type":"preamble","version":2})";

// Returns the metadata of a trace of kmalloc events without packets and clocks. `before` are fields in front of the
// event's usual ones.
std::string metadata_with(const std::vector<std::pair<std::string, std::string>>& before) {
  std::vector<std::pair<std::string, std::string>> members = before;
  for (const char* const name : {"ptr", "bytes_req", "bytes_alloc"}) members.emplace_back(name, integer(64));
  return sequence(
      {kPreamble, R"({"type":"data-stream-class"})",
       R"({"type":"event-record-class","name":"kmem_kmalloc","payload-field-class":)" + structure(members) + "}"});
}

std::string big_endian(std::uint64_t value) {
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

std::string usual_fields(unsigned number) {
  return big_endian(0xffff888000001000 + 0x100 * number) + big_endian(100 + number) + big_endian(128);
}

class JsonTraceTest : public testing::Test {
 protected:
  EventBatch read(const std::string& metadata, const std::string& stream) {
    const auto write = [this](const char* name, const std::string& text) {
      std::ofstream(std::filesystem::path(folder_.path()) / name, std::ios::binary) << text;
    };
    write("metadata", metadata);
    write("stream", stream);
    const auto source = open({folder_.path(), {}, nullptr}, {});
    EventBatch all;
    for (EventBatch batch; source->read(batch);) all.insert(all.end(), batch.begin(), batch.end());
    damaged_ = source->info().findings.count_of(Imperfection::damaged_stream);
    return all;
  }

  // Reads two events with the bytes before the usual fields, and checks the usual fields.
  void expect_read(const std::vector<std::pair<std::string, std::string>>& before, const std::string& bytes) {
    SCOPED_TRACE(before.empty() ? "" : before.back().second);
    const EventBatch events = read(metadata_with(before), bytes + usual_fields(0) + bytes + usual_fields(1));
    ASSERT_EQ(events.size(), 2u);
    for (unsigned i = 0; i < 2; ++i) {
      EXPECT_EQ(events[i].address, 0xffff888000001000 + 0x100 * i);
      EXPECT_EQ(events[i].bytes_requested, 100 + i);
    }
    EXPECT_EQ(damaged_, 0u);
  }

  TemporaryFolder folder_;
  std::uint64_t damaged_ = 0;
};

TEST_F(JsonTraceTest, ReadsAllFieldClasses) {
  const auto location = [](const char* name) { return fmt::format(R"({{"path":["{}"]}})", name); };
  expect_read({}, "");
  expect_read({{"a", R"({"type":"fixed-length-bit-array","length":12,"byte-order":"little-endian"})"},
               {"b", R"({"type":"fixed-length-boolean","length":4,"byte-order":"little-endian"})"}},
              "ab");
  expect_read({{"a", R"({"type":"fixed-length-bit-map","length":80,"byte-order":"big-endian","flags":{"x":[[1,1]]}})"}},
              "0123456789");
  expect_read({{"a", kU8},
               {"b", R"({"type":"fixed-length-signed-integer","length":32,"byte-order":"big-endian","alignment":32})"}},
              "1---2345");
  for (const unsigned bits : {16u, 32u, 64u, 128u})
    expect_read(
        {{"a", fmt::format(R"({{"type":"fixed-length-floating-point-number","length":{},"byte-order":"big-endian"}})",
                           bits)}},
        std::string(bits / 8, 'f'));
  expect_read(
      {{"a", R"({"type":"variable-length-unsigned-integer"})"}, {"b", R"({"type":"variable-length-signed-integer"})"}},
      "\xff\xff\x7f\x80\x80\x01"s);
  expect_read({{"a", R"({"type":"null-terminated-string"})"}}, "text\0"s);
  expect_read({{"a", R"({"type":"null-terminated-string","encoding":"utf-16le"})"}}, "t\0e\0\0\0"s);
  expect_read({{"a", R"({"type":"static-length-string","length":6})"}}, "ab\0xyz"s);
  expect_read({{"n", kU8}, {"a", R"({"type":"dynamic-length-string","length-field-location":)" + location("n") + "}"}},
              "\3abc"s);
  expect_read({{"a", R"({"type":"static-length-blob","length":3})"},
               {"n", kU8},
               {"b", R"({"type":"dynamic-length-blob","length-field-location":)" + location("n") + "}"}},
              "abc\2de"s);
  expect_read({{"a", R"({"type":"static-length-array","length":3,"element-field-class":)"s + kU8 + "}"},
               {"n", kU8},
               {"b", R"({"type":"dynamic-length-array","length-field-location":)" + location("n") +
                         R"(,"element-field-class":)" + integer(16) + "}"}},
              "abc\2deed"s);
}

TEST_F(JsonTraceTest, FollowsSelectors) {
  const std::string optional = R"({"type":"optional","selector-field-location":{"path":["n"]},)"
                               R"("selector-field-ranges":[[1,2],[5,5]],"field-class":)" +
                               integer(16) + "}";
  const std::string flag = R"({"type":"fixed-length-boolean","length":8,"byte-order":"little-endian"})";
  const std::string if_set =
      R"({"type":"optional","selector-field-location":{"path":["n"]},"field-class":)" + integer(8) + "}";
  const std::string inner = structure(
      {{"deep", kU8}, {"list", R"({"type":"dynamic-length-blob","length-field-location":{"path":[null,"n"]}})"}});
  const std::string variant =
      R"({"type":"variant","selector-field-location":{"origin":"event-record-payload","path":["n"]},"options":[)"
      R"({"selector-field-ranges":[[0,0]],"field-class":)" +
      integer(8) + "}," + R"({"name":"big","selector-field-ranges":[[1,9]],"field-class":)" + inner + "}]}";
  const std::string by_option = R"({"type":"dynamic-length-blob","length-field-location":{"path":["v","deep"]}})";
  expect_read({{"n", kU8}, {"a", optional}}, "\5ab"s);
  expect_read({{"n", kU8}, {"a", optional}}, "\3"s);
  expect_read({{"n", flag}, {"a", if_set}}, "\0"s);
  expect_read({{"n", flag}, {"a", if_set}}, "\4x"s);
  expect_read({{"n", kU8}, {"v", variant}}, "\0x"s);
  expect_read({{"n", kU8}, {"v", variant}, {"b", by_option}}, "\3\2abcxy"s);
  EXPECT_EQ(read(metadata_with({{"n", kU8}, {"v", variant}}), "\x0bxx" + usual_fields(0)).size(), 0u);
  EXPECT_EQ(damaged_, 1u);
}

TEST_F(JsonTraceTest, LimitsTheElementsOfNestedArrays) {
  std::string field = structure({});
  for (int level = 0; level < 4; ++level)
    field = R"({"type":"static-length-array","length":4096,"element-field-class":)" + field + "}";
  expect_read({{"a", field}}, "");
}

TEST_F(JsonTraceTest, ForgetsTheSelectorsOfThePacketBefore) {
  const std::string variant = R"({"type":"variant","selector-field-location":{"path":["kind"]},"options":[)"
                              R"({"selector-field-ranges":[[0,0]],"field-class":)" +
                              structure({{"n", kU8}}) +
                              R"(},{"name":"empty","selector-field-ranges":[[1,1]],"field-class":)" + structure({}) +
                              "}]}";
  const std::string blob = R"({"type":"dynamic-length-blob","length-field-location":{"path":["v","n"]}})";
  const std::string context = R"({"type":"data-stream-class","packet-context-field-class":)" +
                              structure({{"size", integer(64, R"(,"roles":["packet-content-length"])")}}) + "}";
  std::string metadata = metadata_with({{"kind", kU8}, {"v", variant}, {"b", blob}});
  const std::string plain = R"({"type":"data-stream-class"})";
  metadata.replace(metadata.find(plain), plain.size(), context);
  const auto packet = [](const std::string& event) { return big_endian((8 + event.size()) * 8) + event; };
  const std::string with_n = "\0\1x"s + usual_fields(0), without_n = "\1x"s + usual_fields(1);
  EXPECT_EQ(read(metadata, packet(with_n + without_n)).size(), 2u);
  EXPECT_EQ(damaged_, 0u);
  EXPECT_EQ(read(metadata, packet(with_n) + packet(without_n)).size(), 1u);
  EXPECT_EQ(damaged_, 1u);
}

// Returns a packet: a context with the sequence number and both lengths, one event, and 8 bytes of padding.
std::string packet_of(std::uint64_t sequence_number, unsigned event) {
  constexpr std::uint64_t kContent = 8 * (3 * 8 + 3 * 8);
  return big_endian(sequence_number) + big_endian(kContent + 64) + big_endian(kContent) + usual_fields(event) +
         "padding.";
}

// The file of a stream may end anywhere, also in the padding of a packet.
TEST_F(JsonTraceTest, ReportsPacketsThatAreCutOrOutOfOrder) {
  const auto with_role = [](const char* role) { return integer(64, fmt::format(R"(,"roles":["{}"])", role)); };
  const std::string context = structure({{"number", with_role("packet-sequence-number")},
                                         {"size", with_role("packet-total-length")},
                                         {"content", with_role("packet-content-length")}});
  std::string metadata = metadata_with({});
  const std::string stream_class = R"({"type":"data-stream-class"})";
  metadata.replace(metadata.find(stream_class), stream_class.size(),
                   R"({"type":"data-stream-class","packet-context-field-class":)" + context + "}");
  const std::string whole = packet_of(4, 0) + packet_of(5, 1);
  EXPECT_EQ(read(metadata, whole).size(), 2u);
  EXPECT_EQ(damaged_, 0u);
  EXPECT_EQ(read(metadata, whole.substr(0, whole.size() - 1)).size(), 2u);
  EXPECT_EQ(damaged_, 1u);
  EXPECT_EQ(read(metadata, packet_of(4, 0) + packet_of(3, 1)).size(), 1u);
  EXPECT_EQ(damaged_, 1u);
}

TEST_F(JsonTraceTest, ReportsEmptyStreams) {
  const std::string metadata = metadata_with({});
  std::ofstream(std::filesystem::path(folder_.path()) / "metadata", std::ios::binary) << metadata;
  std::ofstream(std::filesystem::path(folder_.path()) / "full", std::ios::binary) << usual_fields(0);
  std::ofstream(std::filesystem::path(folder_.path()) / "empty", std::ios::binary);
  const auto source = open({folder_.path(), {}, nullptr}, {});
  EXPECT_EQ(source->info().findings.count_of(Imperfection::missing_cpu), 1u);
}

TEST_F(JsonTraceTest, UpdatesTheClock) {
  const std::string time = R"(,"roles":["default-clock-timestamp"])";
  const std::string metadata = sequence(
      {kPreamble,
       R"({"type":"clock-class","id":"c","frequency":1000000,"offset-from-origin":{"seconds":2,"cycles":1500000}})",
       R"({"type":"data-stream-class","default-clock-class-id":"c","event-record-header-field-class":)" +
           structure({{"t", integer(8, time)}}) + "}",
       R"({"type":"event-record-class","name":"kmem_kfree","payload-field-class":)" +
           structure({{"ptr", integer(64)}}) + "}"});
  std::string stream;
  for (const char low : {'\x10', '\xf0', '\x05'}) stream += low + big_endian(0x1000);
  const EventBatch events = read(metadata, stream);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].time_ns, 3'500'016'000u);
  EXPECT_EQ(events[1].time_ns, 3'500'240'000u);
  EXPECT_EQ(events[2].time_ns, 3'500'261'000u);  // the 8-bit time wrapped around once more
}

// Splits the text into packets with LTTng's header of 37 bytes, or the header of CTF2-PMETA-1.0 with 44 bytes.
std::string in_packets(const std::string& text, std::uint32_t header_bytes, ByteOrder order) {
  constexpr std::size_t kMost = 50;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += kMost) {
    const std::string part = text.substr(at, kMost);
    std::string header(header_bytes, '\0');
    const auto put = [&header, order](std::size_t place, std::uint32_t value) {
      store(reinterpret_cast<std::uint8_t*>(header.data()) + place, value, order);
    };
    put(0, 0x75D11D57);
    const auto content = static_cast<std::uint32_t>(header_bytes + part.size());
    put(24, content * 8);
    put(28, (content + 2) * 8);
    header[35] = 2;
    if (header_bytes > 40) put(40, header_bytes * 8);
    out += header + part + "\0\0"s;
  }
  return out;
}

TEST_F(JsonTraceTest, ReadsMetadataInPackets) {
  for (const std::uint32_t header_bytes : {37u, 44u, 52u})
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
      EXPECT_EQ(read(in_packets(metadata_with({}), header_bytes, order), usual_fields(0)).size(), 1u) << header_bytes;
}

std::string fault_of(const std::string& metadata) {
  try {
    parse_json_metadata(bytes_of(metadata));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(JsonMetadataTest, NamesTheFragmentAndTheFault) {
  const std::string stream = R"({"type":"data-stream-class"})";
  const auto alias = [](const std::string& name, const std::string& field) {
    return fmt::format(R"({{"type":"field-class-alias","name":"{}","field-class":{}}})", name, field);
  };
  EXPECT_EQ(fault_of(sequence({kPreamble, stream})), "");
  const std::vector<std::pair<std::vector<std::string>, std::string>> faults = {
      {{stream}, "fragment 1: the preamble is missing"},
      {{R"({"type":"preamble","version":3})"}, "version 3"},
      {{R"({"type":"preamble","version":2,"extensions":{"a":{"b":1}}})"}, "needs an extension"},
      {{kPreamble}, "describes no stream"},
      {{kPreamble, "{"}, "fragment 2: the text is not valid JSON at byte 3"},
      {{kPreamble, "[]"}, "fragment 2: a JSON value is not an object"},
      {{kPreamble, R"({"type":"event-record-class"})"}, "unknown data stream class 0"},
      {{kPreamble, stream, stream}, "two data stream classes 0"},
      {{kPreamble, R"({"type":"data-stream-class","default-clock-class-id":"x"})"}, "unknown clock \"x\""},
      {{kPreamble, alias("a", "\"a\"")}, "unknown alias \"a\""},
      {{kPreamble, alias("a", R"({"type":"integer"})")}, "unknown field class \"integer\""},
      {{kPreamble, alias("a", integer(0))}, "impossible length of 0 bits"},
      {{kPreamble, alias("a", integer(65))}, "integers of 65 bits"},
      {{kPreamble, alias("a", integer(8, R"(,"alignment":3)"))}, "impossible alignment 3"},
      {{kPreamble, alias("a", structure({{"x", kU8}, {"x", kU8}}))}, "two members \"x\""},
      {{kPreamble, stream,
        R"({"type":"event-record-class","payload-field-class":)" +
            structure({{"b", R"({"type":"dynamic-length-blob","length-field-location":{"path":["n"]}})"}}) + "}"},
       "\"b\" needs the integer \"n\""},
  };
  for (const auto& [fragments, fault] : faults)
    EXPECT_NE(fault_of(sequence(fragments)).find(fault), std::string::npos) << fault_of(sequence(fragments));
}

TEST(JsonMetadataTest, SharesSlotsOfTheSameValues) {
  const auto blob = [](const std::string& path) {
    return fmt::format(R"({{"type":"dynamic-length-blob","length-field-location":{{"path":[{}]}}}})", path);
  };
  const std::string option = structure({{"n", kU8}, {"b", blob(R"("n")")}});
  const std::string variant = R"({"type":"variant","selector-field-location":{"path":["kind"]},"options":[)"
                              R"({"selector-field-ranges":[[0,0]],"field-class":)" +
                              option + R"(},{"name":"other","selector-field-ranges":[[1,1]],"field-class":)" + option +
                              "}]}";
  const std::string by_option = blob(R"("v","n")");
  const std::string metadata =
      metadata_with({{"kind", kU8}, {"v", variant}, {"b", by_option}, {"c", by_option}, {"d", by_option}});
  EXPECT_EQ(parse_json_metadata(bytes_of(metadata)).slots, 4u);  // "kind", "n" of each option, "n" of any option
}

TEST(JsonMetadataTest, LimitsThePartsThatAliasesCopy) {
  std::string ranges = "[1,1]";
  for (int i = 0; i < 999; ++i) ranges += ",[1,1]";
  const std::string many_ranges = R"({"type":"optional","selector-field-location":{"path":["n"]},"field-class":)"s +
                                  kU8 + R"(,"selector-field-ranges":[)" + ranges + "]}";
  const std::string long_path =
      R"({"type":"dynamic-length-blob","length-field-location":{"path":[")" + std::string(32'000, 'n') + "\"]}}";
  const std::string long_name = structure({{std::string(32'000, 'n'), kU8}});
  for (const std::string& field : {many_ranges, long_path, long_name}) {
    std::vector<std::pair<std::string, std::string>> uses;
    for (int i = 0; i < 70; ++i) uses.emplace_back(fmt::format("u{}", i), "\"a\"");
    const auto alias = [](const std::string& name, const std::string& value) {
      return fmt::format(R"({{"type":"field-class-alias","name":"{}","field-class":{}}})", name, value);
    };
    EXPECT_NE(fault_of(sequence({kPreamble, alias("a", field), alias("b", structure(uses))})).find("too long"),
              std::string::npos);
  }
}

TEST(JsonMetadataTest, LimitsTheDepthOfJson) {
  const std::string deep(1'000'000, '[');
  const std::string deep_list = deep + std::string(deep.size(), ']');
  const std::vector<std::string> fragments = {
      R"({"type":"preamble","version":2,"extensions":)" + deep_list + "}",
      R"({"type":"field-class-alias","name":"a","field-class":)" + deep_list + "}",
  };
  for (const std::string& fragment : fragments)
    EXPECT_NE(fault_of(sequence({kPreamble, fragment})).find("nested too deeply"), std::string::npos);
  EXPECT_EQ(fault_of(sequence(
                {R"({"type":"preamble","version":2,"\"":"\\)" + deep + R"("})", R"({"type":"data-stream-class"})"})),
            "");
}

TEST(JsonMetadataTest, LimitsFieldsThatAliasesMultiply) {
  std::vector<std::string> fragments = {kPreamble};
  for (int i = 0; i < 30; ++i) {
    const std::string inner = i == 0 ? kU8 : fmt::format("\"a{}\"", i - 1);
    fragments.push_back(fmt::format(R"({{"type":"field-class-alias","name":"a{}","field-class":{}}})", i,
                                    structure({{"x", inner}, {"y", inner}})));
  }
  EXPECT_NE(fault_of(sequence(fragments)).find("more than 65536 fields"), std::string::npos);
}

}  // namespace
}  // namespace kmt::ctf
