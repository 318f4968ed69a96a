// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/printed_types.hpp"

#include <algorithm>
#include <cctype>

#include "base/endian.hpp"
#include "base/text.hpp"
#include "formats/text/line.hpp"
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

// Splits "fd=3, at=(timespec)[0x1,0x2]" at ", ". Returns at most as many arguments as a call has in registers.
std::vector<Argument> split_arguments(std::string_view text) {
  std::vector<Argument> arguments;
  while (!text.empty() && arguments.size() < kArgumentRegisters) {
    const std::size_t end = std::min(text.find(", "), text.size());
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

// Writes the two parts of a BTF: types and names.
class BtfWriter {
 public:
  static constexpr std::uint32_t kInt = 1, kPointer = 2, kFunction = 12, kPrototype = 13;

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

std::optional<std::uint64_t> printed_number(std::string_view value) {
  if (value == "true" || value == "false") return value == "true" ? 1 : 0;
  return parse_value(value);
}

// A structure such as "(timespec)[0x1,0x2]" counts as its first word.
std::vector<std::uint64_t> printed_registers(std::string_view arguments) {
  std::vector<std::uint64_t> registers;
  for (const Argument& argument : split_arguments(arguments)) {
    std::string_view value = argument.value;
    if (const std::size_t open = value.find('['); open != value.npos)
      value = value.substr(open + 1, value.find_first_of(",]", open) - open - 1);
    if (value.starts_with('?')) value.remove_prefix(1);  // the kernel prints "?" if it does not know the type
    registers.push_back(printed_number(value).value_or(0));
  }
  return registers;
}

PrintedTypes::Kind PrintedTypes::kind_of(std::string_view value) {
  if (value == "true" || value == "false") return Kind::boolean;
  return value.find("0x") == value.npos ? Kind::integer : Kind::pointer;
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
  for (std::size_t i = function.parameters.size(); i < arguments.size(); ++i)
    function.parameters.push_back({std::string(arguments[i].name), kind_of(arguments[i].value)});
  // A negative result may be an error pointer, which the kernel prints as a negative number. It prints all other
  // pointers in hex.
  if (!call.return_value.empty() && function.result != Kind::pointer) function.result = kind_of(call.return_value);
}

std::vector<std::uint8_t> PrintedTypes::btf(unsigned long_bytes) const {
  constexpr std::uint32_t kSigned = 1;
  constexpr std::uint32_t kBoolean = 4;
  BtfWriter writer;  // the first types have the IDs in Kind
  writer.add_integer("long", long_bytes, kSigned);
  writer.add(BtfWriter::kPointer, "", 0);
  writer.add_integer("_Bool", 1, kBoolean);
  for (const auto& [name, function] : functions_) {
    const std::uint32_t prototype =
        writer.add(BtfWriter::kPrototype, "", static_cast<std::uint32_t>(function.result), function.parameters.size());
    for (const Parameter& parameter : function.parameters)
      writer.add_parameter(parameter.name, static_cast<std::uint32_t>(parameter.kind));
    writer.add(BtfWriter::kFunction, std::string_view(name).substr(0, name.find(" [")), prototype);
  }
  return writer.bytes();
}

}  // namespace kmt::text
