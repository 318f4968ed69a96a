// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the field classes of CTF 2 (CTF2-SPEC-2.0, section 5.3).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

using Json = nlohmann::json;

// The following functions read a property of an object. They throw Error, without a position, if the property is
// missing or has another type.
const Json* property(const Json& object, const char* name);  // null if it is missing
std::string text_property(const Json& object, const char* name);
std::uint64_t number_property(const Json& object, const char* name);
// Returns the property, or `fallback` if the property is missing.
std::string text_property(const Json& object, const char* name, std::string fallback);
std::uint64_t number_property(const Json& object, const char* name, std::uint64_t fallback);

class JsonFieldParser {
 public:
  // Adds an alias, which is a name for a field class. The field class may use earlier aliases.
  void add_alias(const std::string& name, const Json& field_class);
  // Parses a field class. `value` is the field class or the name of an alias.
  std::unique_ptr<FieldNode> parse(const Json& value) { return parse(value, 0); }
  // Returns the structure in the property `name`, or null if there is no such property. Fields keep only those of their
  // roles that are in `roles`.
  std::unique_ptr<FieldNode> parse_structure(const Json& object, const char* name, std::uint32_t roles);

 private:
  std::unique_ptr<FieldNode> parse(const Json& value, unsigned depth);
  void count(std::size_t more);
  void parse_compound(const Json& value, unsigned depth, FieldNode& node);
  void add_field(const Json& object, const char* key, unsigned depth, FieldNode& node);
  void parse_members(const Json& value, const char* list, unsigned depth, FieldNode& node);

  std::map<std::string, Json> aliases_;
  std::size_t size_ = 0;  // number of fields in all classes and aliases, plus the sizes of their names and ranges
};

}  // namespace kmt::ctf
