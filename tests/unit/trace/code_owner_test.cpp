// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/code_owner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kmt {
namespace {

TEST(CodeOwner, ModuleIsInTheNameOfASymbol) {
  EXPECT_EQ(module_of("ext4_find_extent+0x3c [ext4]"), "ext4");
  EXPECT_EQ(module_of("copy_process.isra.0+0x20e"), "[kernel]");
  EXPECT_EQ(module_of("bpf_prog_6deef7357e7b4530+0x10 [bpf]"), "[bpf]");
  EXPECT_EQ(module_of("kprobe_insn_slot+0x4 [__builtin__kprobes]"), "[__builtin__kprobes]");
  EXPECT_EQ(module_of("0xffffffffc0401234"), "");
  EXPECT_EQ(module_of(""), "");
}

// The expected directories are those of the source of Linux 6.12.
TEST(CodeOwner, DirectoryIsGuessedFromTheNameOfTheFunction) {
  const SourceDirectories directories("");
  const auto guess = [&](std::string_view symbol) {
    const CodeOwner owner = directories.of(symbol, {});
    EXPECT_TRUE(owner.is_guess) << symbol;
    return owner.name;
  };
  EXPECT_EQ(guess("ext4_alloc_inode+0x1d"), "fs/ext4");
  EXPECT_EQ(guess("__d_alloc+0x29"), "fs");
  EXPECT_EQ(guess("copy_process.isra.0+0x20e"), "kernel");
  EXPECT_EQ(guess("bpf_prog_alloc_no_stats+0x2e"), "kernel/bpf");
  EXPECT_EQ(guess("getname_flags.part.0+0x4c"), "fs");
  EXPECT_EQ(guess("__alloc_skb+0x11e"), "net/core");
  EXPECT_EQ(guess("sk_prot_alloc+0x3c"), "net/core");
  EXPECT_EQ(guess("io_pages_map+0x30"), "io_uring");
  EXPECT_EQ(guess("alloc_pipe_info+0x5a"), "fs");
  EXPECT_EQ(guess("do_wp_page+0x293"), "mm");
  EXPECT_EQ(guess("virtblk_prep_rq.isra.0+0x10a"), "drivers/block");
  EXPECT_EQ(guess("__pollwait+0xab"), "fs");
  EXPECT_EQ(guess("__do_sys_msgget+0x10"), guess("__x64_sys_msgget+0x10"));
  EXPECT_EQ(directories.of("a_function_of_nobody+0x1", {}), (CodeOwner{})) << "unknown is not a guess";
  EXPECT_EQ(directories.of(std::string(1 << 20, '_') + "+0x1", {}), (CodeOwner{}));
  EXPECT_EQ(directories.of("a" + std::string(1 << 20, '_') + "+0x1", {}), (CodeOwner{})) << "too long for a function";
}

TEST(CodeOwner, WhatIsKnownPrecedesAGuess) {
  const SourceDirectories directories("ext4 fs/ext4\nmine [out of tree]\n");
  EXPECT_EQ(directories.of("tcp_sendmsg+0x10 [ext4]", {}), (CodeOwner{"fs/ext4", false}));
  EXPECT_EQ(directories.of("tcp_sendmsg+0x10 [mine]", {}), (CodeOwner{"[out of tree]", false}));
  const std::vector<SourceFrame> lines = {{"kzalloc", "include/linux/slab.h", 7, false},
                                          {"kmemdup", "mm/util.c", 8, true},
                                          {"probe", "drivers/net/e1000/e1000_main.c", 9, false}};
  EXPECT_EQ(directories.of("tcp_sendmsg+0x10", lines), (CodeOwner{"drivers/net/e1000", false}));
  EXPECT_EQ(directories.of("bpf_prog_1+0x10 [bpf]", {}), (CodeOwner{"[bpf]", false}));
  EXPECT_EQ(directories.of("0xffffffffc0401234", {}), (CodeOwner{}));
  // Paths of the machine that built a module are not directories of the kernel.
  for (const char* const file : {"/home/me/driver/main.c", "os/linux/main.c"}) {
    const std::vector<SourceFrame> outside = {{"f", file, 1, false}};
    EXPECT_EQ(directories.of("f+0x10 [mine]", outside), (CodeOwner{"[out of tree]", false})) << file;
  }
}

TEST(CodeOwner, DeepestDirectoryDecidesAboutTheSubsystem) {
  EXPECT_EQ(subsystem_of({"fs/ext4", false}), (CodeOwner{"file systems", false}));
  EXPECT_EQ(subsystem_of({"net/netfilter/ipvs", true}), (CodeOwner{"netfilter", true}));
  EXPECT_EQ(subsystem_of({"network", false}), (CodeOwner{}));
  EXPECT_EQ(subsystem_of({"[bpf]", false}), (CodeOwner{"[bpf]", false}));
  EXPECT_EQ(subsystem_of({}), (CodeOwner{}));
}

// Lines of modules.dep and of /proc/modules, as in Debian 12 and, for zfs/spl.ko, in Ubuntu.
TEST(CodeOwner, DirectoriesOfLoadedModules) {
  const char* const dependencies =
      "kernel/fs/ext4/ext4.ko: kernel/fs/mbcache.ko\nkernel/net/netfilter/nf-conntrack.ko.xz:\n"
      "kernel/drivers/net/dummy.ko.zst:\nupdates/dkms/zfs.ko: updates/dkms/spl.ko\n"
      "kernel/zfs/spl.ko:\nkernel/mine.ko:\n";
  const char* const loaded =
      "ext4 1011712 1 - Live 0x0000000000000000\nnf_conntrack 188416 2 xt_a,xt_b, Live 0x0000000000000000\n"
      "zfs 4000000 3 - Live 0x0000000000000000 (PO)\nspl 100000 1 zfs, Live 0x0000000000000000 (O)\n"
      "mine 4096 0 - Live 0x0000000000000000 (O)\n";
  EXPECT_EQ(module_directories(dependencies, loaded),
            "ext4 fs/ext4\nnf_conntrack net/netfilter\nzfs [out of tree]\nspl [out of tree]\nmine [out of tree]\n");
  EXPECT_EQ(module_directories("", loaded), "");
}

// Lines of modules.builtin, as in Debian 12. The table directories.txt has the directory of ext4's functions.
TEST(CodeOwner, NamesOfBuiltInModulesImproveGuesses) {
  const std::string note = module_directories("", "",
                                              "kernel/fs/ext4/ext4.ko\nkernel/drivers/my/new-thing.ko\n"
                                              "kernel/drivers/my/new.ko\nkernel/mine.ko\nkernel/virt/xfs.ko\n");
  EXPECT_EQ(note, "new_thing drivers/my built-in\nnew drivers/my built-in\nxfs virt built-in\n");
  const SourceDirectories directories(note);
  EXPECT_EQ(directories.of("new_thing_open+0x1", {}), (CodeOwner{"drivers/my", true}));
  EXPECT_EQ(directories.of("__new_probe.isra.0+0x1", {}), (CodeOwner{"drivers/my", true}));
  EXPECT_EQ(directories.of("newer_probe+0x1", {}), (CodeOwner{}));
  EXPECT_EQ(directories.of("new+0x1", {}), (CodeOwner{})) << "not a prefix";
  EXPECT_EQ(directories.of("xfs_trans_alloc+0x10", {}).name, "fs/xfs") << "the table precedes the note";
  EXPECT_EQ(directories.of("f+0x1 [new]", {}), (CodeOwner{})) << "a module that is not built in";
  EXPECT_EQ(directories.of("new" + std::string(1 << 20, '_') + "+0x1", {}), (CodeOwner{})) << "too long";
}

}  // namespace
}  // namespace kmt
