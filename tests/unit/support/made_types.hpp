// SPDX-License-Identifier: GPL-2.0-or-later
// BTF that libbpf creates for a few kernel-like functions, in any byte order and word size.
#pragma once

#include <memory>
#include <vector>

#include <bpf/btf.h>

#include "support/byte_builder.hpp"

namespace kmt::test {

class MadeTypes {
 public:
  explicit MadeTypes(Machine machine) : machine_(machine), btf_(btf__new_empty(), &btf__free) {
    btf__set_pointer_size(get(), machine.long_bytes);
    btf__set_endianness(get(), machine.order == ByteOrder::big ? BTF_BIG_ENDIAN : BTF_LITTLE_ENDIAN);
  }

  btf* get() { return btf_.get(); }
  int integer(const char* name, unsigned bytes, int encoding = 0) { return btf__add_int(get(), name, bytes, encoding); }
  int pointer(int to) { return btf__add_ptr(get(), to); }

  struct Parameter {
    const char* name;
    int type;
  };
  void function(const char* name, int result, const std::vector<Parameter>& parameters) {
    const int prototype = btf__add_func_proto(get(), result);
    for (const Parameter& parameter : parameters) btf__add_func_param(get(), parameter.name, parameter.type);
    btf__add_func(get(), name, BTF_FUNC_STATIC, prototype);
  }

  std::vector<std::uint8_t> bytes() {
    std::uint32_t size = 0;
    const auto* const data = static_cast<const std::uint8_t*>(btf__raw_data(get(), &size));
    return {data, data + size};
  }

 private:
  Machine machine_;
  std::unique_ptr<btf, decltype(&btf__free)> btf_;
};

// long read_file(struct file *file, const char *name, size_t count, unsigned int flags, bool sync, enum mode mode):
// struct file {
//   unsigned int flags; unsigned int kind:3, level:5; char comm[16]; struct path { struct dentry *dentry; } path;
//   struct { long anonymous; }; struct file *next; int numbers[4];
// };
// struct dentry { struct qstr { unsigned int hash; const unsigned char *name; } d_name; };
// enum mode { SLOW = -1, FAST = 7 }
// void forget(struct kuid id, long long offset, signed char level, int (*call)(void), ...);
// struct kuid { int val; }
struct MadeFiles {
  explicit MadeFiles(Machine machine);
  std::vector<std::uint8_t> bytes;
};

}  // namespace kmt::test
