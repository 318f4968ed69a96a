// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/user_memory.hpp"

#include "base/build_id.hpp"
#include "trace/code/user_memory_parts.hpp"

namespace kmt::kmt_format {

namespace {

constexpr std::uint8_t kMapped = 0;
constexpr std::uint8_t kForked = 1;
constexpr std::uint8_t kExecuted = 2;

std::int32_t process_id(std::uint64_t number) {
  if (number > 0x7FFFFFFF) throw Error("A process has an impossible id");
  return static_cast<std::int32_t>(number);
}

}  // namespace

Payload encode_user_memory(const UserMemory& memory) {
  Payload out;
  append_varint(out, memory.objects.size());
  for (const CodeObject& object : memory.objects) {
    append_text(out, object.path);
    append_text(out, object.build_id);
    append_text(out, object.symbols);
  }
  std::uint64_t last_ns = 0;
  for (const SpaceChange& change : memory.changes) {
    append_varint(out, change.time_ns - last_ns);
    last_ns = change.time_ns;
    append_varint(out, static_cast<std::uint32_t>(change.process));
    switch (change.kind) {
      case SpaceChange::Kind::mapped:
        out.push_back(kMapped);
        append_varint(out, change.object);
        append_varint(out, change.start);
        append_varint(out, change.size);
        append_varint(out, change.file_offset);
        break;
      case SpaceChange::Kind::forked:
        out.push_back(kForked);
        append_varint(out, static_cast<std::uint32_t>(change.parent));
        break;
      case SpaceChange::Kind::executed: out.push_back(kExecuted); break;
    }
  }
  return out;
}

UserMemory decode_user_memory(Bytes payload) {
  PayloadReader in(payload);
  UserMemory memory;
  const std::uint64_t objects = in.varint();
  if (objects > kMostCodeObjects || objects > in.remaining() / 3) throw Error("A chunk has too many programs");
  for (std::uint64_t i = 0; i < objects; ++i) {
    CodeObject& object = memory.objects.emplace_back();
    object.path = in.text();
    if (const std::string_view id = in.text(); is_build_id(id)) object.build_id = id;
    object.symbols = in.text();
  }
  std::uint64_t time_ns = 0;
  while (!in.empty()) {
    if (memory.changes.size() >= kMostSpaceChanges) throw Error("A chunk has too many mappings");
    SpaceChange change;
    change.time_ns = time_ns += in.varint();
    change.process = process_id(in.varint());
    switch (in.byte()) {
      case kMapped: {
        change.kind = SpaceChange::Kind::mapped;
        const std::uint64_t object = in.varint();
        if (object >= objects) throw Error("A mapping refers to a program that is missing");
        change.object = static_cast<std::uint32_t>(object);
        change.start = in.varint();
        change.size = in.varint();
        change.file_offset = in.varint();
        break;
      }
      case kForked:
        change.kind = SpaceChange::Kind::forked;
        change.parent = process_id(in.varint());
        break;
      case kExecuted: change.kind = SpaceChange::Kind::executed; break;
      default: throw Error("A mapping is of an unknown kind");
    }
    memory.changes.push_back(change);
  }
  return memory;
}

}  // namespace kmt::kmt_format
