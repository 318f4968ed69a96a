// SPDX-License-Identifier: GPL-2.0-or-later
// Writes event declarations and any bytes as a CTF trace. Reading the trace must not crash, hang or use excessive
// memory. An input consists of event declarations up to a NUL, then packets, each preceded by its size (u16). Packet
// headers are always valid, because libbabeltrace2 aborts the program on impossible sizes (docs/formats/ctf.md). The
// same bytes are also read as a packet index and as metadata in packets.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/endian.hpp"
#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "formats/ctf/graph.hpp"
#include "formats/ctf/json/metadata.hpp"
#include "formats/ctf/metadata.hpp"
#include "formats/ctf/metadata_checks.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/ctf/records.hpp"
#include "formats/ctf/stream_index.hpp"
#include "read_trace.hpp"
#include "support/checked_sink.hpp"

namespace {

namespace fs = std::filesystem;
using kmt::ctf::PacketLayout;

constexpr std::uint32_t kMagic = 0xC1FC1FC1;
constexpr kmt::ctf::Uuid kUuid = {1};

void append_packet(kmt::Bytes events, std::uint64_t number, std::string& stream) {
  std::vector<std::uint8_t> bytes(PacketLayout::kBytes);
  const auto at = [&bytes](std::size_t place, auto value) {
    kmt::store(bytes.data() + place, value, kmt::ByteOrder::little);
  };
  const std::uint64_t bits = (PacketLayout::kBytes + events.size()) * 8;
  at(PacketLayout::kMagic, kMagic);
  std::ranges::copy(kUuid, bytes.begin() + PacketLayout::kUuid);
  at(PacketLayout::kBegin, number << 20);
  at(PacketLayout::kEnd, (number + 1) << 20);
  at(PacketLayout::kContentBits, bits);
  at(PacketLayout::kPacketBits, bits);
  at(PacketLayout::kSequence, number + number / 4);  // some sequence numbers are missing
  at(PacketLayout::kDiscarded, number * number / 3);
  bytes.insert(bytes.end(), events.begin(), events.end());
  stream.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Makes a CTF 2 trace from an input. An input that starts like metadata of CTF 2 consists of the metadata up to a NUL,
// and a stream.
void make_json_trace(kmt::Bytes input, const fs::path& folder) {
  const auto end = std::find(input.begin(), input.end(), 0);
  write(folder / "metadata", {input.begin(), end});
  write(folder / "channel0_0", {end == input.end() ? end : end + 1, input.end()});
}

void make_trace(kmt::Bytes input, const fs::path& folder) {
  if (kmt::ctf::is_json_metadata(input)) return make_json_trace(input, folder);
  const auto end = std::find(input.begin(), input.end(), 0);
  kmt::KernelDescription kernel;
  kernel.byte_order = kmt::ByteOrder::little;
  kernel.clock = "mono";
  write(folder / "metadata", kmt::ctf::metadata_text(kernel, kUuid, {}) + std::string(input.begin(), end));
  std::string stream;
  kmt::Bytes rest = input.subspan(static_cast<std::size_t>(end - input.begin()));
  if (!rest.empty()) rest = rest.subspan(1);
  for (std::uint64_t number = 0; rest.size() >= 2; ++number) {
    const std::size_t size =
        std::min<std::size_t>(kmt::load<std::uint16_t>(rest.data(), kmt::ByteOrder::little), rest.size() - 2);
    append_packet(rest.subspan(2, size), number, stream);
    rest = rest.subspan(2 + size);
  }
  write(folder / "channel0_0", stream);
}

// Keeps the plugin of libbabeltrace2 in memory, so that leaks.supp can suppress the leaks of the plugin by name.
struct LoadedPlugin {
  static constexpr std::uint8_t kNoEvents[] = {0, 0, 0};
  kmt::TemporaryFolder folder;
  kmt::ctf::Graph graph = [this] {
    make_trace(kmt::Bytes(kNoEvents), folder.path());
    return kmt::ctf::Graph({{folder.path()}});
  }();
};

void read_parts(kmt::Bytes bytes) {
  try {
    if (const auto cut = kmt::ctf::cut_off_by_index(bytes, bytes.size() / 2)) (void)to_string(*cut);
  } catch (const kmt::Error&) {
    // expected: the input is not an index
  }
  try {
    kmt::ctf::check_metadata(bytes);
  } catch (const kmt::Error&) {
    // expected: the metadata is damaged
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_parts({data, size});
  static const LoadedPlugin plugin;
  static const kmt::TemporaryFolder folder;
  make_trace({data, size}, folder.path());
  try {
    const kmt::TraceFile file{folder.path(), {}, nullptr};
    kmt::OpenOptions options;
    options.call_records = true;
    kmt::read_events(*kmt::ctf::open(file, options));
    kmt::Findings findings;
    kmt::test::CheckedSink sink;
    kmt::ctf::read_records(file, sink, findings);
    sink.expect_ended();
  } catch (const kmt::Error&) {
    // expected: the trace is damaged
  }
  return 0;
}
