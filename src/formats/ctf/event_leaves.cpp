// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/event_leaves.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "formats/ctf/names.hpp"

namespace kmt::ctf {

namespace {

using Scope = Leaf::Scope;

bool is(const bt_field_class* type, bt_field_class_type wanted) {
  return bt_field_class_type_is(bt_field_class_get_type(type), wanted);
}

// Returns the size of a value in bytes, or 0 if a ring-buffer record cannot contain the value.
unsigned bytes_of(const bt_field_class* type) {
  if (is(type, BT_FIELD_CLASS_TYPE_STRING)) return 1;
  if (is(type, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)) return 4;
  if (is(type, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)) return 8;
  if (is(type, BT_FIELD_CLASS_TYPE_BOOL)) return 1;
  if (is(type, BT_FIELD_CLASS_TYPE_BIT_ARRAY)) return 8;
  if (!is(type, BT_FIELD_CLASS_TYPE_INTEGER)) return 0;
  const std::uint64_t bits = bt_field_class_integer_get_field_value_range(type);
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

const bt_field_class* element_of(const bt_field_class* array) {
  return bt_field_class_array_borrow_element_field_class_const(array);
}

std::string kernel_name(Scope scope, const std::string& system, std::string name) {
  if (name.starts_with("common_")) return name;
  if (scope == Scope::payload) return kernel_field(system, name);
  return name == "tid" ? "common_pid" : "context_" + name;
}

struct Collector {
  std::string system;
  std::vector<Leaf> leaves;
  std::set<std::string> names = {"common_type"};  // names that leaves already have; names must be unique

  void members(Scope scope, const bt_field_class* type, const std::vector<std::uint64_t>& path,
               const std::string& prefix) {
    if (type == nullptr || !is(type, BT_FIELD_CLASS_TYPE_STRUCTURE)) return;
    const std::uint64_t count = bt_field_class_structure_get_member_count(type);
    std::set<std::string> lengths;
    const auto member_at = [type](std::uint64_t i) {
      return bt_field_class_structure_borrow_member_by_index_const(type, i);
    };
    for (std::uint64_t i = 0; i < count; ++i)
      if (is(bt_field_class_structure_member_borrow_field_class_const(member_at(i)), BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
        lengths.insert(fmt::format("_{}_length", bt_field_class_structure_member_get_name(member_at(i))));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string name = bt_field_class_structure_member_get_name(member_at(i));
      std::vector<std::uint64_t> here = path;
      here.push_back(i);
      if (!lengths.contains(name))
        value(scope, bt_field_class_structure_member_borrow_field_class_const(member_at(i)), here, prefix + name);
    }
  }

  void value(Scope scope, const bt_field_class* type, const std::vector<std::uint64_t>& path, const std::string& name) {
    if (is(type, BT_FIELD_CLASS_TYPE_STRUCTURE)) return members(scope, type, path, name + "_");
    const bool array = is(type, BT_FIELD_CLASS_TYPE_ARRAY);
    const bool of_text = array && is(element_of(type), BT_FIELD_CLASS_TYPE_STRING);
    const unsigned bytes = of_text ? 0 : bytes_of(array ? element_of(type) : type);
    const std::string given = kernel_name(scope, system, name);
    if (bytes != 0 && names.insert(given).second) leaves.push_back({scope, path, type, given, bytes});
  }
};

bool is_common(const std::string& name) {
  return name == "common_flags" || name == "common_preempt_count" || name == "common_pid";
}

}  // namespace

bool Leaf::is_array() const { return is(type, BT_FIELD_CLASS_TYPE_ARRAY); }
bool Leaf::is_string() const { return is(type, BT_FIELD_CLASS_TYPE_STRING); }
bool Leaf::is_signed() const { return is(is_array() ? element_of(type) : type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER); }

std::vector<Leaf> leaves_of(const bt_event_class& event_class, const std::string& system) {
  Collector collector{system, {}, {"common_type"}};
  collector.members(Scope::payload, bt_event_class_borrow_payload_field_class_const(&event_class), {}, "");
  collector.members(Scope::specific_context, bt_event_class_borrow_specific_context_field_class_const(&event_class), {},
                    "");
  const bt_stream_class* const streams = bt_event_class_borrow_stream_class_const(&event_class);
  collector.members(Scope::common_context, bt_stream_class_borrow_event_common_context_field_class_const(streams), {},
                    "");
  for (const auto& [own, other] : {std::pair("context_vtid", "common_pid"), std::pair("context_vpid", "context_pid")})
    if (const auto leaf = std::ranges::find(collector.leaves, own, &Leaf::name);
        leaf != collector.leaves.end() && !collector.names.contains(other))
      leaf->name = other;
  return std::move(collector.leaves);
}

std::string word(const std::string& name) {
  std::string text = name;
  const auto is_of_word = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); };
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return !is_of_word(static_cast<unsigned char>(c)); }, '_');
  return text;
}

FormatText describe(unsigned id, const std::string& system, const std::string& name, const std::vector<Leaf>& leaves) {
  std::vector<TextField> fields;
  for (const Leaf& leaf : leaves) {
    if (is_common(leaf.name)) continue;
    const bool is_elsewhere = leaf.is_array() || leaf.is_string();
    fields.push_back({word(leaf.name), is_elsewhere ? 4 : leaf.bytes, leaf.is_signed(), leaf.is_string(),
                      leaf.is_array() ? leaf.bytes : 0});
  }
  return {system, format_text(word(name), id, fields, {})};
}

}  // namespace kmt::ctf
