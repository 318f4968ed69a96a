// SPDX-License-Identifier: GPL-2.0-or-later
// The types of a kernel as BTF (Documentation/bpf/btf.rst, Linux 6.18). The bytes are untrusted. libbpf checks that all
// types are within the bytes, but not the type IDs that types refer to. So this class checks each step from a type to
// another, and limits the number of steps to what valid types need.
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
  // Copies the bytes. Throws Error if the bytes are not BTF.
  explicit Btf(Bytes bytes);
  // Reads a BTF file, or an ELF file that has a section .BTF. To read a module's BTF, `kernel` must have the types of
  // the kernel and must outlive this object. Throws Error.
  explicit Btf(const std::string& path, const Btf* kernel = nullptr);

  // Returns null for void, and for IDs that do not exist.
  const btf_type* type(std::uint32_t id) const;
  std::string_view name(std::uint32_t offset) const;  // returns an empty text if there is no name
  std::string_view name_of(const btf_type& type) const { return name(type.name_off); }
  // Returns the prototype of a function, or null if it is unknown.
  const btf_type* prototype(std::string_view function) const;

  std::size_t function_count() const { return functions_.size(); }
  std::vector<std::string> functions() const;  // names, sorted

  // A type without its typedefs, qualifiers (const, volatile, restrict) and type tags. The flags show which of them it
  // had.
  struct Stripped {
    std::uint32_t id = 0;
    const btf_type* type = nullptr;  // null if the type is void, or if `is_broken` is set
    bool is_const = false;
    bool is_user = false;          // the type had the type tag "user"
    bool is_size = false;          // size_t
    bool is_gfp = false;           // gfp_t
    bool is_mode = false;          // umode_t, mode_t
    bool is_fault_result = false;  // vm_fault_t
    bool is_broken = false;
  };
  Stripped strip(std::uint32_t id) const;
  // Returns the size in bytes. Empty if the type has no size.
  std::optional<std::uint64_t> size_of(std::uint32_t id) const;
  bool is_character(std::uint32_t id) const;  // true for an integer type of one byte

  const btf* handle() const { return btf_.get(); }

 private:
  struct Free {
    void operator()(btf* one) const { btf__free(one); }
  };
  void index_functions();

  std::unique_ptr<btf, Free> btf_;
  // Key: a name in btf_; value: type ID of the prototype.
  std::unordered_map<std::string_view, std::uint32_t> functions_;
};

// Returns the type in the syntax of C, for messages: "struct file", "char *", "unsigned int". Anonymous types have an
// empty name.
std::string type_text(const Btf& btf, std::uint32_t id);

}  // namespace kmt
