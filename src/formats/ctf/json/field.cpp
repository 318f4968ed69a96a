// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/json/field.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt::ctf {

namespace {

constexpr unsigned kMostDepth = 32;
// Maximum number of fields in a trace. For comparison: all events of lttng-modules 2.13 together have about 12,000
// members.
constexpr std::size_t kMostNodes = 65536;
// Maximum number of members of a structure. It limits the time, because libbabeltrace2 compares the name of each new
// member with all others.
constexpr std::size_t kMostInStructure = 2048;
constexpr std::uint64_t kMostBits = 1u << 16;  // maximum length of a bit array, in bits
constexpr std::uint64_t kMostAlignment = 1u << 16;
constexpr std::uint64_t kMostInArrays = 65536;  // maximum number of stored elements in all arrays of a structure

struct KindName {
  std::string_view name;
  FieldKind kind;
};
constexpr std::array<KindName, 18> kKinds = {{
    {"fixed-length-bit-array", FieldKind::bit_array},
    {"fixed-length-bit-map", FieldKind::bit_array},
    {"fixed-length-boolean", FieldKind::boolean},
    {"fixed-length-unsigned-integer", FieldKind::unsigned_integer},
    {"fixed-length-signed-integer", FieldKind::signed_integer},
    {"fixed-length-floating-point-number", FieldKind::real},
    {"variable-length-unsigned-integer", FieldKind::variable_unsigned},
    {"variable-length-signed-integer", FieldKind::variable_signed},
    {"null-terminated-string", FieldKind::text_until_nul},
    {"static-length-string", FieldKind::static_text},
    {"dynamic-length-string", FieldKind::dynamic_text},
    {"static-length-blob", FieldKind::static_blob},
    {"dynamic-length-blob", FieldKind::dynamic_blob},
    {"structure", FieldKind::structure},
    {"static-length-array", FieldKind::static_array},
    {"dynamic-length-array", FieldKind::dynamic_array},
    {"optional", FieldKind::optional},
    {"variant", FieldKind::variant},
}};

struct RoleName {
  std::string_view name;
  std::uint32_t role;
};
constexpr std::array<RoleName, 11> kRoles = {{
    {"packet-magic-number", FieldRole::kMagic},
    {"metadata-stream-uuid", FieldRole::kUuid},
    {"data-stream-class-id", FieldRole::kStreamClass},
    {"data-stream-id", FieldRole::kStream},
    {"default-clock-timestamp", FieldRole::kTime},
    {"packet-end-default-clock-timestamp", FieldRole::kEndTime},
    {"discarded-event-record-counter-snapshot", FieldRole::kDiscarded},
    {"packet-content-length", FieldRole::kContentLength},
    {"packet-total-length", FieldRole::kTotalLength},
    {"packet-sequence-number", FieldRole::kSequence},
    {"event-record-class-id", FieldRole::kEventClass},
}};

struct ScopeName {
  std::string_view name;
  FieldScope scope;
};
constexpr std::array<ScopeName, kFieldScopes> kScopes = {{
    {"packet-header", FieldScope::packet_header},
    {"packet-context", FieldScope::packet_context},
    {"event-record-header", FieldScope::event_header},
    {"event-record-common-context", FieldScope::common_context},
    {"event-record-specific-context", FieldScope::specific_context},
    {"event-record-payload", FieldScope::payload},
}};

struct EncodingName {
  std::string_view name;
  TextEncoding encoding;
};
constexpr std::array<EncodingName, 5> kEncodings = {{{"utf-8", TextEncoding::utf8},
                                                     {"utf-16be", TextEncoding::utf16be},
                                                     {"utf-16le", TextEncoding::utf16le},
                                                     {"utf-32be", TextEncoding::utf32be},
                                                     {"utf-32le", TextEncoding::utf32le}}};

// Returns the entry of `table` that has this name. Throws Error if there is none.
template <typename Table>
const auto& entry_of(const Table& table, const std::string& name, const char* what) {
  for (const auto& entry : table)
    if (entry.name == name) return entry;
  throw Error(fmt::format("unknown {} \"{}\"", what, excerpt(name)));
}

std::uint64_t alignment_in(const Json& value, const char* name) {
  const std::uint64_t alignment = number_property(value, name, 1);
  if (!std::has_single_bit(alignment) || alignment > kMostAlignment)
    throw Error(fmt::format("impossible {} {}", name, alignment));
  return alignment;
}

const Json& list_property(const Json& object, const char* name) {
  const Json* const list = property(object, name);
  if (list == nullptr) throw Error(fmt::format("\"{}\" is missing", name));
  if (!list->is_array()) throw Error(fmt::format("\"{}\" is not an array", name));
  return *list;
}

// Reads the properties that numbers have in common with bit arrays.
void parse_bits(const Json& value, FieldNode& node) {
  node.length = number_property(value, "length");
  if (node.length == 0 || node.length > kMostBits)
    throw Error(fmt::format("impossible length of {} bits", node.length));
  const bool is_integer = node.kind == FieldKind::unsigned_integer || node.kind == FieldKind::signed_integer;
  if (is_integer && node.length > 64) throw Error(fmt::format("integers of {} bits are not supported", node.length));
  const std::string order = text_property(value, "byte-order");
  if (order != "big-endian" && order != "little-endian")
    throw Error(fmt::format("unknown byte order \"{}\"", excerpt(order)));
  node.big_endian = order == "big-endian";
  const std::string bits = text_property(value, "bit-order", node.big_endian ? "last-to-first" : "first-to-last");
  if (bits != "last-to-first" && bits != "first-to-last")
    throw Error(fmt::format("unknown bit order \"{}\"", excerpt(bits)));
  node.last_to_first = bits == "last-to-first";
  node.alignment = alignment_in(value, "alignment");
  const bool is_wide = node.kind == FieldKind::bit_array && node.length > 64;
  const bool is_odd_real = node.kind == FieldKind::real && node.length != 16 && node.length != 32 && node.length != 64;
  node.is_kept = !is_wide && !is_odd_real;
}

void parse_roles(const Json& value, FieldNode& node) {
  if (property(value, "roles") == nullptr) return;
  const Json& roles = list_property(value, "roles");
  if (roles.size() > kRoles.size()) throw Error("a field class has too many roles");
  for (const Json& role : roles) {
    if (!role.is_string()) throw Error("a role is not a text");
    node.roles |= entry_of(kRoles, role.get<std::string>(), "role").role;
  }
  const bool is_unsigned = node.kind == FieldKind::unsigned_integer || node.kind == FieldKind::variable_unsigned;
  const bool is_uuid = node.kind == FieldKind::static_blob && node.length == 16;
  if (((node.roles & ~FieldRole::kUuid) != 0 && !is_unsigned) || ((node.roles & FieldRole::kUuid) != 0 && !is_uuid))
    throw Error("a role does not fit its field class");
}

void parse_location(const Json& value, const char* name, FieldNode& node) {
  const Json* const location = property(value, name);
  if (location == nullptr) throw Error(fmt::format("\"{}\" is missing", name));
  if (const Json* const origin = property(*location, "origin"))
    node.origin = entry_of(kScopes, origin->is_string() ? origin->get<std::string>() : "", "origin").scope;
  for (const Json& step : list_property(*location, "path")) {
    if (!step.is_null() && !step.is_string()) throw Error("a path has an element that is not a name");
    node.path.push_back(step.is_null() ? std::nullopt : std::optional(step.get<std::string>()));
  }
  if (node.path.empty() || !node.path.back()) throw Error("a path is empty or ends without a name");
}

SelectorValue selector_value(const Json& number) {
  if (number.is_number_unsigned()) return {true, number.get<std::uint64_t>()};
  if (!number.is_number_integer()) throw Error("the bound of a range is not an integer");
  const auto value = number.get<std::int64_t>();
  return {value >= 0, static_cast<std::uint64_t>(value)};
}

void parse_ranges(const Json& value, FieldNode& node) {
  for (const Json& range : list_property(value, "selector-field-ranges")) {
    if (!range.is_array() || range.size() != 2) throw Error("a range does not have two bounds");
    node.ranges.emplace_back(selector_value(range[0]), selector_value(range[1]));
    if (node.ranges.back().second < node.ranges.back().first) throw Error("a range ends before its start");
  }
  if (node.ranges.empty()) throw Error("\"selector-field-ranges\" has no range");
}

bool is_fixed(FieldKind kind) { return kind <= FieldKind::real; }
bool is_text(FieldKind kind) {
  return kind == FieldKind::text_until_nul || kind == FieldKind::static_text || kind == FieldKind::dynamic_text;
}

void check_names(const FieldNode& node) {
  std::set<std::string_view> names;
  for (const auto& field : node.fields)
    if (field->name.find('\0') != std::string::npos || !names.insert(field->name).second)
      throw Error(fmt::format("a structure has two members \"{}\", or a name has a NUL", excerpt(field->name)));
}

// Returns a measure of the memory for the node's ranges and path, which each use of an alias copies. A range counts as
// 1. A name in the path counts as 1, and 1 more for each 32 bytes.
std::size_t size_of_parts(const FieldNode& node) {
  std::size_t size = node.ranges.size() + node.path.size();
  for (const auto& step : node.path) size += step ? step->size() / 32 : 0;
  return size;
}

bool is_blob(FieldKind kind) { return kind == FieldKind::static_blob || kind == FieldKind::dynamic_blob; }
bool is_array(FieldKind kind) { return kind == FieldKind::static_array || kind == FieldKind::dynamic_array; }

bool has_elements(const FieldNode& node) {
  return is_blob(node.kind) || is_array(node.kind) ||
         std::ranges::any_of(node.fields, [](const auto& field) { return has_elements(*field); });
}

// Limits the number of stored elements of all arrays in the node to `most`. The limit of each array depends on the
// arrays around it, because the lengths of nested arrays multiply. The limits are fixed, because libbabeltrace2 reuses
// the memory of events: each array keeps the memory for its greatest length so far.
void limit_elements(FieldNode& node, std::uint64_t most) {
  if (is_blob(node.kind)) node.most_kept = std::min(kMostKept, most);
  if (is_array(node.kind)) {
    FieldNode& element = *node.fields.front();
    node.most_kept = std::min(kMostKept, most / element.weight);
    return limit_elements(element, node.most_kept == 0 ? 0 : most / node.most_kept - element.weight);
  }
  const auto shares = static_cast<std::uint64_t>(
      std::ranges::count_if(node.fields, [](const auto& field) { return has_elements(*field); }));
  for (const auto& field : node.fields) limit_elements(*field, most / std::max<std::uint64_t>(shares, 1));
}

void keep_roles(FieldNode& node, std::uint32_t roles) {
  node.roles &= roles;
  for (const auto& field : node.fields) keep_roles(*field, roles);
}

}  // namespace

const Json* property(const Json& object, const char* name) {
  if (!object.is_object()) throw Error("a JSON value is not an object");
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string text_property(const Json& object, const char* name, std::string fallback) {
  const Json* const value = property(object, name);
  if (value == nullptr) return fallback;
  if (!value->is_string()) throw Error(fmt::format("\"{}\" is not a text", name));
  return value->get<std::string>();
}

std::string text_property(const Json& object, const char* name) {
  if (property(object, name) == nullptr) throw Error(fmt::format("\"{}\" is missing", name));
  return text_property(object, name, {});
}

std::uint64_t number_property(const Json& object, const char* name, std::uint64_t fallback) {
  const Json* const value = property(object, name);
  if (value == nullptr) return fallback;
  if (!value->is_number_unsigned()) throw Error(fmt::format("\"{}\" is not an integer of at least 0", name));
  return value->get<std::uint64_t>();
}

std::uint64_t number_property(const Json& object, const char* name) {
  if (property(object, name) == nullptr) throw Error(fmt::format("\"{}\" is missing", name));
  return number_property(object, name, 0);
}

void JsonFieldParser::add_alias(const std::string& name, const Json& field_class) {
  parse(field_class);  // throws Error if the class is invalid, or uses an alias that is not defined yet
  if (!aliases_.emplace(name, field_class).second)
    throw Error(fmt::format("there are two aliases \"{}\"", excerpt(name)));
}

std::unique_ptr<FieldNode> JsonFieldParser::parse_structure(const Json& object, const char* name, std::uint32_t roles) {
  const Json* const value = property(object, name);
  if (value == nullptr) return nullptr;
  std::unique_ptr<FieldNode> node = parse(*value);
  if (node->kind != FieldKind::structure) throw Error(fmt::format("\"{}\" is not a structure", name));
  keep_roles(*node, roles);
  limit_elements(*node, kMostInArrays);
  return node;
}

std::unique_ptr<FieldNode> JsonFieldParser::parse(const Json& value, unsigned depth) {
  if (depth > kMostDepth) throw Error("field classes are nested too deeply");
  if (value.is_string()) {
    const auto alias = aliases_.find(value.get<std::string>());
    if (alias == aliases_.end()) throw Error(fmt::format("unknown alias \"{}\"", excerpt(value.get<std::string>())));
    return parse(alias->second, depth + 1);
  }
  count(1);
  auto node = std::make_unique<FieldNode>();
  node->kind = entry_of(kKinds, text_property(value, "type"), "field class").kind;
  if (is_fixed(node->kind))
    parse_bits(value, *node);
  else if (node->kind < FieldKind::structure)
    node->alignment = 8;
  if (is_text(node->kind))
    node->encoding = entry_of(kEncodings, text_property(value, "encoding", "utf-8"), "encoding").encoding;
  switch (node->kind) {
    case FieldKind::static_text:
    case FieldKind::static_blob:
    case FieldKind::static_array: node->length = number_property(value, "length"); break;
    case FieldKind::dynamic_text:
    case FieldKind::dynamic_blob:
    case FieldKind::dynamic_array: parse_location(value, "length-field-location", *node); break;
    case FieldKind::optional:
    case FieldKind::variant: parse_location(value, "selector-field-location", *node); break;
    default: break;
  }
  parse_roles(value, *node);
  if (node->kind >= FieldKind::structure) parse_compound(value, depth, *node);
  for (const auto& field : node->fields) node->weight += field->weight;
  count(size_of_parts(*node));
  return node;
}

void JsonFieldParser::count(std::size_t more) {
  size_ += more;
  if (size_ > kMostNodes)
    throw Error(fmt::format("the trace has more than {} fields, or their names and ranges are too long", kMostNodes));
}

void JsonFieldParser::add_field(const Json& object, const char* key, unsigned depth, FieldNode& node) {
  const Json* const field_class = property(object, key);
  if (field_class == nullptr) throw Error(fmt::format("\"{}\" is missing", key));
  node.fields.push_back(parse(*field_class, depth + 1));
}

void JsonFieldParser::parse_members(const Json& value, const char* list, unsigned depth, FieldNode& node) {
  const bool is_variant = node.kind == FieldKind::variant;
  for (const Json& member : list_property(value, list)) {
    if (node.fields.size() == kMostInStructure)
      throw Error(fmt::format("a structure has more than {} members", kMostInStructure));
    add_field(member, "field-class", depth, node);
    FieldNode& field = *node.fields.back();
    field.name = is_variant ? text_property(member, "name", {}) : text_property(member, "name");
    if (is_variant) {
      field.ranges.clear();
      parse_ranges(member, field);
      count(field.ranges.size());
    }
    count(field.name.size() / 32);
  }
}

void JsonFieldParser::parse_compound(const Json& value, unsigned depth, FieldNode& node) {
  const auto greatest_alignment = [&] {
    std::uint64_t alignment = alignment_in(value, "minimum-alignment");
    for (const auto& field : node.fields) alignment = std::max(alignment, field->alignment);
    return alignment;
  };
  switch (node.kind) {
    case FieldKind::structure:
      if (property(value, "member-classes") != nullptr) parse_members(value, "member-classes", depth, node);
      check_names(node);
      node.alignment = greatest_alignment();
      break;
    case FieldKind::static_array:
    case FieldKind::dynamic_array:
      add_field(value, "element-field-class", depth, node);
      node.alignment = greatest_alignment();
      node.is_kept = node.fields.front()->is_kept;
      break;
    case FieldKind::optional:
      add_field(value, "field-class", depth, node);
      if (property(value, "selector-field-ranges") != nullptr) parse_ranges(value, node);
      node.is_kept = node.fields.front()->is_kept;
      break;
    default:
      parse_members(value, "options", depth, node);
      if (node.fields.empty()) throw Error("a variant has no options");
      node.is_kept = false;
  }
}

}  // namespace kmt::ctf
