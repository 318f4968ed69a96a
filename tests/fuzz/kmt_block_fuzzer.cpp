// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as the unpacked payload of a .kmt block. A fuzzer of whole files cannot reach this code because of
// the checksums. A readable input must survive being written and read again. The same bytes are also shown as a
// profile.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "analysis/heap/profile.hpp"
#include "base/error.hpp"
#include "formats/kmt/block_reader.hpp"
#include "formats/kmt/profile.hpp"

namespace {

using kmt::kmt_format::BlockEvent;
using kmt::kmt_format::BlockReader;

struct Record {
  std::uint64_t ticks;
  std::vector<std::uint8_t> bytes;
  bool operator==(const Record&) const = default;
};

std::vector<Record> read(kmt::Bytes block, kmt::ByteOrder order) {
  BlockReader reader(block, order);
  std::vector<Record> records;
  BlockEvent event;
  std::size_t total = 0;
  while (reader.next(event) && total < 1 << 22) {  // limit the bytes: many events may share one long shape
    Record& record = records.emplace_back();
    record.ticks = event.ticks;
    reader.rebuild(event, record.bytes);
    total += record.bytes.size();
  }
  return records;
}

// Layouts of kfree-like kernel events, whose address at offset 8 has 4 or 8 bytes.
kmt::kmt_format::RecordLayouts layouts(kmt::ByteOrder order) {
  using kmt::FormatField;
  std::vector<kmt::EventFormat> formats;
  for (const unsigned bytes : {4u, 8u}) {
    formats.push_back(
        {bytes,
         "kmem",
         "kfree",
         {FormatField{"common_type", 0, 2}, FormatField{"common_rest", 2, 2}, FormatField{"common_pid", 4, 4, true},
          FormatField{"ptr", 8, bytes}, FormatField{"rest", 8 + bytes, 0}}});
  }
  return kmt::kmt_format::RecordLayouts(formats, order);
}

class NoNames : public kmt::SymbolNames {
 public:
  std::string name(std::uint64_t) const override { return "name"; }
};

// Does the same as `profile --show`.
void show(kmt::DrawnProfile& profile) {
  const NoNames names;
  kmt::HeapProfile heap(profile.mean_bytes == 0 ? 1 : profile.mean_bytes, names,
                        [](std::uint64_t) { return "cgroup"; });
  for (kmt::DrawnGroup& group : profile.groups) heap.add(std::move(group));
  const kmt::HeapProfileResult result = heap.result({kmt::HeapKey::stack, kmt::HeapKey::cache});
  for (const kmt::HeapRow& row : result.rows)
    if (!(row.figures.bytes.low <= row.figures.bytes.value && row.figures.bytes.value <= row.figures.bytes.high))
      std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto order = (data[0] & 1) != 0 ? kmt::ByteOrder::big : kmt::ByteOrder::little;
  try {
    const std::vector<Record> records = read({data + 1, size - 1}, order);
    const auto known = layouts(order);
    kmt::kmt_format::BlockEncoder encoder(known);
    for (const Record& record : records) encoder.add(record.ticks, record.bytes);
    if (read(encoder.finish().bytes, order) != records) std::abort();
  } catch (const kmt::Error&) {
    // expected: the block is damaged
  }
  try {
    kmt::DrawnProfile profile;
    std::uint64_t budget = 64u << 20;
    kmt::kmt_format::decode_profile({data, size}, budget, profile);
    show(profile);
  } catch (const kmt::Error&) {
    // expected: the profile is damaged
  }
  return 0;
}
