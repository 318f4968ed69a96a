// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel's types (BTF), megabytes that are read once as long as anybody holds them.
#pragma once

#include <memory>

struct btf;

namespace kmt {

// Of one thread. Throws Error.
std::shared_ptr<btf> kernel_btf();

}  // namespace kmt
