// SPDX-License-Identifier: GPL-2.0-or-later
// Translates a path such as `file->f_path.dentry->d_name.name` to the value's location, for a function of a kernel.
#pragma once

#include <string>

#include "symbols/btf.hpp"
#include "trace/calls/signature.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

struct ResolvedValue {
  ValuePath path;
  std::uint32_t type = 0;      // ID in the BTF, unless the value is a string
  std::uint8_t bit_shift = 0;  // as in RecordedValue
  std::uint8_t bits = 0;
};

// `text` is the name of an argument, followed by any number of `->member`, `.member` and `[number]`. A pointer to
// single bytes, or an array of them, is a string. Throws Error with the reason and a list of the existing members or
// arguments.
ResolvedValue resolve_value(const Btf& btf, const CallAbi& abi, const std::string& function, const std::string& text);

}  // namespace kmt
