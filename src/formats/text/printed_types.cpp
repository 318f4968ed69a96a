// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/printed_types.hpp"

#include <algorithm>
#include <utility>

#include "base/endian.hpp"
#include "base/text.hpp"
#include "formats/text/line.hpp"
#include "formats/text/pointer.hpp"
#include "trace/calls/recorded_functions.hpp"
#include "trace/calls/signature.hpp"

namespace kmt::text {

namespace {

struct Argument {
  std::string_view name;  // empty if not printed
  std::string_view value;
};

bool is_identifier(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  return text.size() <= kLongest && is_word(text);
}

// Returns the end of the first argument: the position of its ", " outside quotes and brackets, or the end of the text.
std::size_t end_of_argument(std::string_view text) {
  bool is_quoted = false;
  unsigned depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth == 0 && text.substr(i).starts_with(", ")) return i;
  }
  return text.size();
}

// Splits "fd=3, at=(timespec)[0x1,0x2]" at ", ". Returns at most as many arguments as a call has in registers.
std::vector<Argument> split_arguments(std::string_view text) {
  std::vector<Argument> arguments;
  while (!text.empty() && arguments.size() < kArgumentRegisters) {
    const std::size_t end = end_of_argument(text);
    Argument argument{{}, trim(text.substr(0, end))};
    text.remove_prefix(std::min(end + 2, text.size()));
    const std::size_t equals = argument.value.find('=');
    if (equals != argument.value.npos && is_identifier(argument.value.substr(0, equals)))
      argument = {argument.value.substr(0, equals), argument.value.substr(equals + 1)};
    if (argument.value == "...") break;
    arguments.push_back(argument);
  }
  return arguments;
}

// A structure that the kernel prints as words.
struct PrintedStructure {
  std::vector<std::uint64_t> words;
  bool is_cut = false;  // true if the structure has more words than were printed
};

// Parses "(STRUCT)[0x12:0x34]" or "(STRUCT)[0x12:0x34...]".
std::optional<PrintedStructure> parse_structure(std::string_view value) {
  const std::size_t open = value.find('[');
  if (open == value.npos || !value.starts_with('(') || !value.ends_with(']')) return std::nullopt;
  std::string_view inside = value.substr(open + 1, value.size() - open - 2);
  PrintedStructure structure;
  structure.is_cut = inside.ends_with("...");
  if (structure.is_cut) inside.remove_suffix(3);
  while (!inside.empty()) {
    const std::size_t end = std::min(inside.find_first_of(":,"), inside.size());
    const auto word = parse_value(inside.substr(0, end));
    if (!word || structure.words.size() == kArgumentRegisters) return std::nullopt;
    structure.words.push_back(*word);
    inside.remove_prefix(std::min(end + 1, inside.size()));
  }
  return structure.words.empty() ? std::nullopt : std::optional(structure);
}

// Adds the registers of a value. Returns false if the value is not a number.
bool add_registers(std::string_view value, std::vector<std::uint64_t>& registers) {
  if (const auto structure = parse_structure(value)) {
    registers.insert(registers.end(), structure->words.begin(), structure->words.end());
    return true;
  }
  const auto number = printed_number(value);
  if (number) registers.push_back(*number);
  return number.has_value();
}

// Writes the two parts of a BTF: types and names.
class BtfWriter {
 public:
  static constexpr std::uint32_t kInt = 1, kPointer = 2, kStructure = 4, kFunction = 12, kPrototype = 13, kFloat = 16;

  // Returns the ID of the new type.
  std::uint32_t add(std::uint32_t kind, std::string_view name, std::uint32_t size_or_type, std::size_t count = 0) {
    put(name_offset(name));
    put(kind << 24 | static_cast<std::uint32_t>(count));
    put(size_or_type);
    return ++types_added_;
  }
  void add_integer(std::string_view name, unsigned bytes, std::uint32_t encoding) {
    add(kInt, name, bytes);
    put(encoding << 24 | bytes * 8);
  }
  void add_parameter(std::string_view name, std::uint32_t type) {
    put(name_offset(name));
    put(type);
  }
  std::vector<std::uint8_t> bytes() const {
    constexpr std::uint32_t kHeaderBytes = 24;
    std::vector<std::uint8_t> out(kHeaderBytes + types_.size() + names_.size());
    store(out.data(), std::uint16_t{0xEB9F}, kHostOrder);
    out[2] = 1;  // version
    const auto types = static_cast<std::uint32_t>(types_.size());
    const std::uint32_t words[] = {kHeaderBytes, 0, types, types, static_cast<std::uint32_t>(names_.size())};
    for (std::size_t i = 0; i < std::size(words); ++i) store(out.data() + 4 + 4 * i, words[i], kHostOrder);
    std::ranges::copy(names_, std::ranges::copy(types_, out.begin() + kHeaderBytes).out);
    return out;
  }

 private:
  std::uint32_t name_offset(std::string_view name) {
    if (name.empty()) return 0;
    const auto offset = static_cast<std::uint32_t>(names_.size());
    names_ += name;
    names_ += '\0';
    return offset;
  }
  void put(std::uint32_t word) {
    types_.resize(types_.size() + sizeof(word));
    store(types_.data() + types_.size() - sizeof(word), word, kHostOrder);
  }

  std::vector<std::uint8_t> types_;
  std::string names_ = std::string(1, '\0');
  std::uint32_t types_added_ = 0;
};

}  // namespace

// Parses a printed number. The kernel prints "?" before a value whose type it does not know.
std::optional<std::uint64_t> printed_number(std::string_view value) {
  if (value.starts_with('?')) value.remove_prefix(1);
  if (value == "true" || value == "false") return value == "true" ? 1 : 0;
  return is_nothing(value) ? 0 : parse_value(value);
}

PrintedTypes::Kind PrintedTypes::kind_of(std::string_view value) {
  if (!printed_number(value)) return Kind::unknown;
  if (value == "true" || value == "false") return Kind::boolean;
  return value.find("0x") == value.npos && !is_nothing(value) ? Kind::integer : Kind::pointer;
}

// Returns the kind of a printed result. The kernel prints results of all types in hex. So a result is a pointer only if
// its value can be an address.
PrintedTypes::Kind PrintedTypes::result_kind_of(std::string_view value) {
  const Kind kind = kind_of(value);
  if (kind != Kind::pointer || is_nothing(value)) return kind;
  constexpr std::uint64_t kLowest = 64 << 10;  // the kernel maps no memory below this address
  constexpr std::uint64_t kMostError = 4095;
  const std::uint64_t number = printed_number(value).value_or(0);
  const bool is_error = number > UINT64_MAX - kMostError || (number > UINT32_MAX - kMostError && number <= UINT32_MAX);
  return number >= kLowest && !is_error ? Kind::pointer : Kind::integer;
}

PrintedTypes::Parameter PrintedTypes::parameter_of(std::string_view name, std::string_view value) {
  if (const auto structure = parse_structure(value))
    return {std::string(name), Kind::structure,
            static_cast<std::uint32_t>(structure->words.size() + (structure->is_cut ? 1 : 0))};
  return {std::string(name), kind_of(value)};
}

std::uint32_t PrintedTypes::type_id_of(const Parameter& parameter) {
  const auto id = static_cast<std::uint32_t>(parameter.kind);
  return parameter.kind == Kind::structure ? id + parameter.words - 1 : id;
}

void PrintedTypes::learn(const CallLine& call) {
  if (call.function.empty() || (call.arguments.empty() && call.return_value.empty())) return;
  auto found = functions_.find(call.function);
  if (found == functions_.end()) {
    if (functions_.size() == kMostRecordedFunctions) return;
    found = functions_.emplace(call.function, Function()).first;
  }
  Function& function = found->second;
  const std::vector<Argument> arguments = split_arguments(call.arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Parameter parameter = parameter_of(arguments[i].name, arguments[i].value);
    if (i == function.parameters.size()) {
      function.parameters.push_back(std::move(parameter));
      continue;
    }
    Parameter& known = function.parameters[i];
    const bool is_number = parameter.kind != Kind::unknown && parameter.kind != Kind::structure;
    const bool was_number = known.kind != Kind::unknown && known.kind != Kind::structure;
    const bool fits = is_number ? was_number : parameter.kind == known.kind && parameter.words == known.words;
    if (!fits) known.kind = Kind::unknown;
  }
  // If one result of a function was a pointer, all are. 0 is then NULL, and a negative number is an error pointer.
  if (printed_number(call.return_value) && function.result != Kind::pointer)
    function.result = result_kind_of(call.return_value);
}

std::vector<std::uint64_t> PrintedTypes::registers(const CallLine& call) const {
  const auto found = functions_.find(call.function);
  std::vector<std::uint64_t> registers;
  std::size_t i = 0;
  for (const Argument& argument : split_arguments(call.arguments)) {
    const bool is_known = found != functions_.end() && i < found->second.parameters.size();
    if (is_known && found->second.parameters[i++].kind == Kind::unknown) continue;
    if (!add_registers(argument.value, registers)) break;
  }
  return registers;
}

std::vector<std::uint8_t> PrintedTypes::btf(unsigned long_bytes) const {
  constexpr std::uint32_t kSigned = 1;
  constexpr std::uint32_t kBoolean = 4;
  BtfWriter writer;  // the first types that are added get the IDs in Kind
  writer.add_integer("long", long_bytes, kSigned);
  writer.add(BtfWriter::kPointer, "", 0);
  writer.add_integer("_Bool", 1, kBoolean);
  writer.add(BtfWriter::kFloat, "double", 8);  // kmemtrace shows no values of this type
  for (std::uint32_t words = 1; words <= kArgumentRegisters + 1; ++words)
    writer.add(BtfWriter::kStructure, "", words * long_bytes);
  for (const auto& [name, function] : functions_) {
    const std::uint32_t prototype =
        writer.add(BtfWriter::kPrototype, "", static_cast<std::uint32_t>(function.result), function.parameters.size());
    for (const Parameter& parameter : function.parameters) writer.add_parameter(parameter.name, type_id_of(parameter));
    writer.add(BtfWriter::kFunction, std::string_view(name).substr(0, name.find(" [")), prototype);
  }
  return writer.bytes();
}

}  // namespace kmt::text
