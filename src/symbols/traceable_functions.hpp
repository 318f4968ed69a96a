// SPDX-License-Identifier: GPL-2.0-or-later
// The functions whose calls a kernel can trace, from the texts of its own lists, and choosing among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct TraceableFunction {
  std::string name;
  std::string module;  // empty: of the kernel
  std::uint64_t address = 0;
  friend bool operator==(const TraceableFunction&, const TraceableFunction&) = default;
};

// Functions that have one name; static ones may.
struct Namesakes {
  std::string name;
  std::size_t chosen = 0;
  std::size_t left_out = 0;  // functions of one name, of which it is unknown which can be traced
};

struct FunctionChoice {
  std::vector<TraceableFunction> functions;  // by module, name and address; no two of one address
  std::vector<std::string> not_found;        // patterns that name none
  std::vector<Namesakes> namesakes;          // of names shared by several functions, not all of them chosen
};

// "name" of the kernel and of modules, "name [module]" or "module:name", each with the wildcards * ? […].
// `traceable` is the text of available_filter_functions_addrs, or of available_filter_functions, which older kernels
// have alone (before Linux 6.5); `kallsyms` that of /proc/kallsyms, with addresses.
FunctionChoice choose_functions(std::string_view traceable, std::string_view kallsyms,
                                const std::vector<std::string>& patterns);

// "name", "name [module]" or "module:name".
struct FunctionPattern {
  std::string name;
  std::string module;  // empty: any, and the kernel
};
FunctionPattern parse_function_pattern(std::string_view text);

// Whether a pattern may stand for several functions of different names.
bool has_wildcards(std::string_view pattern);

// All names that can be traced.
std::vector<std::string> names_of_traceable(std::string_view traceable);
// The modules that have a function of that name which can be traced; empty: the kernel.
std::vector<std::string> modules_with(std::string_view traceable, std::string_view name);

}  // namespace kmt
