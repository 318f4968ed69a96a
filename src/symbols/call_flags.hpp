// SPDX-License-Identifier: GPL-2.0-or-later
// Determines which numbers in calls are sets of flags, and the names of the flags. Names are from the kernel's
// enumerations if they exist. Otherwise they are names that are part of the kernel's interface to programs.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "symbols/btf.hpp"
#include "trace/calls/signature.hpp"

namespace kmt {

enum class FlagMeaning : std::uint8_t {
  none,
  fault_flags,
  fault_result,
  protection,
  mapping,
  opening,
  looking_up,
  cloning,
  resolving,
  mode
};

// Returns the meaning of an argument, or of a value reached through an argument. It depends on the function's name and
// the value's name, such as "flags" or "how->mode". `type` is from Btf::strip(). Only integers have a meaning.
FlagMeaning flag_meaning(std::string_view function, std::string_view value, const Btf::Stripped& type);
// Returns the meaning of a result.
FlagMeaning flag_meaning_of_result(const Btf::Stripped& type);

// is_named_like_flags() is true if the name is usual for flags ("lookup_flags", "file->f_mode"), is_named_like_count()
// if the name is usual for a count ("len").
bool is_named_like_flags(std::string_view value);
bool is_named_like_count(std::string_view value);

// Returns names for values of a signed integer, as programs know them: AT_FDCWD for "dfd". Null if no names are known.
std::shared_ptr<const Enumerators> named_numbers(std::string_view value);

// Returns the enumeration that has the names; empty if there is none or the BTF lacks it.
std::optional<std::uint32_t> flag_enumeration(const Btf& btf, FlagMeaning meaning);
// Returns null if no names are known. `arch` is as in uname -m; if it is empty, the usual values are assumed.
std::shared_ptr<const NamedFlags> named_flags(const Btf& btf, FlagMeaning meaning, std::string_view arch);
// Returns the flags of an enumeration whose values are single bits and masks; null for other enumerations.
std::shared_ptr<const NamedFlags> named_flags(const Enumerators& enumerators);

}  // namespace kmt
