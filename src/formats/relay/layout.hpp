// SPDX-License-Identifier: GPL-2.0-or-later
// The layouts of records that the kernel's kmemtrace of 2008 to 2010 wrote. There are five, and a file does not state
// its layout. docs/formats/relay.md describes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt::relay {

// A field of a layout. `bytes` is 0 if the layout does not have the field.
struct FieldPlace {
  std::uint8_t offset = 0;
  std::uint8_t bytes = 0;
};

struct Layout {
  std::string_view name;
  // Size in bytes of the event ID at the start of a record; the type ID after it has the same size.
  std::uint8_t id_bytes;
  std::uint8_t alloc_id;    // event ID of an allocation; the event ID of a free is 1 more
  bool has_size;            // true if the 16 bits at offset 2 are the record's size
  bool may_be_longer;       // true if extensions may follow the fields
  bool has_null_records;    // true if the kernel writes zeros instead of an event that did not fit into relay's buffers
  std::uint8_t free_bytes;  // size of a free without extensions, in bytes
  std::uint8_t alloc_bytes;
  FieldPlace sequence, cpu, time_ns, call_site, ptr;
  FieldPlace bytes_requested, bytes_allocated, gfp_flags, node;  // only in allocations
};

// The layouts from the oldest to the newest. v0 and v1 are from July 2008, and v2 is from August 2008. The other two
// are those of ftrace in Linux 2.6.30 to 2.6.35, for 64-bit and 32-bit kernels. clang-format off
constexpr std::array<Layout, 5> kLayouts = {{
    //       ids alloc size   longer null   free alloc
    {"v0",
     2,
     1,
     false,
     false,
     true,
     56,
     56,
     {},
     {},
     {48, 8},
     {8, 8},
     {16, 8},  // sequence to ptr
     {24, 8},
     {32, 8},
     {40, 8},
     {4, 4}},  // bytes_requested to node
    {"v1", 1, 1, true, false, true, 56, 56, {}, {}, {48, 8}, {8, 8}, {16, 8}, {24, 8}, {32, 8}, {40, 8}, {4, 4}},
    {"v2", 1, 0, true, true, false, 24, 48, {4, 4}, {}, {}, {8, 8}, {16, 8}, {24, 8}, {32, 8}, {40, 4}, {44, 4}},
    {"v3-64",
     1,
     0,
     true,
     false,
     false,
     32,
     56,
     {},
     {4, 4},
     {8, 8},
     {16, 8},
     {24, 8},
     {32, 8},
     {40, 8},
     {48, 4},
     {52, 4}},
    {"v3-32",
     1,
     0,
     true,
     false,
     false,
     24,
     40,
     {},
     {4, 4},
     {8, 8},
     {16, 4},
     {20, 4},
     {24, 4},
     {28, 4},
     {32, 4},
     {36, 4}},
}};
// clang-format on

// A layout with its byte order, such as "v1-le".
struct Abi {
  const Layout* layout = &kLayouts[1];
  ByteOrder order = ByteOrder::little;
  bool operator==(const Abi&) const = default;
};

std::vector<Abi> all_abis();
std::string name_of(const Abi& abi);
Abi parse_abi(std::string_view name);  // Throws Error.

// All layouts define `pages`, but no kernel wrote such records.
enum class Type : std::uint8_t { kmalloc, cache, pages };

struct Record {
  bool allocates = false;
  Type type = Type::kmalloc;
  std::uint32_t sequence = 0;
  std::uint32_t cpu = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t call_site = 0;
  std::uint64_t ptr = 0;
  // The following members are only valid for allocations. In v0 and v1, a free has these bytes too, but they mean
  // nothing.
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t gfp_flags = 0;
  std::int32_t node = -1;
  bool operator==(const Record&) const = default;
};

// Returns the size of the first record, or nothing if there is no complete record. Reads only the bytes that determine
// the size.
std::optional<std::size_t> record_bytes(Bytes bytes, const Abi& abi);
// Parses the fields of a record, which must have the size from record_bytes().
Record parse(Bytes record, const Abi& abi);
// True if a kernel could have written these values. May also be true for bytes that are no record.
bool is_plausible(const Record& record);

void append(const Record& record, const Abi& abi, std::vector<std::uint8_t>& out);

}  // namespace kmt::relay
