// SPDX-License-Identifier: GPL-2.0-or-later
// Which numbers of calls are sets of flags, and what these are called: by the kernel's own enumerations where it has
// them, else by names that are part of its interface to programs.
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

// The meaning of an argument, or of a value reached through one, by its name ("flags", "how->mode") and the function's.
// `type` comes from Btf::strip(). Only integers have one.
FlagMeaning flag_meaning(std::string_view function, std::string_view value, const Btf::Stripped& type);
// The meaning of a result.
FlagMeaning flag_meaning_of_result(const Btf::Stripped& type);

// Whether a number is called as flags are ("lookup_flags", "file->f_mode"), or as counts of something ("len").
bool is_named_like_flags(std::string_view value);
bool is_named_like_count(std::string_view value);

// Names of values of signed integers, as programs know them: AT_FDCWD of "dfd". Null: none is known.
std::shared_ptr<const Enumerators> named_numbers(std::string_view value);

// The enumeration that has the names; empty: none has, or the types lack it.
std::optional<std::uint32_t> flag_enumeration(const Btf& btf, FlagMeaning meaning);
// Null: no names are known. `arch` as in uname -m; empty: assumes the usual numbers.
std::shared_ptr<const NamedFlags> named_flags(const Btf& btf, FlagMeaning meaning, std::string_view arch);
// Flags of an enumeration whose values are bits and masks of them; null for others.
std::shared_ptr<const NamedFlags> named_flags(const Enumerators& enumerators);

}  // namespace kmt
