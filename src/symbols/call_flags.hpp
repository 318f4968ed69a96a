// SPDX-License-Identifier: GPL-2.0-or-later
// Determines which numbers in calls are sets of flags, and finds the names of the flags. The names are from the
// kernel's enumerations if these exist. Otherwise, names are known only for flags in the interface between programs and
// the kernel.
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

// Returns the meaning of an argument, or of a value reached through an argument. The meaning depends on the name of the
// function and on the name of the value, such as "flags" or "how->mode". `type` is a result of Btf::strip(). Only
// integers have a meaning.
FlagMeaning flag_meaning(std::string_view function, std::string_view value, const Btf::Stripped& type);
// Returns the meaning of the return value of a function.
FlagMeaning flag_meaning_of_result(const Btf::Stripped& type);

// True if the value's name is typical of flags ("lookup_flags", "file->f_mode"), or of counts ("len").
bool is_named_like_flags(std::string_view value);
bool is_named_like_count(std::string_view value);

// Returns names for certain values of a signed integer, such as AT_FDCWD for a value named "dfd". Null if no names are
// known.
std::shared_ptr<const Enumerators> named_numbers(std::string_view value);

// Returns the enumeration with the names of the flags. Empty if no enumeration is known, or if the BTF does not have
// it.
std::optional<std::uint32_t> flag_enumeration(const Btf& btf, FlagMeaning meaning);
// Returns the names of the flags, or null if no names are known. `arch` is a name as printed by uname -m. If it is
// empty, the values of most architectures are used.
std::shared_ptr<const NamedFlags> named_flags(const Btf& btf, FlagMeaning meaning, std::string_view arch);
// Returns the flags of an enumeration whose values are single bits and masks. Returns null for other enumerations.
std::shared_ptr<const NamedFlags> named_flags(const Enumerators& enumerators);

}  // namespace kmt
