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

// Returns the numbers of all arguments in "fd=3, count=0x1000", as registers.
std::vector<std::uint64_t> printed_registers(std::string_view arguments);
// Parses "-14", "0x0", "true" or "3".
std::optional<std::uint64_t> printed_number(std::string_view value);

class PrintedTypes {
 public:
  void learn(const CallLine& call);
  bool empty() const { return functions_.empty(); }
  // Returns the types as BTF (Documentation/bpf/btf.rst, Linux 6.18), in the byte order of this machine.
  std::vector<std::uint8_t> btf(unsigned long_bytes) const;

 private:
  enum class Kind : std::uint8_t { nothing, integer, pointer, boolean };  // the BTF type IDs
  struct Parameter {
    std::string name;
    Kind kind = Kind::nothing;
  };
  struct Function {
    std::vector<Parameter> parameters;
    Kind result = Kind::nothing;
  };
  static Kind kind_of(std::string_view value);

  std::map<std::string, Function, std::less<>> functions_;
};

}  // namespace kmt::text
