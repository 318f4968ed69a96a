// SPDX-License-Identifier: GPL-2.0-or-later
// Tests types of calls: hand-made types in every byte order and word size, damaged types, and the types of the running
// kernel.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/made_types.hpp"
#include "symbols/call_flags.hpp"
#include "symbols/call_signatures.hpp"
#include "symbols/call_types.hpp"
#include "symbols/running_types.hpp"
#include "symbols/value_paths.hpp"
#include "trace/calls/records.hpp"
#include "trace/calls/stack_arguments.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {
namespace {

using test::ByteBuilder;
using test::Machine;
using test::MadeFiles;
using test::MadeTypes;

constexpr Machine kMachines[] = {
    {ByteOrder::little, 8}, {ByteOrder::little, 4}, {ByteOrder::big, 8}, {ByteOrder::big, 4}};

CallAbi abi_of(Machine machine, const char* arch = "") { return {machine.order, 8 * machine.long_bytes, arch}; }

std::string arguments(const CallSignatures& signatures, const char* function, const CallAbi& abi,
                      const std::vector<std::uint64_t>& registers, Bytes recorded = {}) {
  return values_text(call_values(*signatures.signature(function), abi, registers, recorded));
}

std::string result(const CallSignatures& signatures, const char* function, const CallAbi& abi, std::uint64_t value) {
  const auto typed = result_value(signatures.signature(function)->result, abi, value);
  return typed ? value_text(*typed, true) : "nothing";
}

// Returns the message and the hint of the error that the call throws, or "nothing".
template <typename Call>
std::string said(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.what()) + " / " + error.hint();
  }
  return "nothing";
}

TEST(CallTypes, ArgumentsAreShownByTheirTypes) {
  for (const Machine machine : kMachines) {
    const Btf btf(MadeFiles(machine).bytes);
    const std::vector<RecordedFunction> recorded = {{"read_file", {{"name", true}, {"file->comm", true}}}};
    const BtfSignatures signatures(btf, recorded, 8 * machine.long_bytes);
    ByteBuilder values(machine);
    values.u16(5).text("a\"\n\\z").u16(16).text("sh").pad_to(2 + 5 + 2 + 16);
    // In a register, the bits above a narrow value are not part of the value.
    const std::uint64_t dirt = machine.long_bytes == 8 ? 0xDEADBEEF00000000 : 0;
    EXPECT_EQ(arguments(signatures, "read_file", abi_of(machine),
                        {0xC0001000, 0xC0002000, 4096, dirt | 0x255, 0xAB01, dirt | 0xFFFFFFFF}, values.get()),
              "file=0xc0001000, name=\"a\\\"\\x0a\\\\z\", count=4096, flags=0x255, sync=true, mode=SLOW, "
              "file->comm=\"sh\"");
    EXPECT_EQ(arguments(signatures, "read_file", abi_of(machine), {0, 0xC0002000, 5, 9, 0, 8}),
              "file=NULL, name=0xc0002000, count=5, flags=9, sync=false, mode=8");
    EXPECT_EQ(arguments(signatures, "read_file", abi_of(machine), {1, 2, 3}),
              "file=0x1, name=0x2, count=3, flags=(not recorded), sync=(not recorded), mode=(not recorded), "
              "file->comm=?");
    EXPECT_EQ(arguments(signatures, "find_file", abi_of(machine), {1, 2}), "");
  }
}

TEST(CallTypes, GfpFlagsHaveNames) {
  const Machine machine;
  const Btf btf(MadeFiles(machine).bytes);
  const BtfSignatures signatures(btf, {}, 64);
  CallAbi abi = abi_of(machine);
  EXPECT_EQ(arguments(signatures, "allocate", abi, {192, 0xDC0}), "size=192, gfp=0xdc0");
  const std::vector<FlagName> names = {{0xCC0, "GFP_KERNEL"}, {0x100, "__GFP_ZERO"}};
  abi.gfp_flags = &names;
  EXPECT_EQ(arguments(signatures, "allocate", abi, {192, 0xDC0}), "size=192, gfp=0xdc0 (GFP_KERNEL|__GFP_ZERO)");
  EXPECT_EQ(arguments(signatures, "allocate", abi, {192, 0}), "size=192, gfp=0");
}

TEST(CallTypes, OfAnotherKernelAreRefusedForARecording) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("running_types.{}", ::getpid());
  std::filesystem::create_directories(folder / "btf");
  const auto write = [&](const char* name, const std::vector<std::uint8_t>& bytes) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  std::vector<std::uint8_t> kernel = MadeFiles({kHostOrder, sizeof(long)}).bytes;
  write("btf/vmlinux", kernel);
  write("same", kernel);
  kernel[kernel.size() - 2] ^= 1;  // this byte belongs to a name
  write("other", kernel);
  EXPECT_TRUE(check_running_types(folder / "same", "", folder / "btf"));
  EXPECT_TRUE(are_running_types(folder / "same", folder / "btf"));
  EXPECT_FALSE(are_running_types(folder / "other", folder / "btf"));
  EXPECT_FALSE(are_running_types(folder / "same", folder)) << "this kernel lacks it";
  EXPECT_NE(said([&] { check_running_types(folder / "other", "", folder / "btf"); }).find("Remove --btf"),
            std::string::npos);
  // If the kernel has no types, the build ID decides whether types match.
  EXPECT_FALSE(check_running_types(folder / "other", "", folder));
  EXPECT_FALSE(check_running_types(folder / "other", "12ab", folder)) << "BTF alone has none";
  std::filesystem::remove_all(folder);
}

// The types of a module are in a separate file and refer to those of the kernel.
TEST(CallTypes, ModulesHaveSeparateTypes) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("call_types.{}", ::getpid());
  std::filesystem::create_directory(folder);
  const auto write = [&](const char* name, const void* bytes, std::size_t size) {
    std::ofstream(folder / name, std::ios::binary)
        .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  };
  const std::vector<std::uint8_t> kernel = MadeFiles({kHostOrder, sizeof(long)}).bytes;
  write("vmlinux", kernel.data(), kernel.size());
  btf* const base = btf__parse((folder / "vmlinux").c_str(), nullptr);
  btf* const module = btf__new_empty_split(base);
  const int own = btf__add_struct(module, "own", 16);
  btf__add_field(module, "file", btf__find_by_name_kind(base, "file", BTF_KIND_STRUCT), 0, 0);
  const int pointer = btf__add_ptr(module, own);
  const int prototype = btf__add_func_proto(module, btf__find_by_name_kind(base, "int", BTF_KIND_INT));
  btf__add_func_param(module, "own", pointer);
  btf__add_func_param(module, "mode", btf__find_by_name_kind(base, "mode", BTF_KIND_ENUM));
  btf__add_func(module, "module_call", BTF_FUNC_STATIC, prototype);
  std::uint32_t size = 0;
  const void* const bytes = btf__raw_data(module, &size);
  write("files", bytes, size);
  btf__free(module);
  btf__free(base);

  const PreparedCalls prepared =
      prepare_calls({{"module_call", "files"}, {"read_file", ""}, {"other_call", "module_without_types"}},
                    {"own->file.flags", "file->path.dentry->d_name.name"}, folder);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(prepared.functions.size(), 3u);
  EXPECT_TRUE(prepared.functions[2].values.empty());
  ASSERT_EQ(prepared.functions[0].values.size(), 1u);
  EXPECT_EQ(prepared.functions[0].values[0].offsets, std::vector<std::uint32_t>{0});
  ASSERT_EQ(prepared.functions[1].values.size(), 2u);  // two recorded values; the second is a name, which is a string
  EXPECT_EQ(prepared.functions[1].values[0].text, "name");
  const Btf travelled(prepared.types.btf);
  const BtfSignatures signatures(travelled, prepared.types.functions, 64);
  const Machine host{kHostOrder, sizeof(long)};
  ByteBuilder values(host);
  values.u16(4).u32(5);
  EXPECT_EQ(arguments(signatures, "module_call", abi_of(host), {4096, 7}, values.get()),
            "own=0x1000, mode=FAST, own->file.flags=5");
  EXPECT_EQ(arguments(signatures, "read_file", abi_of(host), {1, 2, 3, 4, 0, 9}),
            "file=0x1, name=0x2, count=3, flags=4, sync=false, mode=9, file->path.dentry->d_name.name=?");
}

TEST(CallTypes, WideArgumentsTakeTwoRegisters) {
  const auto forget = [](Machine machine, const char* arch, const std::vector<std::uint64_t>& registers) {
    const Btf btf(MadeFiles(machine).bytes);
    return arguments(BtfSignatures(btf, {}, 8 * machine.long_bytes), "forget", abi_of(machine, arch), registers);
  };
  EXPECT_EQ(forget({ByteOrder::big, 8}, "s390x", {1000, 2, 3, 4}), "id={val=1000}, offset=2, level=3, call=0x4, ...");
  EXPECT_EQ(forget({ByteOrder::little, 8}, "x86_64", {1000, ~std::uint64_t{4}, 0x80, 0xFFFF}),
            "id={val=1000}, offset=-5, level=-128, call=0xffff, ...");
  EXPECT_EQ(forget({ByteOrder::little, 4}, "i686", {1000, 0xFFFFFFFB, 0xFFFFFFFF, 1, 2}),
            "id={val=1000}, offset=-5, level=1, call=0x2, ...");
  EXPECT_EQ(forget({ByteOrder::big, 4}, "ppc", {1000, 0xFFFFFFFF, 0xFFFFFFFB, 1, 2}),
            "id=(STRUCT)[0x3e8], offset=-5, level=1, call=0x2, ...");
  EXPECT_EQ(forget({ByteOrder::little, 4}, "armv7l", {1000, 77, 0xFFFFFFFB, 0xFFFFFFFF, 1, 2}),
            "id={val=1000}, offset=-5, level=1, call=0x2, ...");
  EXPECT_EQ(forget({ByteOrder::little, 4}, "i686", {1000, 0xFFFFFFFB}),
            "id={val=1000}, offset=(not recorded), level=(not recorded), call=(not recorded), ...");
}

// The expected places follow from the psABI of x86-64, AAPCS64 and the s390x ELF ABI.
TEST(CallTypes, ArgumentsOnTheStackFollowTheAbi) {
  const auto make = [](Machine machine) {
    MadeTypes types(machine);
    const int word = types.integer("unsigned long", 8);
    const int small = types.integer("int", 4, BTF_INT_SIGNED);
    const int text = types.pointer(btf__add_const(types.get(), types.integer("char", 1)));
    const int pair = btf__add_struct(types.get(), "pair", 16);
    for (unsigned i = 0; i < 2; ++i) btf__add_field(types.get(), i == 0 ? "a" : "b", word, 64 * i, 0);
    types.function("many", 0,
                   {{"a1", word},
                    {"a2", word},
                    {"a3", word},
                    {"a4", word},
                    {"a5", word},
                    {"pair", pair},
                    {"a7", small},
                    {"a8", small},
                    {"a9", text},
                    {"a10", word}});
    return types.bytes();
  };
  const auto offsets = [&](Machine machine, const char* arch) {
    const Btf btf(make(machine));
    const CallSignature signature = *BtfSignatures(btf, {}, 64).signature("many");
    std::string text;
    for (std::size_t i = 0; i < signature.parameters.size(); ++i)
      if (const auto offset = stack_offset_of(signature, abi_of(machine, arch), i))
        text += fmt::format("{}:{} ", signature.parameters[i].name, *offset);
    return text;
  };
  const Machine little{ByteOrder::little, 8};
  EXPECT_EQ(offsets(little, "x86_64"), "a8:24 a9:32 a10:40 ") << "after the pair, which does not fit; a7 fits";
  EXPECT_EQ(offsets(little, "aarch64"), "a8:0 a9:8 a10:16 ") << "all eight registers are taken";
  EXPECT_EQ(offsets({ByteOrder::big, 8}, "s390x"), "a7:172 a8:180 a9:184 a10:192 ") << "the pair is a reference";
  EXPECT_EQ(offsets(little, "ppc64le"), "");

  const std::vector<std::uint64_t> registers = {1, 2, 3, 4, 5, 6};
  const std::vector<std::uint8_t> bytes = make(little);
  const Btf btf(bytes);
  EXPECT_EQ(arguments(BtfSignatures(btf, {}, 64), "many", abi_of(little, "x86_64"), registers),
            "a1=1, a2=2, a3=3, a4=4, a5=5, pair=(on the stack, not recorded), a7=6, a8=(on the stack, not recorded), "
            "a9=(on the stack, not recorded), a10=(on the stack, not recorded)");
  EXPECT_NE(arguments(BtfSignatures(btf, {}, 64), "many", abi_of(little, "aarch64"), registers)
                .find("a7=(not recorded), a8=(not recorded)"),
            std::string::npos)
      << "registers that are not recorded";
  const std::vector<RecordedFunction> recorded = {{"many", {{"a8", false, 2}, {"a9", true}}}};
  const int id = btf__find_by_name_kind(btf.handle(), "int", BTF_KIND_INT);
  ByteBuilder values(little);
  values.u16(4).u32(0xFFFFFFFB).u16(3).text("etc");
  std::vector<RecordedFunction> typed = recorded;
  typed[0].values[0].type = static_cast<std::uint32_t>(id);
  const std::string shown =
      arguments(BtfSignatures(btf, typed, 64), "many", abi_of(little, "x86_64"), registers, values.get());
  EXPECT_NE(shown.find("a7=6, a8=-5, a9=\"etc\", a10=(on the stack"), std::string::npos) << shown;
  const ResolvedValue text = resolve_value(btf, abi_of(little, "x86_64"), "many", "a9");
  EXPECT_EQ(text.path.argument, kStackPointer);
  EXPECT_EQ(text.path.offsets, (std::vector<std::uint32_t>{32, 0}));
  EXPECT_TRUE(text.path.is_string);
}

TEST(CallTypes, StructuresFollowTheAbi) {
  const Machine machine;
  MadeTypes types(machine);
  const int word = types.integer("unsigned long", 8);
  const auto structure = [&](const char* name, unsigned words) {
    const int id = btf__add_struct(types.get(), name, 8 * words);
    for (unsigned i = 0; i < words; ++i) btf__add_field(types.get(), fmt::format("m{}", i).c_str(), word, 64 * i, 0);
    return id;
  };
  const int none = structure("none", 0), two = structure("two", 2), three = structure("three", 3);
  types.function("all", 0, {{"none", none}, {"two", two}, {"three", three}, {"last", word}});
  const std::vector<std::uint8_t> bytes = types.bytes();
  const Btf btf(bytes);
  const BtfSignatures signatures(btf, {}, 64);
  const std::vector<std::uint64_t> registers = {10, 11, 12, 13, 14, 15};
  EXPECT_EQ(arguments(signatures, "all", abi_of(machine, "x86_64"), registers),
            "none=?, two={m0=0xa, m1=0xb}, three=(on the stack, not recorded), last=0xc");
  EXPECT_EQ(arguments(signatures, "all", abi_of(machine, "aarch64"), registers),
            "none=?, two={m0=0xa, m1=0xb}, three=(STRUCT *)[0xc], last=0xd");
  EXPECT_EQ(arguments(signatures, "all", abi_of(machine, "s390x"), registers),
            "none=?, two=(STRUCT *)[0xa], three=(STRUCT *)[0xb], last=0xc");
  EXPECT_EQ(arguments(signatures, "all", abi_of(machine, "riscv64"), registers),
            "none=?, two=(STRUCT)[0xa:0xb], three=(STRUCT)[0xc:0xd:0xe], last=0xf");
}

// The type in this test is like sockptr_t in include/linux/sockptr.h.
TEST(CallTypes, StructuresInRegistersShowTheirMembers) {
  const Machine machine;
  MadeTypes types(machine);
  const int pointer = types.pointer(0);
  const int boolean = types.integer("_Bool", 1, BTF_INT_BOOL);
  const int either = btf__add_union(types.get(), "", 8);
  btf__add_field(types.get(), "kernel", pointer, 0, 0);
  btf__add_field(types.get(), "user", pointer, 0, 0);
  const int structure = btf__add_struct(types.get(), "", 16);
  btf__add_field(types.get(), "", either, 0, 0);
  btf__add_field(types.get(), "is_kernel", boolean, 64, 1);
  btf__add_field(types.get(), "rest", boolean, 65, 1);
  const int named = btf__add_typedef(types.get(), "sockptr_t", structure);
  types.function("set_option", 0, {{"level", boolean}, {"value", named}, {"last", pointer}});
  const Btf btf(types.bytes());
  EXPECT_EQ(arguments(BtfSignatures(btf, {}, 64), "set_option", abi_of(machine, "x86_64"), {1, 0x7FFE0010, 0xFE, 7}),
            "level=true, value={kernel=0x7ffe0010, user=0x7ffe0010, is_kernel=false, rest=true}, last=0x7");
}

// The older sockptr_t, used on machines where kernel and programs have separate address spaces.
TEST(CallTypes, StructuresOfOneRegisterShowTheirMembersEverywhere) {
  for (const char* const arch : {"", "riscv64", "x86_64", "aarch64"}) {
    const Machine machine;
    MadeTypes types(machine);
    const int pointer = types.pointer(0);
    const int either = btf__add_union(types.get(), "", 8);
    btf__add_field(types.get(), "kernel", pointer, 0, 0);
    btf__add_field(types.get(), "user", pointer, 0, 0);
    const int named = btf__add_typedef(types.get(), "sockptr_t", either);
    types.function("set_option", 0, {{"value", named}, {"last", pointer}});
    const Btf btf(types.bytes());
    EXPECT_EQ(arguments(BtfSignatures(btf, {}, 64), "set_option", abi_of(machine, arch), {0x7FFE0010, 7}),
              "value={kernel=0x7ffe0010, user=0x7ffe0010}, last=0x7");
  }
}

TEST(CallTypes, FlagsAreNamed) {
  const Machine machine;
  MadeTypes types(machine);
  const int whole = types.integer("unsigned int", 4);
  const int word = types.integer("long unsigned int", 8);
  const auto enumeration = [&](const char* name, const std::vector<std::pair<const char*, int>>& values) {
    const int id = btf__add_enum(types.get(), name, 4);
    for (const auto& [value_name, value] : values) btf__add_enum_value(types.get(), value_name, value);
    return id;
  };
  const int faults = enumeration("fault_flag", {{"FAULT_FLAG_WRITE", 1},
                                                {"FAULT_FLAG_ALLOW_RETRY", 4},
                                                {"FAULT_FLAG_KILLABLE", 0x10},
                                                {"FAULT_FLAG_USER", 0x40},
                                                {"FAULT_FLAG_INTERRUPTIBLE", 0x200}});
  enumeration("vm_fault_reason", {{"VM_FAULT_OOM", 1},
                                  {"VM_FAULT_SIGBUS", 2},
                                  {"VM_FAULT_MAJOR", 4},
                                  {"VM_FAULT_HWPOISON", 0x10},
                                  {"VM_FAULT_NOPAGE", 0x100},
                                  {"VM_FAULT_HINDEX_MASK", 0xF0000}});
  const int dense = enumeration("dense", {{"NONE", 0}, {"ONE", 1}, {"TWO", 2}, {"THREE", 3}, {"FOUR", 4}});
  const int few = enumeration("few", {{"A", 0}, {"B", 1}, {"C", 2}});
  const int fault = btf__add_typedef(types.get(), "vm_fault_t", whole);
  const int mode = btf__add_typedef(types.get(), "umode_t", types.integer("short unsigned int", 2));
  types.function("handle_mm_fault", fault, {{"address", word}, {"flags", whole}});
  types.function("kernel_wait", whole, {{"flags", whole}, {"faults", faults}, {"few", few}, {"dense", dense}});
  types.function("vm_mmap_pgoff", word, {{"prot", word}, {"flag", word}});
  types.function("filp_open", word, {{"flags", whole}, {"mode", mode}});
  types.function("copy_process", whole, {{"clone_flags", word}});
  const Btf btf(types.bytes());
  const BtfSignatures signatures(btf, {}, 64, "x86_64");
  const auto shown = [&](const char* function, const std::vector<std::uint64_t>& registers) {
    return arguments(signatures, function, abi_of(machine, "x86_64"), registers);
  };
  EXPECT_EQ(shown("handle_mm_fault", {0x7F1234, 0x255}),
            "address=0x7f1234, flags=0x255 (WRITE|ALLOW_RETRY|KILLABLE|USER|INTERRUPTIBLE)");
  EXPECT_EQ(result(signatures, "handle_mm_fault", abi_of(machine), 0), "0");
  EXPECT_EQ(result(signatures, "handle_mm_fault", abi_of(machine), 6), "0x6 (SIGBUS|MAJOR)");
  const auto is_failure = [&](std::uint64_t value) {
    return result_value(signatures.signature("handle_mm_fault")->result, abi_of(machine), value)->is_failure;
  };
  EXPECT_TRUE(is_failure(2));
  EXPECT_TRUE(is_failure(0x114));
  EXPECT_FALSE(is_failure(0));
  EXPECT_FALSE(is_failure(0x104));
  const Btf::Stripped number = btf.strip(static_cast<std::uint32_t>(word));
  EXPECT_EQ(flag_meaning("do_filp_open", "op->open_flag", number), FlagMeaning::opening);
  EXPECT_EQ(flag_meaning("do_sys_openat2", "how->resolve", number), FlagMeaning::resolving);
  EXPECT_EQ(gfp_text(named_flags(btf, FlagMeaning::resolving, "x86_64")->names, 0x14),
            "RESOLVE_NO_SYMLINKS|RESOLVE_IN_ROOT");
  EXPECT_EQ(shown("kernel_wait", {0x41, 0x41, 3, 5}), "flags=0x41, faults=0x41 (WRITE|USER), few=3, dense=5");
  EXPECT_EQ(shown("vm_mmap_pgoff", {3, 0x22}),
            "prot=0x3 (PROT_READ|PROT_WRITE), flag=0x22 (MAP_PRIVATE|MAP_ANONYMOUS)");
  EXPECT_EQ(shown("vm_mmap_pgoff", {0, 0x10003}),
            "prot=0x0 (PROT_NONE), flag=0x10003 (MAP_SHARED_VALIDATE|MAP_NONBLOCK)");
  EXPECT_EQ(shown("filp_open", {0x88241, 0644}),
            "flags=0x88241 (O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC|O_LARGEFILE), mode=0644");
  EXPECT_EQ(shown("filp_open", {0x8000, 0}), "flags=0x8000 (O_RDONLY|O_LARGEFILE), mode=0");
  EXPECT_EQ(shown("copy_process", {0x10100}), "clone_flags=0x10100 (CLONE_VM|CLONE_THREAD)");
  EXPECT_EQ(arguments(BtfSignatures(btf, {}, 64, "aarch64"), "filp_open", abi_of(machine), {0x4000, 0}),
            "flags=0x4000 (O_RDONLY|O_DIRECTORY), mode=0");
  EXPECT_EQ(arguments(BtfSignatures(btf, {}, 64, "ppc64le"), "filp_open", abi_of(machine), {0x4000, 0}),
            "flags=0x4000, mode=0");
}

TEST(CallTypes, FlagsAreUnsigned) {
  const Machine machine;
  MadeTypes types(machine);
  const int whole = types.integer("int", 4, BTF_INT_SIGNED);
  const int file_mode = btf__add_typedef(types.get(), "fmode_t", types.integer("unsigned int", 4));
  const int file = btf__add_struct(types.get(), "file", 8);
  btf__add_field(types.get(), "f_mode", file_mode, 0, 0);
  btf__add_field(types.get(), "f_pos", whole, 32, 0);
  types.function("vfs_statx", whole, {{"dfd", whole}, {"flags", whole}});
  types.function("vfs_fstatat", whole, {{"dfd", whole}, {"flags", whole}});
  types.function("alloc_empty_file", 0, {{"flags", whole}});
  types.function("inode_permission", whole, {{"mask", whole}, {"file", file}});
  types.function("do_fallocate", whole, {{"mode", whole}, {"lookup_flags", whole}});
  const Btf btf(types.bytes());
  const BtfSignatures signatures(btf, {}, 64, "x86_64");
  const auto shown = [&](const char* function, const std::vector<std::uint64_t>& registers) {
    return arguments(signatures, function, abi_of(machine, "x86_64"), registers);
  };
  EXPECT_EQ(shown("vfs_statx", {0xFFFFFF9C, 2304}),
            "dfd=-100 (AT_FDCWD), flags=0x900 (AT_SYMLINK_NOFOLLOW|AT_NO_AUTOMOUNT)");
  EXPECT_EQ(shown("vfs_fstatat", {3, 4096}), "dfd=3, flags=0x1000 (AT_EMPTY_PATH)");
  EXPECT_EQ(shown("alloc_empty_file", {4292610}), "flags=0x418002 (O_RDWR|O_TMPFILE|O_LARGEFILE)");
  EXPECT_EQ(shown("inode_permission", {36, 0x4B'000A801D}), "mask=0x24, file={f_mode=0xa801d, f_pos=75}");
  EXPECT_EQ(shown("do_fallocate", {9, 0xFFFFFFFF}), "mode=9, lookup_flags=0xffffffff");
  EXPECT_EQ(result(signatures, "inode_permission", abi_of(machine), static_cast<std::uint64_t>(-13)), "-13 (EACCES)");
}

TEST(CallTypes, NullPointersLeadToNoValue) {
  const Btf btf(MadeFiles(Machine{}).bytes);
  const std::vector<RecordedFunction> recorded = {{"read_file", {{"file->comm", true}}}};
  const CallSignature signature = *BtfSignatures(btf, recorded, 64).signature("read_file");
  const std::uint64_t registers[] = {0, 2, 3};
  const CallValues values = call_values(signature, abi_of(Machine{}), registers, {});
  EXPECT_EQ(values.values.size(), 7u);
  EXPECT_EQ(values_text(values),
            "file=NULL, name=0x2, count=3, flags=(not recorded), sync=(not recorded), mode=(not recorded)");
}

TEST(CallTypes, UnreadValuesStateTheReason) {
  const Machine machine;
  const Btf btf(MadeFiles(machine).bytes);
  const std::vector<RecordedFunction> recorded = {{"read_file", {{"name", true}, {"file->comm", true}}}};
  const BtfSignatures signatures(btf, recorded, 64);
  const auto with = [&](const ByteBuilder& values, std::uint64_t name = 2) {
    return arguments(signatures, "read_file", abi_of(machine), {1, name, 3, 4, 0, 7}, values.get()).substr(10);
  };
  const std::string rest = ", count=3, flags=4, sync=false, mode=FAST, file->comm=";
  const auto bytes = [&] { return ByteBuilder(machine); };
  EXPECT_EQ(with(bytes().u16(kValueNotRead).u16(2).text("sh")), "name=0x2 (unreadable)" + rest + "\"sh\"");
  EXPECT_EQ(with(bytes().u16(kValueNotRead).u16(2).text("sh"), 0), "name=NULL" + rest + "\"sh\"");
  EXPECT_EQ(with(bytes().u16(kValueLeftOut).u16(2).text("sh")), "name=0x2 (not recorded)" + rest + "\"sh\"");
  EXPECT_EQ(with(bytes().u16(kValueLeftOut)), "name=0x2 (not recorded)" + rest + "? (not recorded)");
  EXPECT_EQ(with(bytes().u16(1).text("x")), "name=\"x\"" + rest + "? (not recorded)");
  EXPECT_EQ(with(bytes()), "name=0x2" + rest + "?") << "reading was not attempted";
}

TEST(CallTypes, LateValuesReplaceMissingOnes) {
  const Machine machine;
  const Btf btf(MadeFiles(machine).bytes);
  const std::vector<RecordedFunction> recorded = {{"read_file", {{"file->comm", true}, {"name", true}}}};
  const CallSignature signature = *BtfSignatures(btf, recorded, 64).signature("read_file");
  const std::uint64_t registers[] = {1, 2, 3};
  const auto with = [&](Bytes late) {
    CallValues values = call_values(signature, abi_of(machine), registers, {});
    add_late_values(values, signature, abi_of(machine), late);
    return values_text(values);
  };
  const std::string rest = ", count=3, flags=(not recorded), sync=(not recorded), mode=(not recorded), file->comm=?";
  const std::string without = "file=0x1, name=0x2" + rest;
  ByteBuilder late(machine);
  late.u16(1).u16(3).text("etc");
  EXPECT_EQ(with(late.get()), "file=0x1, name=\"etc\" (read at exit)" + rest);
  for (std::size_t cut = 0; cut < late.size(); ++cut) EXPECT_EQ(with(Bytes(late.get()).first(cut)), without);
  EXPECT_EQ(with(ByteBuilder(machine).u16(2).u16(0).get()), without);  // the function has no value with this number
}

TEST(CallTypes, ResultsNameErrors) {
  for (const Machine machine : kMachines) {
    const Btf btf(MadeFiles(machine).bytes);
    const BtfSignatures signatures(btf, {}, 8 * machine.long_bytes);
    const CallAbi abi = abi_of(machine);
    const bool wide = machine.long_bytes == 8;
    const auto word = [&](std::int64_t value) {
      return wide ? static_cast<std::uint64_t>(value) : static_cast<std::uint32_t>(value);
    };
    EXPECT_EQ(result(signatures, "forget", abi, 42), "nothing");
    EXPECT_EQ(result(signatures, "read_file", abi, 42), "42");
    EXPECT_EQ(result(signatures, "read_file", abi, word(-22)), "-22 (EINVAL)");
    EXPECT_EQ(result(signatures, "read_file", abi, word(-512)), "-512 (ERESTARTSYS)");
    EXPECT_EQ(result(signatures, "read_file", abi, word(-4096)), "-4096");
    EXPECT_EQ(result(signatures, "try_it", abi, 0xFFFFFFF4), "-12 (ENOMEM)");
    EXPECT_EQ(result(signatures, "try_it", abi, wide ? 0xABCD00000003 : 3), "3");
    EXPECT_EQ(result(signatures, "count", abi, 0xFFFFFFF4), "4294967284");
    EXPECT_EQ(result(signatures, "find_file", abi, 0), "NULL");
    EXPECT_EQ(result(signatures, "map", abi, word(-12)), "-12 (ENOMEM)");  // IS_ERR_VALUE() is true for -12
    EXPECT_EQ(result(signatures, "map", abi, word(-4096)), wide ? "0xfffffffffffff000" : "0xfffff000");
    EXPECT_EQ(result(signatures, "is_ready", abi, 0xFF00), "false");
    EXPECT_EQ(result(signatures, "is_ready", abi, 0xFF01), "true");
    EXPECT_EQ(result(signatures, "find_file", abi, 0xC0001000), "0xc0001000");
    EXPECT_EQ(result(signatures, "find_file", abi, word(-2)), "-2 (ENOENT)");
    EXPECT_EQ(result(signatures, "name_of", abi, 0xC0001000), "0xc0001000");
  }
}

struct Read {
  unsigned argument;
  std::vector<std::uint32_t> offsets;
  std::uint32_t size;
  bool is_string;
  bool operator==(const Read&) const = default;
};
void PrintTo(const Read& read, std::ostream* out) {
  *out << fmt::format("argument {}, offsets {}, size {}{}", read.argument, read.offsets, read.size,
                      read.is_string ? ", string" : "");
}

TEST(CallTypes, PathsLeadToValues) {
  for (const Machine machine : kMachines) {
    const Btf btf(MadeFiles(machine).bytes);
    const std::uint32_t word = machine.long_bytes;
    const auto read = [&](const char* text) {
      const ValuePath path = resolve_value(btf, abi_of(machine), "read_file", text).path;
      EXPECT_EQ(path.text, text);
      return Read{path.argument, path.offsets, path.size, path.is_string};
    };
    EXPECT_EQ(read("count"), (Read{2, {}, word, false}));
    EXPECT_EQ(read("name"), (Read{1, {0}, 0, true}));
    EXPECT_EQ(read("file->flags"), (Read{0, {0}, 4, false}));
    EXPECT_EQ(read("file->comm"), (Read{0, {8}, 16, true}));
    EXPECT_EQ(read("file->path.dentry"), (Read{0, {24}, word, false}));
    EXPECT_EQ(read("file->path.dentry->d_name.name"), (Read{0, {24, 2 * word, 0}, 0, true}));
    EXPECT_EQ(read("file->path.dentry->d_name.hash"), (Read{0, {24, word}, 4, false}));
    EXPECT_EQ(read("file->anonymous"), (Read{0, {24 + word}, word, false}));
    EXPECT_EQ(read("file->next->next->flags"), (Read{0, {24 + 2 * word, 24 + 2 * word, 0}, 4, false}));
    EXPECT_EQ(read("file->numbers[3]"), (Read{0, {24 + 3 * word + 12}, 4, false}));
    EXPECT_EQ(read("file[1].flags"), (Read{0, {24 + 3 * word + 16}, 4, false}));
    EXPECT_EQ(read("file->level"), (Read{0, {4}, 4, false}));
    const ResolvedValue level = resolve_value(btf, abi_of(machine), "read_file", "file->level");
    EXPECT_EQ(level.bits, 5);
    EXPECT_EQ(level.bit_shift, machine.order == ByteOrder::big ? 24 : 3);
    EXPECT_EQ(resolve_value(btf, abi_of(machine), "forget", "call").path.argument, machine.long_bytes == 8 ? 3u : 4u);
  }
}

TEST(CallTypes, InvalidPathsAreExplained) {
  const Machine machine;
  const Btf btf(MadeFiles(machine).bytes);
  const auto why = [&](const char* text, const char* function = "read_file") {
    return said([&] { resolve_value(btf, abi_of(machine, "x86_64"), function, text); });
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_PRED2(has, why("fiel->flags"), "no argument fiel / Its arguments: file, name, count, flags, sync, mode");
  EXPECT_PRED2(
      has, why("file->flasg"),
      "struct file has no member flasg / Its members: flags, kind, level, comm, path, anonymous, next, numbers");
  EXPECT_PRED2(has, why("file.flags"), "file is struct file * / Write -> instead of .");
  EXPECT_PRED2(has, why("file->path->dentry"), "file->path is struct path, not a pointer / Write . instead of ->");
  EXPECT_PRED2(has, why("file->path"), "file->path is struct path: name one of its members / Its members: dentry");
  EXPECT_PRED2(has, why("file->numbers"), "file->numbers is int [4] / Name an element");
  EXPECT_PRED2(has, why("file->numbers[4]"), "has 4 elements");
  EXPECT_PRED2(has, why("file->numbers[x]"), "must be followed by a number and ]");
  EXPECT_PRED2(has, why("count->x"), "count is size_t, not a pointer");
  EXPECT_PRED2(has, why("file->"), "a name must follow \"file->\"");
  EXPECT_PRED2(has, why("file+1"), "after \"file\" there must be ->, . or [");
  EXPECT_PRED2(has, why(""), "a name must follow \"\"");
  EXPECT_PRED2(has, why("file->level.x"), "bit field");
  EXPECT_PRED2(has, why("x", "write_file"), "the kernel's types do not have the function");
  EXPECT_PRED2(has, why("x", "find_file"), "It has no arguments");
  EXPECT_PRED2(has, why("id.val", "forget"), "id is in no register");
}

TEST(CallTypes, RecordedNumbersHaveTheirTypes) {
  for (const Machine machine : kMachines) {
    const Btf btf(MadeFiles(machine).bytes);
    const auto type = [&](const char* text) {
      const ResolvedValue value = resolve_value(btf, abi_of(machine), "read_file", text);
      return RecordedValue{text, false, value.type, value.bit_shift, value.bits};
    };
    const std::vector<RecordedFunction> recorded = {
        {"find_file", {type("file->level"), type("file->numbers[0]"), type("mode"), type("file->next")}}};
    const BtfSignatures signatures(btf, recorded, 8 * machine.long_bytes);
    ByteBuilder values(machine);
    // level is 9; in a big-endian word, bit fields start at the highest bit of a byte
    values.u16(4).u8(machine.order == ByteOrder::big ? 9 : 9 << 3).u8(0).u8(0).u8(0);
    values.u16(4).u32(0xFFFFFFFE).u16(4).u32(7).u16(0xFFFF);
    EXPECT_EQ(arguments(signatures, "find_file", abi_of(machine), {}, values.get()),
              "file->level=9, file->numbers[0]=-2, mode=FAST, file->next=? (unreadable)");
    const std::vector<std::uint8_t> all = values.get();
    for (std::size_t cut = 0; cut < all.size(); ++cut)
      arguments(signatures, "find_file", abi_of(machine), {}, Bytes(all).first(cut));  // must not read beyond the end
  }
}

// Returns BTF with a valid header and these types. The types are copied unchanged, because libbpf would refuse to
// create some of these types.
std::vector<std::uint8_t> raw_types(const std::vector<std::uint32_t>& words, std::string_view strings) {
  ByteBuilder out(Machine{});
  const auto bytes = static_cast<std::uint32_t>(4 * words.size());
  out.u16(0xEB9F).u8(1).u8(0).u32(24).u32(0).u32(bytes).u32(bytes).u32(static_cast<std::uint32_t>(strings.size()));
  for (const std::uint32_t word : words) out.u32(word);
  return out.text(strings).get();
}
constexpr std::uint32_t info(std::uint32_t kind, std::uint32_t length = 0) { return kind << 24 | length; }

void use_all(const Btf& btf) {
  const std::vector<RecordedFunction> recorded = {{"f", {{"a", false, 1, 200, 77}, {"b", false, 0xFFFFFFFF}}}};
  for (const Machine machine : kMachines) {
    const BtfSignatures signatures(btf, recorded, 8 * machine.long_bytes);
    for (std::uint32_t id = 0; id < btf__type_cnt(btf.handle()) + 2; ++id) {
      signatures.value_type(id);
      btf.size_of(id);
      type_text(btf, id);
      const btf_type* const type = btf.type(id);
      if (type == nullptr || !btf_is_func(type)) continue;
      const std::string name(btf.name_of(*type));
      const auto signature = signatures.signature(name);
      if (!signature) continue;
      const std::uint64_t registers[] = {1, 2, 3, 4, 5, 6};
      values_text(
          call_values(*signature, abi_of(machine, "x86_64"), registers, std::array<std::uint8_t, 5>{1, 0, 7, 8, 0}));
      result_value(signature->result, abi_of(machine), 5);
      for (const Parameter& parameter : signature->parameters)
        for (const char* const rest : {"", "->a", ".a", "[1]", "->a->a.a", "[99999999999]"})
          said([&] { resolve_value(btf, abi_of(machine), name, parameter.name + rest); });
    }
  }
}

TEST(CallTypes, RecursiveTypesTerminate) {
  const std::string_view strings("\0f\0a\0", 5);
  // A function whose argument `a` has type number 3.
  const std::vector<std::uint32_t> function = {1, info(BTF_KIND_FUNC), 2, 0, info(BTF_KIND_FUNC_PROTO, 1), 3, 3, 3};
  const auto with = [&](std::vector<std::uint32_t> more) {
    std::vector<std::uint32_t> words = function;
    words.insert(words.end(), more.begin(), more.end());
    return raw_types(words, strings);
  };
  use_all(Btf(with({3, info(BTF_KIND_TYPEDEF), 3})));                              // a type that refers to itself
  use_all(Btf(with({3, info(BTF_KIND_TYPEDEF), 4, 0, info(BTF_KIND_CONST), 3})));  // two types that refer to each other
  // A pointer to itself, which is valid.
  use_all(Btf(with({0, info(BTF_KIND_PTR), 3})));
  // An array whose elements have its own type.
  use_all(Btf(with({0, info(BTF_KIND_ARRAY), 0, 3, 3, 0xFFFFFFFF})));
  // A structure with an unnamed member of its own type.
  use_all(Btf(with({0, info(BTF_KIND_STRUCT, 1), 8, 0, 3, 0})));
  use_all(Btf(with({0, info(BTF_KIND_PTR), 4, 0, info(BTF_KIND_STRUCT, 1), 8, 3, 4, 0xFFFFFFFF})));
  // A structure with a hundred members of its own type.
  std::vector<std::uint32_t> wide = {0, info(BTF_KIND_STRUCT, 100), 8};
  for (unsigned i = 0; i < 100; ++i) wide.insert(wide.end(), {0, 3, 0});
  use_all(Btf(with(wide)));
  wide = {0, info(BTF_KIND_PTR), 4, 0, info(BTF_KIND_STRUCT, 100), 8};  // a structure with a hundred pointers to itself
  for (unsigned i = 0; i < 100; ++i) wide.insert(wide.end(), {0, 4, 0});
  use_all(Btf(with(wide)));
  // Refers to a type number that does not exist.
  use_all(Btf(with({3, info(BTF_KIND_TYPEDEF), 0x7FFFFFFF})));
  // The offset of the name and the size are too large.
  use_all(Btf(with({0xFFFFFF, info(BTF_KIND_INT), 1u << 31, 0xFFFFFFFF})));
  use_all(Btf(with({0, info(BTF_KIND_ENUM, 1), 3, 9, 9})));
  use_all(Btf(raw_types({1, info(BTF_KIND_FUNC), 77}, strings)));         // no prototype
  use_all(Btf(raw_types({1, info(BTF_KIND_FUNC), 1}, strings)));          // a function whose prototype is itself
  EXPECT_THROW(Btf(with({0, info(BTF_KIND_STRUCT, 0xFFFF), 8})), Error);  // the members are missing
  EXPECT_THROW(Btf(with({0, info(31), 8})), Error);                       // an invalid kind
}

TEST(CallTypes, DamagedTypesAreRefusedOrBounded) {
  std::mt19937 random(20260101);  // NOLINT(cert-msc51-cpp): the same damage in every run
  for (const Machine machine : kMachines) {
    const std::vector<std::uint8_t> sound = MadeFiles(machine).bytes;
    for (std::size_t size = 0; size < sound.size(); size += size < 40 ? 1 : 13)
      said([&] { use_all(Btf(Bytes(sound).first(size))); });
    unsigned read = 0;
    for (unsigned round = 0; round < 100; ++round) {
      std::vector<std::uint8_t> bytes = sound;
      for (unsigned i = 0; i <= round % 4; ++i)
        bytes[(round % 10 == 0 ? 0 : 24) + random() % (bytes.size() - 24)] = static_cast<std::uint8_t>(random());
      if (said([&] { use_all(Btf(bytes)); }) == "nothing") ++read;
    }
    EXPECT_GT(read, 33u);  // if all damaged types were refused, the test would prove little
  }
  EXPECT_THROW(Btf(Bytes{}), Error);
}

TEST(CallTypes, RecordsOfTypesAreReadBack) {
  CallRecords records;
  const std::vector<std::uint64_t> registers = {1, 2, ~std::uint64_t{0}};
  const std::vector<std::uint8_t> values = {7, 8, 9};
  std::vector<std::uint64_t> numbers;
  std::size_t most = 0;
  for (unsigned i = 0; i < 200'000; ++i) {
    numbers.push_back(records.add(registers, values));
    EXPECT_NE(numbers.back(), 0u);
    if (numbers.size() < 1000) continue;
    const CallRecord record = records.at(numbers.front());
    ASSERT_EQ(record.registers, registers);
    ASSERT_EQ(record.values, values);
    for (const std::uint64_t number : numbers) records.give_back(number);
    numbers.clear();
    most = std::max(most, records.bytes_held());
  }
  EXPECT_LT(most, 1'000'000u);
  const std::uint64_t empty = records.add({}, {});
  EXPECT_TRUE(records.at(empty).registers.empty());
}

// Compares the types read from the running kernel with the output of bpftool.
class RunningKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) GTEST_SKIP() << "this kernel has no BTF";
  }
};

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 65536> part;
  for (std::size_t got = 1; pipe != nullptr && got > 0;) {
    got = std::fread(part.data(), 1, part.size(), pipe);
    text.append(part.data(), got);
  }
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

TEST_F(RunningKernel, PrototypesEqualThoseOfBpftool) {
  const std::string dump =
      output_of("PATH=$PATH:/usr/sbin bpftool -j btf dump file /sys/kernel/btf/vmlinux 2>/dev/null");
  if (dump.empty()) GTEST_SKIP() << "no bpftool";
  using Json = nlohmann::json;
  std::map<unsigned, Json> types;
  std::map<std::string, unsigned> functions;
  Json parsed = Json::parse(dump);
  for (Json& type : parsed["types"]) {
    if (type["kind"] == "FUNC") functions.emplace(type["name"], type["type_id"]);
    const unsigned id = type["id"];
    types[id] = std::move(type);
  }
  // Returns the type without typedefs and qualifiers; null for void.
  const auto stripped = [&](unsigned id) -> Json {
    static const std::set<std::string> kPassed = {"TYPEDEF", "CONST", "VOLATILE", "RESTRICT", "TYPE_TAG"};
    while (id != 0 && kPassed.contains(types[id]["kind"])) id = types[id]["type_id"];
    return id != 0 ? types[id] : Json();
  };
  const auto fits = [](const ValueType& type, const Json& of) {
    if (of.is_null()) return type.kind == ValueKind::nothing;
    const std::string kind = of["kind"];
    if (kind == "PTR") return type.kind == ValueKind::pointer || type.kind == ValueKind::string;
    if (kind == "ENUM" || kind == "ENUM64") return type.kind == ValueKind::enumeration;
    if (kind == "STRUCT" || kind == "UNION") return type.kind == ValueKind::structure;
    if (kind != "INT") return type.kind == ValueKind::unknown;
    if (of["size"] == 16) return type.kind == ValueKind::structure;
    if (of["encoding"] == "BOOL") return type.kind == ValueKind::boolean;
    // Flags are read as unsigned, even if their type in the kernel is signed.
    const bool is_flags = !type.is_signed && type.is_hex;
    return type.kind == ValueKind::integer && (type.is_signed == (of["encoding"] == "SIGNED") || is_flags) &&
           of["size"] == type.bytes;
  };
  const Btf btf("/sys/kernel/btf/vmlinux");
  const BtfSignatures signatures(btf, {}, 64);
  std::vector<CallRequest> requests;
  unsigned number = 0, compared = 0;
  for (const auto& [name, prototype] : functions) {
    if (++number % std::max<std::size_t>(functions.size() / 300, 1) != 0) continue;
    const auto signature = signatures.signature(name);
    ASSERT_TRUE(signature) << name;
    const Json& parameters = types[prototype]["params"];
    const bool variadic = !parameters.empty() && parameters.back()["type_id"] == 0;
    EXPECT_EQ(signature->more, variadic) << name;
    ASSERT_EQ(signature->parameters.size(), parameters.size() - (variadic ? 1 : 0)) << name;
    for (std::size_t i = 0; i < signature->parameters.size(); ++i) {
      const Json& parameter = parameters[i];
      EXPECT_EQ(signature->parameters[i].name,
                parameter["name"] == "(anon)" ? std::string() : parameter["name"].get<std::string>())
          << name;
      EXPECT_PRED2(fits, signature->parameters[i].type, stripped(parameter["type_id"])) << name << ' ' << parameter;
    }
    EXPECT_PRED2(fits, signature->result, stripped(types[prototype]["ret_type_id"])) << name;
    requests.push_back({name, ""});
    ++compared;
  }
  EXPECT_GT(compared, 200u);

  // The types that a trace contains must give the same results, but take far fewer bytes.
  const PreparedCalls prepared = prepare_calls(requests);
  EXPECT_LT(prepared.types.btf.size(), 100'000u);
  const Btf copied(prepared.types.btf);
  const BtfSignatures travelled(copied, prepared.types.functions, 64);
  for (const CallRequest& request : requests) {
    const CallSignature one = *signatures.signature(request.function);
    const auto other = travelled.signature(request.function);
    ASSERT_TRUE(other) << request.function;
    ASSERT_EQ(one.parameters.size(), other->parameters.size());
    EXPECT_EQ(one.more, other->more);
    const auto same = [](const ValueType& a, const ValueType& b) {
      return a.kind == b.kind && a.is_signed == b.is_signed && a.is_size == b.is_size && a.bytes == b.bytes &&
             (a.kind != ValueKind::enumeration || *a.enumerators == *b.enumerators);
    };
    EXPECT_PRED2(same, one.result, other->result) << request.function;
    for (std::size_t i = 0; i < one.parameters.size(); ++i)
      EXPECT_PRED2(same, one.parameters[i].type, other->parameters[i].type) << request.function;
  }
}

TEST_F(RunningKernel, ValuesReachedThroughArgumentsAreFound) {
  const PreparedCalls prepared = prepare_calls({{"vfs_read", ""}, {"no_such_function", ""}},
                                               {"file->f_path.dentry->d_name.name", "file->f_flags"});
  ASSERT_EQ(prepared.functions.size(), 2u);
  ASSERT_EQ(prepared.functions[0].values.size(), 2u);
  EXPECT_TRUE(prepared.functions[0].values[0].is_string);
  EXPECT_EQ(prepared.functions[0].values[0].offsets.size(), 3u);
  EXPECT_EQ(prepared.functions[0].values[1].size, 4u);
  EXPECT_TRUE(prepared.functions[1].values.empty());
  ASSERT_EQ(prepared.types.functions.size(), 1u);
  const Btf btf(prepared.types.btf);
  const auto signature = BtfSignatures(btf, prepared.types.functions, 64).signature("vfs_read");
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->recorded.at(1).type.kind, ValueKind::integer);
  EXPECT_THROW(prepare_calls({{"vfs_read", ""}}, {"file->f_paht"}), Error);
  EXPECT_THROW(prepare_calls({{"no_such_function", ""}}, {"file"}), Error);
  EXPECT_THROW(prepare_calls({}, {}, "/nowhere"), Error);
}

}  // namespace
}  // namespace kmt
