// SPDX-License-Identifier: GPL-2.0-or-later
// From `file->f_path.dentry->d_name.name` to where that lies, for a function of a kernel.
#pragma once

#include <string>

#include "symbols/btf.hpp"
#include "trace/calls/signature.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

struct ResolvedValue {
  ValuePath path;
  std::uint32_t type = 0;      // id in the BTF, of what is no string
  std::uint8_t bit_shift = 0;  // as in RecordedValue
  std::uint8_t bits = 0;
};

// The name of an argument, then any number of `->member`, `.member` and `[number]`. A pointer to single bytes, or an
// array of them, is a string. Throws Error with the reason and the existing members or arguments.
ResolvedValue resolve_value(const Btf& btf, const CallAbi& abi, const std::string& function, const std::string& text);

}  // namespace kmt
