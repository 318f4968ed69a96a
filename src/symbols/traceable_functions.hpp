// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the functions whose calls a kernel can trace, from the kernel's own files, and selects from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct TraceableFunction {
  std::string name;
  std::string module;  // empty for functions of the kernel itself
  std::uint64_t address = 0;
  friend bool operator==(const TraceableFunction&, const TraceableFunction&) = default;
};

// Several functions with the same name, as static functions may have.
struct Namesakes {
  std::string name;
  std::size_t chosen = 0;
  std::size_t left_out = 0;  // number of functions excluded because it is unknown which of them can be traced
};

struct FunctionChoice {
  std::vector<TraceableFunction> functions;  // sorted by module, name and address; addresses are unique
  std::vector<std::string> not_found;        // patterns that match no function
  std::vector<Namesakes> namesakes;          // names shared by several functions, of which some were excluded
};

// A pattern is "name" (for the kernel and modules), "name [module]" or "module:name", with the wildcards * ? […].
// `traceable` is the text of available_filter_functions_addrs, or of available_filter_functions (before Linux 6.5).
// `kallsyms` is the text of /proc/kallsyms with addresses.
FunctionChoice choose_functions(std::string_view traceable, std::string_view kallsyms,
                                const std::vector<std::string>& patterns);

// A parsed pattern "name", "name [module]" or "module:name".
struct FunctionPattern {
  std::string name;
  std::string module;  // empty: the kernel and all modules
};
FunctionPattern parse_function_pattern(std::string_view text);

// True if the pattern may match functions with different names.
bool has_wildcards(std::string_view pattern);

// Returns the names of all functions that can be traced.
std::vector<std::string> names_of_traceable(std::string_view traceable);
// Returns the modules that have a traceable function with this name; "" is the kernel.
std::vector<std::string> modules_with(std::string_view traceable, std::string_view name);

}  // namespace kmt
