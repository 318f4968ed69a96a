// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/made_types.hpp"

namespace kmt::test {

MadeFiles::MadeFiles(Machine machine) {
  MadeTypes types(machine);
  const unsigned word = machine.long_bytes;
  const unsigned bits = 8 * word;
  btf* const btf = types.get();
  const int whole = types.integer("int", 4, BTF_INT_SIGNED);
  const int unsigned_whole = types.integer("unsigned int", 4);
  const int long_whole = types.integer("long", word, BTF_INT_SIGNED);
  const int unsigned_long = types.integer("long unsigned int", word);
  const int long_long = types.integer("long long", 8, BTF_INT_SIGNED);
  const int character = types.integer("char", 1, BTF_INT_SIGNED);
  const int byte = types.integer("unsigned char", 1);
  const int small = types.integer("signed char", 1, BTF_INT_SIGNED);
  const int boolean = types.integer("_Bool", 1, BTF_INT_BOOL);
  const int boolean_name = btf__add_typedef(btf, "bool", boolean);
  const int size = btf__add_typedef(btf, "size_t", btf__add_typedef(btf, "__kernel_size_t", unsigned_long));
  const int text = types.pointer(btf__add_const(btf, character));
  const int name = types.pointer(btf__add_const(btf, byte));

  const int mode = btf__add_enum(btf, "mode", 4);
  btf__add_enum_value(btf, "SLOW", -1);
  btf__add_enum_value(btf, "FAST", 7);

  const int qstr = btf__add_struct(btf, "qstr", 2 * word);
  btf__add_field(btf, "hash", unsigned_whole, 0, 0);
  btf__add_field(btf, "name", name, bits, 0);
  const int dentry = btf__add_struct(btf, "dentry", 3 * word);
  btf__add_field(btf, "d_name", qstr, bits, 0);
  const int to_dentry = types.pointer(dentry);
  const int path = btf__add_struct(btf, "path", word);
  btf__add_field(btf, "dentry", to_dentry, 0, 0);
  const int comm = btf__add_array(btf, whole, character, 16);
  const int numbers = btf__add_array(btf, whole, whole, 4);
  const int anonymous = btf__add_struct(btf, "", word);
  btf__add_field(btf, "anonymous", long_whole, 0, 0);
  // A pointer to the type that is added next.
  const int to_file = types.pointer(static_cast<int>(btf__type_cnt(btf)) + 1);
  const int file = btf__add_struct(btf, "file", 24 + 3 * word + 16);
  btf__add_field(btf, "flags", unsigned_whole, 0, 0);
  btf__add_field(btf, "kind", unsigned_whole, 32, 3);
  btf__add_field(btf, "level", unsigned_whole, 35, 5);
  btf__add_field(btf, "comm", comm, 64, 0);
  btf__add_field(btf, "path", path, 192, 0);
  btf__add_field(btf, "", anonymous, 192 + bits, 0);
  btf__add_field(btf, "next", to_file, 192 + 2 * bits, 0);
  btf__add_field(btf, "numbers", numbers, 192 + 3 * bits, 0);
  types.function("read_file", long_whole,
                 {{"file", types.pointer(file)},
                  {"name", text},
                  {"count", size},
                  {"flags", unsigned_whole},
                  {"sync", boolean_name},
                  {"mode", mode}});

  const int kuid = btf__add_struct(btf, "kuid", 4);
  btf__add_field(btf, "val", whole, 0, 0);
  const int callback = types.pointer(btf__add_func_proto(btf, whole));
  types.function("forget", 0, {{"id", kuid}, {"offset", long_long}, {"level", small}, {"call", callback}, {"", 0}});
  types.function("find_file", types.pointer(file), {});
  types.function("name_of", text, {{"file", types.pointer(file)}});
  types.function("is_ready", boolean_name, {});
  types.function("count", unsigned_whole, {});
  types.function("try_it", whole, {});
  types.function("map", unsigned_long, {});
  const int gfp = btf__add_typedef(btf, "gfp_t", unsigned_whole);
  types.function("allocate", types.pointer(0), {{"size", size}, {"gfp", gfp}});
  bytes = types.bytes();
}

}  // namespace kmt::test
