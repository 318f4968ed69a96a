// SPDX-License-Identifier: GPL-2.0-or-later
// What the tracepoints of the running kernel give to BPF programs, by the kernel's BTF.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/bpf/arguments.h"

struct btf;

namespace kmt {

class KernelTypes {
 public:
  // Reads the kernel's BTF. Throws Error.
  KernelTypes();

  // Nothing where the kernel has no such tracepoint.
  std::optional<kmt_arguments> arguments_of(const std::string& tracepoint) const;
  // The names of all its arguments.
  std::optional<std::vector<std::string>> argument_names(const std::string& tracepoint) const;
  std::optional<std::uint64_t> bytes_of_structure(const std::string& name) const;
  bool has_function(const std::string& name) const;
  // A constant of any enumeration.
  std::optional<std::uint64_t> enumerated(const std::string& name) const;

 private:
  std::shared_ptr<btf> held_;
  const btf* types_;
};

}  // namespace kmt
