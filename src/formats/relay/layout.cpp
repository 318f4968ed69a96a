// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/relay/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt::relay {

namespace {

constexpr std::uint32_t kMostCpus = 8192;    // largest CONFIG_NR_CPUS
constexpr std::size_t kExtensionHeader = 3;  // header of an extension: its size, including this header, and its ID

std::uint64_t load_field(Bytes record, FieldPlace field, ByteOrder order) {
  return field.bytes == 0 ? 0 : load_sized(record.data() + field.offset, field.bytes, order);
}

void store_field(std::uint8_t* record, FieldPlace field, std::uint64_t value, ByteOrder order) {
  if (field.bytes == 8) store(record + field.offset, value, order);
  if (field.bytes == 4) store(record + field.offset, static_cast<std::uint32_t>(value), order);
  if (field.bytes == 2) store(record + field.offset, static_cast<std::uint16_t>(value), order);
  if (field.bytes == 1) record[field.offset] = static_cast<std::uint8_t>(value);
}

FieldPlace id_of(const Layout& layout) { return {0, layout.id_bytes}; }
FieldPlace type_of(const Layout& layout) { return {layout.id_bytes, layout.id_bytes}; }
constexpr FieldPlace kSize{2, 2};

// True if the bytes are extensions, one after the other, up to the end.
bool are_extensions(Bytes bytes, ByteOrder order) {
  while (!bytes.empty()) {
    if (bytes.size() < kExtensionHeader) return false;
    const std::size_t size = load<std::uint16_t>(bytes.data(), order);
    if (size < kExtensionHeader || size > bytes.size()) return false;
    bytes = bytes.subspan(size);
  }
  return true;
}

}  // namespace

std::vector<Abi> all_abis() {
  std::vector<Abi> abis;
  for (const Layout& layout : kLayouts)
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) abis.push_back({&layout, order});
  return abis;
}

std::string name_of(const Abi& abi) {
  return fmt::format("{}-{}", abi.layout->name, abi.order == ByteOrder::little ? "le" : "be");
}

Abi parse_abi(std::string_view name) {
  std::vector<std::string> names;
  for (const Abi& abi : all_abis()) {
    if (name_of(abi) == name) return abi;
    names.push_back(name_of(abi));
  }
  throw Error(fmt::format("There is no layout \"{}\" of relay files", printable(name)))
      .hint(fmt::format("Known are {}", fmt::join(names, ", ")));
}

std::optional<std::size_t> record_bytes(Bytes bytes, const Abi& abi) {
  const Layout& layout = *abi.layout;
  if (bytes.size() < layout.free_bytes) return std::nullopt;
  const std::uint64_t id = load_field(bytes, id_of(layout), abi.order);
  if (id != layout.alloc_id && id != layout.alloc_id + 1u) return std::nullopt;
  if (load_field(bytes, type_of(layout), abi.order) > static_cast<std::uint64_t>(Type::pages)) return std::nullopt;
  if (load_field(bytes, layout.cpu, abi.order) >= kMostCpus) return std::nullopt;
  const std::size_t fields = id == layout.alloc_id ? layout.alloc_bytes : layout.free_bytes;
  const std::uint64_t size = layout.has_size ? load_field(bytes, kSize, abi.order) : fields;
  if (size < fields || size > bytes.size() || (size != fields && !layout.may_be_longer)) return std::nullopt;
  if (!are_extensions(bytes.first(to_size(size)).subspan(fields), abi.order)) return std::nullopt;
  return to_size(size);
}

Record parse(Bytes bytes, const Abi& abi) {
  const Layout& layout = *abi.layout;
  const auto field = [&](FieldPlace place) { return load_field(bytes, place, abi.order); };
  Record record;
  record.allocates = field(id_of(layout)) == layout.alloc_id;
  record.type = static_cast<Type>(field(type_of(layout)));
  record.sequence = static_cast<std::uint32_t>(field(layout.sequence));
  record.cpu = static_cast<std::uint32_t>(field(layout.cpu));
  record.time_ns = field(layout.time_ns);
  record.call_site = field(layout.call_site);
  record.ptr = field(layout.ptr);
  if (!record.allocates) return record;
  record.bytes_requested = field(layout.bytes_requested);
  record.bytes_allocated = field(layout.bytes_allocated);
  record.gfp_flags = field(layout.gfp_flags);
  record.node = static_cast<std::int32_t>(field(layout.node));
  return record;
}

bool is_plausible(const Record& record) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  constexpr std::uint64_t kMostTime = std::uint64_t{1} << 60;  // in nanoseconds; about 36 years
  constexpr std::int32_t kMostNodes = 1024;
  if (record.call_site == 0 || record.time_ns >= kMostTime) return false;
  return !record.allocates ||
         (record.bytes_requested <= record.bytes_allocated && record.bytes_allocated < kMostBytes &&
          record.gfp_flags <= 0xFFFFFFFF && record.node >= -1 && record.node < kMostNodes);
}

void append(const Record& record, const Abi& abi, std::vector<std::uint8_t>& out) {
  const Layout& layout = *abi.layout;
  const std::size_t size = record.allocates ? layout.alloc_bytes : layout.free_bytes;
  out.resize(out.size() + size);
  std::uint8_t* const at = out.data() + out.size() - size;
  const auto put = [&](FieldPlace place, std::uint64_t value) { store_field(at, place, value, abi.order); };
  put(id_of(layout), layout.alloc_id + (record.allocates ? 0u : 1u));
  put(type_of(layout), static_cast<std::uint64_t>(record.type));
  if (layout.has_size) put(kSize, size);
  put(layout.sequence, record.sequence);
  put(layout.cpu, record.cpu);
  put(layout.time_ns, record.time_ns);
  put(layout.call_site, record.call_site);
  put(layout.ptr, record.ptr);
  if (!record.allocates) return;
  put(layout.bytes_requested, record.bytes_requested);
  put(layout.bytes_allocated, record.bytes_allocated);
  put(layout.gfp_flags, record.gfp_flags);
  put(layout.node, static_cast<std::uint32_t>(record.node));
}

}  // namespace kmt::relay
