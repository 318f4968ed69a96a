// SPDX-License-Identifier: GPL-2.0-or-later
// Reads from the kernel's own files which functions can be traced, and selects some of them by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct TraceableFunction {
  std::string name;
  std::string module;  // name of the module; empty for functions of the kernel itself
  std::uint64_t address = 0;
  friend bool operator==(const TraceableFunction&, const TraceableFunction&) = default;
};

// Several functions that have the same name, such as static functions in different files.
struct Namesakes {
  std::string name;
  std::size_t chosen = 0;
  // Number of functions with this name that were excluded, because it is unknown which of them can be traced.
  std::size_t omitted = 0;
};

struct FunctionChoice {
  std::vector<TraceableFunction> functions;  // sorted by module, name and address; no address occurs twice
  std::vector<std::string> not_found;        // patterns that match no traceable function
  std::vector<Namesakes> namesakes;          // names for which some functions were excluded
};

// Selects functions by patterns. A pattern is "name" (in the kernel and in all modules), "name [module]" or
// "module:name". It may have the wildcards * ? […]. `traceable` is the text of available_filter_functions_addrs, or of
// available_filter_functions before Linux 6.5. `kallsyms` is the text of /proc/kallsyms, which must have addresses.
FunctionChoice choose_functions(std::string_view traceable, std::string_view kallsyms,
                                const std::vector<std::string>& patterns);

// A parsed pattern "name", "name [module]" or "module:name".
struct FunctionPattern {
  std::string name;
  std::string module;  // if empty, the pattern selects functions of the kernel and of all modules
};
FunctionPattern parse_function_pattern(std::string_view text);

// True if the pattern can match functions with different names.
bool has_wildcards(std::string_view pattern);

// Returns the names of all functions that can be traced.
std::vector<std::string> names_of_traceable(std::string_view traceable);
// Returns the names of the modules that have a traceable function with this name. The kernel itself has the name "".
std::vector<std::string> modules_with(std::string_view traceable, std::string_view name);

}  // namespace kmt
