// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/traceable_functions.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "symbols/kallsyms_lines.hpp"

namespace kmt {

namespace {

// The maximum distance in bytes from the start of a function to its call of the tracer. A mark for indirect jumps (such
// as endbr64) may come before this call. The real distance is much smaller.
constexpr std::uint64_t kMostBeforeTracing = 64;

// A line has the format "name [module]". An address may precede the name. That address is the place of the call to the
// tracer, not the start of the function.
struct Line {
  std::string_view name;
  std::string_view module;
  std::uint64_t place = 0;  // 0: unknown
};

Line parse_line(std::string_view text) {
  Line line;
  constexpr std::size_t kFewestDigits = 8;
  const std::size_t end = text.find(' ');
  // The first word is an address if it has enough hexadecimal digits and another word follows. No function name looks
  // like this.
  if (end != std::string_view::npos && end >= kFewestDigits && parse_number(text.substr(0, end), line.place, 16))
    text.remove_prefix(end + 1);
  line.name = text.substr(0, text.find(' '));
  if (const std::size_t open = text.find('['); open != std::string_view::npos)
    line.module = text.substr(open + 1, text.find(']') - open - 1);
  return line;
}

template <typename Use>
void for_each_traceable(std::string_view text, Use use) {
  for (const std::string_view line : split(text, '\n')) {
    const Line parsed = parse_line(line);
    // Names with this prefix belong to code that the kernel has freed.
    if (!parsed.name.empty() && !parsed.name.starts_with("__ftrace_invalid_address__")) use(parsed);
  }
}

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

struct Pattern {
  FunctionPattern wanted;
  bool is_of_names = false;

  explicit Pattern(std::string_view text) : wanted(parse_function_pattern(text)), is_of_names(is_glob(wanted.name)) {}

  bool fits(const Line& line) const {
    if (!wanted.module.empty() && !glob_match(wanted.module, std::string(line.module))) return false;
    return is_of_names ? glob_match(wanted.name, std::string(line.name)) : wanted.name == line.name;
  }
};

using Name = std::pair<std::string, std::string>;  // module, name

struct Found {
  std::vector<std::uint64_t> places;     // addresses of the tracer calls in functions of this name; 0: unknown
  std::vector<std::uint64_t> addresses;  // all addresses that kallsyms has for this name, in ascending order
};

// Returns the start of the function that calls the tracer at `place`. Returns 0 if the function is unknown.
std::uint64_t begin_of(const std::vector<std::uint64_t>& addresses, std::uint64_t place) {
  const auto after = std::upper_bound(addresses.begin(), addresses.end(), place);
  if (after == addresses.begin()) return 0;
  const std::uint64_t begin = *std::prev(after);
  return place - begin <= kMostBeforeTracing ? begin : 0;
}

// Returns the start addresses of those functions with this name that can be traced.
std::vector<std::uint64_t> traceable_addresses(const Found& found) {
  std::vector<std::uint64_t> chosen;
  if (std::ranges::find(found.places, std::uint64_t{0}) == found.places.end()) {
    for (const std::uint64_t place : found.places)
      if (const std::uint64_t begin = begin_of(found.addresses, place); begin != 0) chosen.push_back(begin);
  } else if (found.places.size() >= found.addresses.size()) {
    chosen = found.addresses;
  }
  return chosen;
}

}  // namespace

FunctionPattern parse_function_pattern(std::string_view text) {
  const std::size_t open = text.find(" [");
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos)
    return {std::string(trim(text.substr(colon + 1))), std::string(text.substr(0, colon))};
  if (open != std::string_view::npos && text.ends_with(']'))
    return {std::string(trim(text.substr(0, open))), std::string(text.substr(open + 2, text.size() - open - 3))};
  return {std::string(trim(text)), {}};
}

bool has_wildcards(std::string_view pattern) {
  const FunctionPattern wanted = parse_function_pattern(pattern);
  return is_glob(wanted.name) || is_glob(wanted.module);
}

FunctionChoice choose_functions(std::string_view traceable, std::string_view kallsyms,
                                const std::vector<std::string>& patterns) {
  FunctionChoice choice;
  std::vector<Pattern> wanted;
  wanted.reserve(patterns.size());
  for (const std::string& text : patterns) wanted.emplace_back(text);
  std::vector<bool> fits(patterns.size());
  std::map<Name, Found> found;
  for_each_traceable(traceable, [&](const Line& line) {
    bool any = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i].fits(line)) continue;
      fits[i] = true;
      any = true;
    }
    if (any) found[{std::string(line.module), std::string(line.name)}].places.push_back(line.place);
  });
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (!fits[i]) choice.not_found.push_back(patterns[i]);
  if (found.empty()) return choice;

  for_each_kallsyms_line(kallsyms, [&](const KallsymsLine& line) {
    constexpr std::string_view kFunctionTypes = "tTwW";
    if (kFunctionTypes.find(line.type) == std::string_view::npos) return;
    const auto at = found.find({std::string(line.module()), std::string(line.name())});
    if (at != found.end()) at->second.addresses.push_back(line.address);
  });
  for (auto& [name, functions] : found) {
    std::ranges::sort(functions.addresses);
    const std::vector<std::uint64_t> addresses = traceable_addresses(functions);
    const std::size_t omitted = functions.places.size() - std::min(functions.places.size(), addresses.size());
    if (addresses.size() > 1 || omitted > 0) choice.namesakes.push_back({name.second, addresses.size(), omitted});
    for (const std::uint64_t address : addresses) choice.functions.push_back({name.second, name.first, address});
  }
  // Some kernels list a function under several names. Keep only the first name.
  std::ranges::stable_sort(choice.functions, {}, &TraceableFunction::address);
  const auto same = std::unique(choice.functions.begin(), choice.functions.end(),
                                [](const auto& a, const auto& b) { return a.address == b.address; });
  choice.functions.erase(same, choice.functions.end());
  std::ranges::sort(choice.functions, {}, [](const TraceableFunction& function) {
    return std::tie(function.module, function.name, function.address);
  });
  return choice;
}

std::vector<std::string> names_of_traceable(std::string_view traceable) {
  std::vector<std::string> names;
  for_each_traceable(traceable, [&names](const Line& line) { names.emplace_back(line.name); });
  return names;
}

std::vector<std::string> modules_with(std::string_view traceable, std::string_view name) {
  std::vector<std::string> modules;
  for_each_traceable(traceable, [&](const Line& line) {
    if (line.name == name && std::ranges::find(modules, line.module) == modules.end())
      modules.emplace_back(line.module);
  });
  return modules;
}

}  // namespace kmt
