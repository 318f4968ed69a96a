// SPDX-License-Identifier: GPL-2.0-or-later
// Derives types of arguments and results from the values that the function_graph tracer printed. The kernel prints
// pointers in hex and signed integers in decimal (print_function_args() in kernel/trace/trace_output.c, Linux 6.18).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/call_line.hpp"

namespace kmt::text {

// Parses "-14", "0x0", "true" or "3".
std::optional<std::uint64_t> printed_number(std::string_view value);

class PrintedTypes {
 public:
  void learn(const CallLine& call);
  bool empty() const { return functions_.empty(); }
  // Returns the numbers of all arguments in "fd=3, count=0x1000", as registers. Arguments that are not numbers, such as
  // strings, have no register. Their type is `unknown`, so they are never shown as 0.
  std::vector<std::uint64_t> registers(const CallLine& call) const;
  // Returns the types as BTF (Documentation/bpf/btf.rst, Linux 6.18), in the byte order of this machine.
  std::vector<std::uint8_t> btf(unsigned long_bytes) const;

 private:
  // The values are type IDs in the BTF. The IDs after `structure` belong to structures of 1 word, 2 words, and so on.
  enum class Kind : std::uint8_t { nothing, integer, pointer, boolean, unknown, structure };
  struct Parameter {
    std::string name;
    Kind kind = Kind::nothing;
    std::uint32_t words = 0;  // size of a structure, in words of the machine
    bool operator==(const Parameter&) const = default;
  };
  struct Function {
    std::vector<Parameter> parameters;
    Kind result = Kind::nothing;
  };
  static Kind kind_of(std::string_view value);
  static Kind result_kind_of(std::string_view value);
  static Parameter parameter_of(std::string_view name, std::string_view value);
  static std::uint32_t type_id_of(const Parameter& parameter);

  std::map<std::string, Function, std::less<>> functions_;
};

}  // namespace kmt::text
