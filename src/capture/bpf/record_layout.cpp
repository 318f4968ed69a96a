// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/record_layout.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/endian.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "capture/bpf/record_bytes.hpp"

namespace kmt {

namespace {

constexpr std::uint16_t kCommonBytes = 8;  // type, flags, preempt count, pid

struct KernelField {
  std::string name;
  std::uint16_t offset = 0;
  std::uint16_t bytes = 0;
  bool is_dynamic = false;
};

std::optional<std::uint16_t> number_after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  return parse_leading<std::uint16_t>(line.substr(at + key.size()));
}

// Parses lines such as "       field:unsigned long call_site;  offset:8;       size:8; signed:0;". Skips the common
// fields.
std::vector<KernelField> fields_of(const std::string& format) {
  std::vector<KernelField> fields;
  for (const std::string_view line : split(format, '\n')) {
    const auto offset = number_after(line, "offset:");
    const auto bytes = number_after(line, "size:");
    if (!line.starts_with("\tfield:") || !offset || !bytes || *offset < kCommonBytes) continue;
    const std::string_view declared = line.substr(7, line.find(';') - 7);
    std::string_view name = declared.substr(declared.find_last_of(" *") + 1);
    name = name.substr(0, name.find('['));
    fields.push_back({std::string(name), *offset, *bytes, declared.starts_with("__data_loc")});
    if (declared.starts_with("__rel_loc")) return {};
  }
  return fields;
}

std::uint16_t align(std::size_t offset) { return static_cast<std::uint16_t>((offset + 7) / 8 * 8); }

std::optional<std::uint8_t> place_of(const std::vector<std::string>& arguments, std::string_view name) {
  const auto found = std::find(arguments.begin(), arguments.end(), name);
  const auto place = static_cast<std::size_t>(found - arguments.begin());
  if (found == arguments.end() || place >= KMT_MOST_TAKEN) return std::nullopt;
  return static_cast<std::uint8_t>(place);
}

std::optional<FieldCopy> copy_of(const KernelField& field, const std::vector<std::string>& arguments,
                                 const KernelTraits& kernel) {
  using Source = FieldCopy::Source;
  const auto copy = [&](Source source, std::optional<std::uint8_t> word) -> std::optional<FieldCopy> {
    if (!word || (source != Source::name && field.is_dynamic)) return std::nullopt;
    return FieldCopy{source, *word, field.offset, field.bytes};
  };
  const bool is_number = field.bytes == 1 || field.bytes == 2 || field.bytes == 4 || field.bytes == 8;
  if (!is_number) return std::nullopt;
  if (field.name == "node" && !kernel.has_nodes) return copy(Source::no_node, 0);
  if (const auto word = place_of(arguments, field.name)) return copy(Source::argument, word);
  if (field.name == "pfn" && kernel.pages) return copy(Source::frame, place_of(arguments, "page"));
  const auto cache = place_of(arguments, "s");
  if (field.name == "bytes_req") return copy(Source::requested, cache);
  if (field.name == "bytes_alloc") return copy(Source::allocated, cache);
  if (field.name == "name" && field.is_dynamic) return copy(Source::name, cache);
  if (field.name == "accounted") return copy(Source::accounted, place_of(arguments, "gfp_flags"));
  return std::nullopt;
}

// Appends a string or an array to the record, and stores its position in the field `field` of the record. Returns the
// new size of the record.
std::size_t append_dynamic(std::uint8_t* to, std::size_t size, std::uint16_t field, const std::uint8_t* data,
                           std::size_t bytes) {
  bytes = std::min(bytes, kMostRecordBytes - size);
  std::memcpy(to + size, data, bytes);
  write_field(to + field, size | bytes << 16, 4);
  return size + bytes;
}

}  // namespace

std::uint16_t id_of_format(const std::string& format) {
  const auto id = number_after(format, "ID: ");
  if (!id) throw Error("An event description has no ID", ExitCode::unsupported);
  return *id;
}

EventLayout layout_of(const EventName& event, const std::string& format, const std::vector<std::string>& arguments,
                      const KernelTraits& kernel) {
  EventLayout layout;
  layout.event = event;
  layout.id = id_of_format(format);
  const std::vector<KernelField> fields = fields_of(format);
  layout.kernel_bytes = kCommonBytes;
  for (const KernelField& field : fields)
    layout.kernel_bytes = std::max<std::uint16_t>(layout.kernel_bytes, field.offset + field.bytes);
  layout.bytes = align(layout.kernel_bytes);

  if (fields.empty() || format.find("\nprint fmt:") == std::string::npos ||
      layout.kernel_bytes > kCommonBytes + KMT_MOST_KERNEL_WORDS * sizeof(std::uint64_t))
    throw Error(fmt::format("{} cannot be recorded by BPF programs", to_string(event)), ExitCode::unsupported)
        .hint("Remove it from -e, or record with --backend tracefs");
  layout.description = format;

  for (const KernelField& field : fields) {
    if (const auto copy = copy_of(field, arguments, kernel))
      layout.copies.push_back(*copy);
    else
      layout.is_kernel_record = true;
    if (field.is_dynamic) layout.dynamic_offsets.push_back(field.offset);
  }
  if (layout.is_kernel_record) {
    layout.copies.clear();
    layout.words = layout.dynamic_offsets.empty()
                       ? static_cast<std::uint8_t>((layout.kernel_bytes - kCommonBytes + 7) / 8)
                       : std::uint8_t{KMT_MOST_KERNEL_WORDS};
    return layout;
  }
  layout.words = static_cast<std::uint8_t>(std::min<std::size_t>(arguments.size(), KMT_MOST_TAKEN));
  if (const auto cache = place_of(arguments, "s")) layout.cache = static_cast<std::int8_t>(*cache);
  return layout;
}

namespace {

StackLayout stack_layout(const std::string& format, std::string_view in_front) {
  StackLayout layout;
  layout.id = id_of_format(format);
  for (const KernelField& field : fields_of(format)) {
    if (field.name == in_front) layout.count_offset = field.offset;
    if (field.name == "caller") layout.frames_offset = field.offset;
  }
  if (layout.count_offset == 0 || layout.frames_offset == 0 || layout.frames_offset > 64)
    throw Error("The format of this kernel's stack records is unknown", ExitCode::unsupported)
        .hint("Record with --backend tracefs");
  return layout;
}

}  // namespace

StackLayout stack_layout_of(const std::string& format) { return stack_layout(format, "size"); }

StackLayout user_stack_layout_of(const std::string& format) { return stack_layout(format, "tgid"); }

std::string longer_user_stack(const std::string& format) {
  std::string text;
  for (const std::string_view line : split(format, '\n')) {
    const std::size_t size = line.find("size:");
    const std::size_t array = line.find(" caller[");
    if (array == std::string_view::npos || size == std::string_view::npos) {
      text += line;
    } else {
      const std::size_t after = line.find(';', size);
      text += fmt::format("{} caller[{}]{}size:{}{}", line.substr(0, array), int{KMT_USER_FRAMES},
                          line.substr(line.find(']') + 1, size - line.find(']') - 1), KMT_USER_FRAMES * sizeof(long),
                          line.substr(after));
    }
    text += '\n';
  }
  if (!format.ends_with('\n')) text.pop_back();
  return text;
}

std::size_t build_record(const EventLayout& layout, const KernelTraits& kernel, const kmt_entry& entry,
                         const std::uint64_t* words, const kmt_cache* caches, std::uint8_t* to) {
  using Source = FieldCopy::Source;
  std::memset(to, 0, layout.bytes);
  std::size_t size = layout.bytes;
  if (layout.is_kernel_record) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(words);
    const std::size_t taken = kCommonBytes + std::size_t{layout.words} * sizeof(std::uint64_t);
    std::memcpy(to + kCommonBytes, from, layout.kernel_bytes - kCommonBytes);
    for (const std::uint16_t field : layout.dynamic_offsets) {
      const auto place = load<std::uint32_t>(to + field, kHostOrder);
      const std::size_t offset = std::clamp<std::size_t>(place & 0xFFFF, kCommonBytes, taken);
      const std::size_t bytes = std::min<std::size_t>(place >> 16, taken - offset);
      size = append_dynamic(to, size, field, from + offset - kCommonBytes, bytes);
    }
  }
  const kmt_cache* const cache = layout.cache >= 0 ? &caches[words[layout.cache] & (KMT_CACHES - 1)] : nullptr;
  for (const FieldCopy& copy : layout.copies) {
    const std::uint64_t word = words[copy.word];
    std::uint64_t value = word;
    switch (copy.source) {
      case Source::argument: break;
      case Source::frame:  // if the allocation failed, mm_page_alloc records an impossible frame number
        value = word == 0 ? ~std::uint64_t{0} : (word - kernel.pages->first) / kernel.pages->bytes_each;
        break;
      case Source::requested: value = cache->object_size; break;
      case Source::allocated: value = cache->size; break;
      case Source::name:
        size = append_dynamic(to, size, copy.offset, reinterpret_cast<const std::uint8_t*>(cache->name),
                              ::strnlen(cache->name, sizeof cache->name - 1) + 1);
        continue;
      case Source::accounted:
        value =
            (word & kernel.account_flag) != 0 || (cache != nullptr && (cache->flags & kernel.cache_account_flag) != 0);
        break;
      case Source::no_node: value = ~std::uint64_t{0}; break;
    }
    write_field(to + copy.offset, value, copy.bytes);
  }
  write_common_fields(to, layout.id, entry);
  while (size % 4 != 0) to[size++] = 0;
  return size;
}

namespace {

std::size_t build_frames(const StackLayout& layout, const kmt_entry& entry, std::uint32_t in_front,
                         const std::uint64_t* frames, std::size_t count, std::uint8_t* to) {
  std::memset(to, 0, layout.frames_offset);
  write_common_fields(to, layout.id, entry);
  write_field(to + layout.count_offset, in_front, 4);
  for (std::size_t i = 0; i < count; ++i)
    write_field(to + layout.frames_offset + i * sizeof(long), frames[i], sizeof(long));
  return layout.frames_offset + count * sizeof(long);
}

}  // namespace

std::size_t build_stack(const StackLayout& layout, const kmt_entry& entry, const std::uint64_t* frames,
                        std::size_t count, std::uint8_t* to) {
  count = std::min<std::size_t>(count, KMT_RECORD_FRAMES);
  return build_frames(layout, entry, static_cast<std::uint32_t>(count), frames, count, to);
}

std::size_t build_user_stack(const StackLayout& layout, const kmt_entry& entry, std::uint32_t process,
                             const std::uint64_t* frames, std::size_t count, std::uint8_t* to) {
  return build_frames(layout, entry, process, frames, std::min<std::size_t>(count, KMT_USER_FRAMES), to);
}

}  // namespace kmt
