// SPDX-License-Identifier: GPL-2.0-or-later
// The arguments of the running kernel's tracepoints, and other types, from the kernel's BTF.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/bpf/programs/arguments.h"

struct btf;

namespace kmt {

class KernelTypes {
 public:
  // Reads the kernel's BTF. Throws Error.
  KernelTypes();

  // Empty if the kernel has no such tracepoint.
  std::optional<kmt_arguments> arguments_of(const std::string& tracepoint) const;
  // Returns the names of all its arguments.
  std::optional<std::vector<std::string>> argument_names(const std::string& tracepoint) const;
  std::optional<std::uint64_t> bytes_of_structure(const std::string& name) const;
  bool has_member(const std::string& structure, const std::string& member) const;
  bool has_function(const std::string& name) const;
  // Returns a per-CPU variable's offset in each CPU's copy; empty if the types lack it.
  std::optional<std::uint64_t> offset_of_cpu_variable(const std::string& name) const;
  // A constant of any enumeration.
  std::optional<std::uint64_t> enumerated(const std::string& name) const;

 private:
  std::shared_ptr<btf> held_;
  const btf* types_;
};

}  // namespace kmt
