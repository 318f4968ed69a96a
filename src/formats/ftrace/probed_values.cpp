// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/probed_values.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/arithmetic/size.hpp"
#include "base/number.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kMostArguments = 16;
constexpr std::uint8_t kMostValues = 64;
constexpr std::size_t kDataLocBytes = 4;
// Linux 6.2 to 6.4 write this text for an unreadable string (kernel/trace/trace_probe_kernel.h).
constexpr std::string_view kFault = "(fault)";
constexpr std::string_view kArgument = "arg";
constexpr std::string_view kIntArgument = "int";
static_assert(kIntArgument.size() == kArgument.size());

bool is_data_loc(const FormatField& field) {
  return field.is_dynamic && !field.is_relative && field.size == kDataLocBytes && field.offset <= 0x7FFF;
}

// Finds the field of a value by its name. "v3" is value 3, and "v3_16" a string of at most 16 bytes. The length of
// "v3_arg2" is in argument 2, and that of "v3_int2" in the low 32 bits of argument 2.
const FormatField* find_value(const EventFormat& format, std::size_t number, ProbedValue& value) {
  const std::string name = "v" + std::to_string(number);
  for (const FormatField& field : format.fields) {
    if (field.name == name) return &field;
    if (!field.name.starts_with(name + "_")) continue;
    std::string_view rest = std::string_view(field.name).substr(name.size() + 1);
    const bool is_int = rest.starts_with(kIntArgument);
    const bool is_counted = is_int || rest.starts_with(kArgument);
    if (is_counted) rest.remove_prefix(kArgument.size());
    const auto limit = parse_number<std::uint32_t>(rest);
    if (!limit || (is_counted && *limit > kMostArguments)) continue;
    if (is_counted)
      value.counted_by = static_cast<std::uint8_t>(*limit);
    else
      value.most = *limit;
    value.counted_by_int = is_int;
    return &field;
  }
  return nullptr;
}

std::uint32_t length_at(std::uint16_t offset, Bytes record, ByteOrder order) {
  return load<std::uint32_t>(record.data() + offset, order) >> 16;
}

// True if the record's size proves that every string of size 0 is empty, and not unreadable. Both have no bytes in the
// record, but the kernel reserves a byte for the NUL of an empty user-space string (strncpy_from_user_nofault() before
// Linux 6.13). Often the size proves nothing, because it is rounded up to 4 bytes.
bool only_empty_lack_bytes(const std::vector<ProbedValue>& values, Bytes record, ByteOrder order) {
  constexpr std::size_t kUnit = 4;
  std::size_t end = 0;
  std::size_t bytes = 0;
  std::size_t without = 0;
  const auto count = [&](std::uint16_t offset) {
    const std::uint32_t length = length_at(offset, record, order);
    bytes += length;
    without += length == 0 ? 1 : 0;
  };
  for (const ProbedValue& value : values) {
    end = std::max<std::size_t>(end, value.offset + value.size);
    if (value.is_string) count(value.offset);
    if (value.readable_at == 0) continue;
    end = std::max<std::size_t>(end, value.readable_at + kDataLocBytes);
    count(value.readable_at);
  }
  const auto in_units = [](std::size_t size) { return (size + kUnit - 1) / kUnit * kUnit; };
  return without > 0 && record.size() == in_units(end + bytes + without) &&
         record.size() > in_units(end + bytes + without - 1);
}

// Returns the bytes of a string. Empty if the kernel could not read the string, or if a damaged record places it
// outside the record.
std::optional<std::string_view> text_at(std::uint16_t offset, Bytes record, ByteOrder order, bool none_is_empty) {
  const auto where = load<std::uint32_t>(record.data() + offset, order);
  const std::size_t begin = where & 0xFFFF;
  const std::size_t length = where >> 16;
  if (length == 0 && none_is_empty) return std::string_view();
  if (length == 0 || begin + length > record.size()) return std::nullopt;
  std::string_view text(reinterpret_cast<const char*>(record.data()) + begin, length);
  text = text.substr(0, text.find('\0'));
  return text == kFault ? std::nullopt : std::optional(text);
}

void append_length(std::vector<std::uint8_t>& to, std::uint16_t length, ByteOrder order) {
  const auto low = static_cast<std::uint8_t>(length);
  const auto high = static_cast<std::uint8_t>(length >> 8);
  to.push_back(order == ByteOrder::big ? high : low);
  to.push_back(order == ByteOrder::big ? low : high);
}

}  // namespace

std::uint32_t probed_arguments(const EventFormat& format, unsigned word_bytes, std::uint32_t& at) {
  std::uint32_t count = 0;
  while (count < kMostArguments) {
    const FormatField* const field = format.field(("arg" + std::to_string(count + 1)).c_str());
    if (field == nullptr || field->size != word_bytes || field->is_dynamic || field->offset > 0x7FFF) break;
    if (count == 0) at = field->offset;
    if (field->offset != at + count * word_bytes) break;
    ++count;
  }
  return count;
}

std::vector<ProbedValue> probed_values(const EventFormat& format, std::uint32_t& least_bytes) {
  std::vector<ProbedValue> values;
  for (std::uint8_t number = 0; number < kMostValues; ++number) {
    ProbedValue value;
    const FormatField* const field = find_value(format, number, value);
    if (field == nullptr) continue;
    value.number = number;
    value.is_string = field->is_dynamic;
    if (field->offset > 0x7FFF || (value.is_string ? !is_data_loc(*field) : field->size > 8)) break;
    value.offset = static_cast<std::uint16_t>(field->offset);
    value.size = static_cast<std::uint8_t>(field->size);
    least_bytes = std::max(least_bytes, field->offset + field->size);
    if (const FormatField* readable = format.field(("r" + std::to_string(number)).c_str());
        readable != nullptr && is_data_loc(*readable)) {
      value.readable_at = static_cast<std::uint16_t>(readable->offset);
      least_bytes = std::max(least_bytes, readable->offset + readable->size);
    }
    values.push_back(value);
  }
  return values;
}

void read_values(const std::vector<ProbedValue>& values, Bytes record, ByteOrder order,
                 std::span<const std::uint64_t> arguments, ReadValues& to) {
  const bool none_is_empty = only_empty_lack_bytes(values, record, order);
  for (const ProbedValue& value : values) {
    std::optional<std::vector<std::uint8_t>>& read = to[value.number];
    read.reset();
    const std::uint16_t text_offset = value.is_string ? value.offset : value.readable_at;
    const std::optional<std::string_view> text =
        text_offset != 0 ? text_at(text_offset, record, order, none_is_empty) : std::nullopt;
    if (text_offset != 0 && !text) continue;
    if (!value.is_string) {
      const Bytes bytes = record.subspan(value.offset, value.size);
      read.emplace(bytes.begin(), bytes.end());
      continue;
    }
    std::size_t most = value.most != 0 ? std::min<std::size_t>(value.most, kMostStringBytes) : kMostStringBytes;
    if (value.counted_by != 0 && value.counted_by <= arguments.size()) {
      const std::uint64_t count = arguments[value.counted_by - 1U];
      most = to_size(std::min<std::uint64_t>(most, value.counted_by_int ? static_cast<std::uint32_t>(count) : count));
    }
    const std::string_view own = text->substr(0, most);
    read.emplace(own.begin(), own.end());
  }
}

std::vector<std::uint8_t> joined(const ReadValues& values, ByteOrder order) {
  std::vector<std::uint8_t> all;
  std::uint8_t next = 0;
  for (const auto& [number, value] : values) {
    for (; next < number; ++next) append_length(all, kValueLeftOut, order);
    append_length(all, value ? static_cast<std::uint16_t>(value->size()) : kValueNotRead, order);
    if (value) all.insert(all.end(), value->begin(), value->end());
    ++next;
  }
  if (values.empty()) append_length(all, kValueLeftOut, order);
  return all;
}

}  // namespace kmt
