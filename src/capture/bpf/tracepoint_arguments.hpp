// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the arguments of the running kernel's tracepoints, and other types, in the kernel's BTF.
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

  // Returns nothing if the kernel has no such tracepoint.
  std::optional<kmt_arguments> arguments_of(const std::string& tracepoint) const;
  // Returns the names of all arguments of a tracepoint.
  std::optional<std::vector<std::string>> argument_names(const std::string& tracepoint) const;
  std::optional<std::uint64_t> bytes_of_structure(const std::string& name) const;
  // Returns the offset of a member in bytes; empty if the BTF lacks it.
  std::optional<std::uint64_t> offset_of_member(const std::string& structure, const std::string& member) const;
  bool has_member(const std::string& structure, const std::string& member) const;
  bool has_function(const std::string& name) const;
  // True if BPF programs can call, or iterate with, this function. Needs types in the kernel itself, not in a file.
  bool offers_function(const std::string& name) const;
  // Returns the number of a function's parameters; empty if the BTF lacks the function.
  std::optional<unsigned> parameters_of_function(const std::string& name) const;
  // Returns the offset of a per-CPU variable in each CPU's copy; empty if the BTF lacks the variable.
  std::optional<std::uint64_t> offset_of_cpu_variable(const std::string& name) const;
  // Returns the value of an enumerator of any enumeration.
  std::optional<std::uint64_t> enumerated(const std::string& name) const;

 private:
  std::shared_ptr<btf> held_;
  const btf* types_;
};

}  // namespace kmt
