// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/field_locations.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt::ctf {

namespace {

using Nodes = std::vector<FieldNode*>;

bool depends_on_another(FieldKind kind) {
  return kind == FieldKind::dynamic_text || kind == FieldKind::dynamic_blob || kind == FieldKind::dynamic_array ||
         kind == FieldKind::optional || kind == FieldKind::variant;
}

bool is_value(FieldKind kind) {
  return kind == FieldKind::boolean || kind == FieldKind::unsigned_integer || kind == FieldKind::signed_integer ||
         kind == FieldKind::variable_unsigned || kind == FieldKind::variable_signed;
}

bool is_wrapper(FieldKind kind) {
  return kind == FieldKind::static_array || kind == FieldKind::dynamic_array || kind == FieldKind::optional ||
         kind == FieldKind::variant;
}

// Returns the fields, with each array, optional and variant replaced by the fields in it.
Nodes without_wrappers(const Nodes& nodes) {
  Nodes out;
  for (FieldNode* const node : nodes) {
    if (!is_wrapper(node->kind)) {
      out.push_back(node);
      continue;
    }
    Nodes inner;
    for (const auto& field : node->fields) inner.push_back(field.get());
    const Nodes found = without_wrappers(inner);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

Nodes members_named(const Nodes& structures, const std::string& name) {
  Nodes found;
  for (FieldNode* const node : without_wrappers(structures)) {
    if (node->kind != FieldKind::structure) continue;
    const auto member = std::ranges::find(node->fields, name, [](const auto& field) { return field->name; });
    if (member != node->fields.end()) found.push_back(member->get());
  }
  return found;
}

class LocationResolver {
 public:
  LocationResolver(const FieldRoots& roots, std::uint32_t& slots) : roots_(roots), slots_(slots) {}

  void resolve(FieldNode& node) {
    if (depends_on_another(node.kind)) node.source = slot_of(targets(node));
    const bool is_structure = node.kind == FieldKind::structure;
    if (is_structure) around_.push_back(&node);
    for (const auto& field : node.fields) resolve(*field);
    if (is_structure) around_.pop_back();
  }

 private:
  Nodes targets(const FieldNode& node) const {
    std::size_t level = around_.size();
    auto step = node.path.begin();
    if (!node.origin)
      for (; step != node.path.end() && !*step && level > 0; ++step) --level;
    FieldNode* const start = node.origin  ? roots_[static_cast<std::size_t>(*node.origin)]
                             : level == 0 ? nullptr
                                          : around_[level - 1];
    Nodes found;
    if (start != nullptr) found.push_back(start);
    std::string shown;
    for (; step != node.path.end(); ++step) {
      found = *step ? members_named(found, **step) : Nodes();
      shown += (shown.empty() ? "" : ".") + step->value_or("(parent)");
    }
    found = without_wrappers(found);
    std::erase_if(found, [](const FieldNode* target) { return !is_value(target->kind); });
    if (found.empty())
      throw Error(
          fmt::format("\"{}\" needs the integer \"{}\", which does not exist", excerpt(node.name), excerpt(shown)));
    return found;
  }

  // Returns the slot in which all these fields store their values. There are several fields only if they are options of
  // a variant; then only the selected option writes to the slot.
  std::uint32_t slot_of(const Nodes& values) {
    for (const std::uint32_t slot : values.front()->slots) {
      const auto has_slot = [slot](const FieldNode* value) {
        return std::ranges::find(value->slots, slot) != value->slots.end();
      };
      if (std::ranges::all_of(values, has_slot)) return slot;
    }
    for (FieldNode* const value : values) value->slots.push_back(slots_);
    return slots_++;
  }

  const FieldRoots& roots_;
  std::uint32_t& slots_;
  Nodes around_;  // structures that contain the current field, outermost first
};

}  // namespace

void resolve_locations(const FieldRoots& roots, FieldScope scope, std::uint32_t& slots) {
  if (FieldNode* const root = roots[static_cast<std::size_t>(scope)]; root != nullptr)
    LocationResolver(roots, slots).resolve(*root);
}

}  // namespace kmt::ctf
