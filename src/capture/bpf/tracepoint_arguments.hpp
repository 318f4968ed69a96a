// SPDX-License-Identifier: GPL-2.0-or-later
// What the tracepoints of the running kernel give to BPF programs, by the kernel's BTF.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "capture/bpf/arguments.h"

struct btf;

namespace kmt {

class KernelTypes {
 public:
  // Reads the kernel's BTF. Throws Error.
  KernelTypes();
  ~KernelTypes();
  KernelTypes(const KernelTypes&) = delete;
  KernelTypes& operator=(const KernelTypes&) = delete;

  // Nothing where the kernel has no such tracepoint.
  std::optional<kmt_arguments> arguments_of(const std::string& tracepoint) const;

 private:
  btf* types_;
};

}  // namespace kmt
