// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel's types (BTF): megabytes, shared while any caller holds them.
#pragma once

#include <memory>

struct btf;

namespace kmt {

// For use in one thread. Throws Error.
std::shared_ptr<btf> kernel_btf();

}  // namespace kmt
