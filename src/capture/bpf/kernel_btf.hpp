// SPDX-License-Identifier: GPL-2.0-or-later
// Loads the running kernel's types (BTF), from the kernel or from the file of --btf. They need several megabytes, so
// all users share one copy, which is freed after the last user.
#pragma once

#include <memory>

struct btf;

namespace kmt {

// Returns the running kernel's types. Use the result in one thread only. Throws Error.
std::shared_ptr<btf> kernel_btf();

}  // namespace kmt
