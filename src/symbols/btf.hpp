// SPDX-License-Identifier: GPL-2.0-or-later
// Types of a kernel, as BTF (Documentation/bpf/btf.rst, Linux 6.18), from any bytes: libbpf checks that all types lie
// within them, not what they name. Every step from one to another is checked here, and no walk is longer than sound
// types need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <bpf/btf.h>

#include "base/byte_reader.hpp"

namespace kmt {

class Btf {
 public:
  // The bytes are copied. Throws Error when they are no BTF.
  explicit Btf(Bytes bytes);
  // A file of BTF, or an ELF file that has a section .BTF; of a module over the kernel's types, which has to outlive
  // this. Throws Error.
  explicit Btf(const std::string& path, const Btf* kernel = nullptr);

  // Null of void, and of what is not there.
  const btf_type* type(std::uint32_t id) const;
  std::string_view name(std::uint32_t offset) const;  // empty where there is none
  std::string_view name_of(const btf_type& type) const { return name(type.name_off); }
  // The prototype of a function; null: not known.
  const btf_type* prototype(std::string_view function) const;

  std::size_t function_count() const { return functions_.size(); }
  std::vector<std::string> functions() const;  // names, sorted

  // A type without typedef, const, volatile, restrict and type tags, and which of them it had.
  struct Stripped {
    std::uint32_t id = 0;
    const btf_type* type = nullptr;  // null: void, or `is_broken`
    bool is_const = false;
    bool is_user = false;          // type tag "user"
    bool is_size = false;          // size_t
    bool is_gfp = false;           // gfp_t
    bool is_mode = false;          // umode_t, mode_t
    bool is_fault_result = false;  // vm_fault_t
    bool is_broken = false;
  };
  Stripped strip(std::uint32_t id) const;
  // Bytes; empty where the type has no size.
  std::optional<std::uint64_t> size_of(std::uint32_t id) const;
  bool is_character(std::uint32_t id) const;  // an integer of one byte

  const btf* handle() const { return btf_.get(); }

 private:
  struct Free {
    void operator()(btf* one) const { btf__free(one); }
  };
  void index_functions();

  std::unique_ptr<btf, Free> btf_;
  std::unordered_map<std::string_view, std::uint32_t> functions_;  // names are those in btf_
};

// "struct file", "char *", "unsigned int": as C names it, for messages. Anonymous ones without a name.
std::string type_text(const Btf& btf, std::uint32_t id);

}  // namespace kmt
