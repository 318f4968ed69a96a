// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/mappings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

constexpr std::uint16_t kOfData = 1u << 13;  // PERF_RECORD_MISC_MMAP_DATA
constexpr std::uint32_t kExecutable = 4;     // PROT_EXEC
constexpr std::uint64_t kMostIdBytes = 20;

// True if the mapping is not from a file, as for code that a program generates. Same as is_anon_memory() in
// tools/perf/util/map.h (Linux 6.18).
bool is_made(std::string_view path) {
  return path.starts_with("//anon") || path.starts_with("/dev/zero") || path.starts_with("/anon_hugepage");
}

}  // namespace

std::optional<Mapping> read_mapping(const Record& record, ByteOrder order) {
  if ((record.misc & kCpuModeMask) == kCpuModeKernel) return std::nullopt;
  if (record.type == kMmap && (record.misc & kOfData) != 0) return std::nullopt;
  ByteReader in(record.payload, order, record.offset + kRecordHeaderBytes);
  Mapping mapping;
  mapping.change.kind = SpaceChange::Kind::mapped;
  mapping.change.process = static_cast<std::int32_t>(in.u32());
  in.skip(4);  // task ID
  mapping.change.start = in.u64();
  mapping.change.size = in.u64();
  mapping.change.file_offset = in.u64();
  if (record.type == kMmap2) {
    const std::uint8_t id_bytes = in.u8();
    in.skip(3);
    const Bytes id = in.bytes(kMostIdBytes);
    if ((record.misc & kMmapBuildId) != 0)
      for (const std::uint8_t byte : id.first(to_size(std::min<std::uint64_t>(id_bytes, kMostIdBytes))))
        mapping.build_id += fmt::format("{:02x}", byte);
    const std::uint32_t protection = in.u32();
    in.skip(4);  // flags
    if ((protection & kExecutable) == 0) return std::nullopt;
  }
  const std::string_view rest = in.text(in.remaining());
  mapping.path = rest.substr(0, rest.find('\0'));
  if (mapping.change.process <= 0) return std::nullopt;
  if (is_made(mapping.path)) {
    mapping.path = fmt::format("/tmp/perf-{}.map", mapping.change.process);
    mapping.change.file_offset = mapping.change.start;
  }
  if (mapping.path == "[vdso]") mapping.change.file_offset = 0;
  return mapping;
}

MappedObjects::MappedObjects(TraceInfo& info) : info_(info) {
  for (std::uint32_t i = UserCode::kFirstObject; i < info.code.user.objects.size(); ++i) {
    const CodeObject& object = info.code.user.objects[i];
    numbers_.try_emplace({object.path, object.build_id}, i);
    build_ids_.try_emplace(object.path, object.build_id);
  }
}

std::uint32_t MappedObjects::number_of(const Mapping& mapping) {
  std::string build_id = mapping.build_id;
  if (build_id.empty())
    if (const auto known = build_ids_.find(mapping.path); known != build_ids_.end()) build_id = known->second;
  const auto [number, is_new] =
      numbers_.try_emplace({mapping.path, build_id}, static_cast<std::uint32_t>(info_.code.user.objects.size()));
  if (is_new) info_.code.user.objects.push_back({mapping.path, std::move(build_id), {}});
  return number->second;
}

}  // namespace kmt::perfdata
