// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the location of a value in a call of a kernel function. The value is named by a path such as
// `file->f_path.dentry->d_name.name`.
#pragma once

#include <string>

#include "symbols/btf.hpp"
#include "trace/calls/signature.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

struct ResolvedValue {
  ValuePath path;
  std::uint32_t type = 0;      // ID of the type in the BTF; not used if the value is a string
  std::uint8_t bit_shift = 0;  // see RecordedValue::bit_shift
  std::uint8_t bits = 0;
};

// Finds a value that `text` names in the types of a function. `text` is the name of an argument, followed by any number
// of `->member`, `.member` and `[number]`. If the value is a pointer to single bytes, or an array of single bytes, it
// is a string. Throws an Error that has the reason and lists the members or arguments that exist.
ResolvedValue resolve_value(const Btf& btf, const CallAbi& abi, const std::string& function, const std::string& text);

}  // namespace kmt
