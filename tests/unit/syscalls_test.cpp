// SPDX-License-Identifier: GPL-2.0-or-later
// In which system call something happened: names by numbers and by functions, and what stacks and events tell.
#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <sys/utsname.h>

#include <array>
#include <map>

#include "analysis/syscalls.hpp"
#include "trace/stack_ids.hpp"
#include "trace/syscall_names.hpp"

namespace kmt {
namespace {

TEST(SyscallNames, AreThoseOfTheArchitecture) {
  EXPECT_EQ(syscall_name("x86_64", 257, false), "openat");
  EXPECT_EQ(syscall_name("x86_64", 5, true), "open");
  EXPECT_EQ(syscall_name("i686", 11, false), "execve");
  EXPECT_EQ(syscall_name("aarch64", 56, false), "openat");
  EXPECT_EQ(syscall_name("aarch64", 322, true), "openat");
  EXPECT_EQ(syscall_name("armv7l", 322, false), "openat");
  EXPECT_EQ(syscall_name("riscv64", 221, false), "execve");
  EXPECT_EQ(syscall_name("s390x", 288, false), "openat");
  EXPECT_EQ(syscall_name("x86_64", 0x40000000 + 1, false), "write") << "x32";
  EXPECT_EQ(syscall_name("x86_64", 60000, false), "system call 60000");
  EXPECT_EQ(syscall_name("x86_64", ~std::uint64_t{0}, false), "system call -1");
  EXPECT_EQ(syscall_name("sparc64", 5, false), "system call 5");
}

// The headers that this is compiled with have numbers of their own.
TEST(SyscallNames, AreThoseOfThisMachine) {
  utsname names{};
  ::uname(&names);
  EXPECT_EQ(syscall_name(names.machine, SYS_openat, false), "openat");
  EXPECT_EQ(syscall_name(names.machine, SYS_execve, false), "execve");
  EXPECT_EQ(syscall_name(names.machine, SYS_clone3, false), "clone3");
}

TEST(SyscallNames, FunctionsDoThem) {
  for (const char* const function :
       {"__x64_sys_openat", "__ia32_compat_sys_openat", "__arm64_sys_openat", "__s390x_sys_openat", "__do_sys_openat",
        "__se_sys_openat", "SyS_openat", "sys_openat", "__ia32_sys_openat", "__riscv_sys_openat"}) {
    EXPECT_EQ(kernel_entry(function).kind, KernelEntry::Kind::syscall) << function;
    EXPECT_EQ(kernel_entry(function).name, "openat") << function;
  }
  EXPECT_EQ(kernel_entry("__x64_sys_newfstat").name, "fstat");
  EXPECT_EQ(kernel_entry("__ia32_sys_ia32_pread64").name, "pread64");
  EXPECT_EQ(kernel_entry("__ia32_sys_futex_time32").name, "futex");
  EXPECT_EQ(kernel_entry("vfs_read").kind, KernelEntry::Kind::none);
  EXPECT_EQ(kernel_entry("ksys_mmap_pgoff").name, "mmap");
  EXPECT_EQ(kernel_entry("__sys_sendmsg").name, "sendmsg");
  EXPECT_EQ(kernel_entry("do_int80_syscall_32").kind, KernelEntry::Kind::compat);
}

class Named : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override {
    const auto found = names.find(address);
    return found == names.end() ? "" : found->second + "+0x4";
  }
  std::map<std::uint64_t, std::string> names;
};

class SyscallsOf : public testing::Test {
 protected:
  SyscallsOf() { info_.arch = "x86_64"; }

  // Innermost first, as the kernel gives it.
  StackId stack(const std::vector<std::string>& functions) {
    std::vector<std::uint64_t> frames;
    for (const std::string& function : functions) {
      frames.push_back(0xffffffff81000000 + 0x1000 * symbols_.names.size());
      symbols_.names[frames.back()] = function;
    }
    return stacks_.id_of(frames);
  }
  std::string name(Event event) {
    event.kind = EventKind::kmalloc;
    return syscalls_.name(syscalls_.id_of(event));
  }
  std::string name_of(const std::vector<std::string>& functions) {
    Event event{};
    event.tid = 7;
    event.stack = stack(functions);
    return name(event);
  }
  void tell(std::int32_t tid, std::uint64_t time_ns, EventKind kind, std::uint64_t number) {
    Event event{};
    event.time_ns = time_ns;
    event.tid = tid;
    event.kind = kind;
    event.address = number;
    syscalls_.see(event);
  }
  std::string name_at(std::int32_t tid, std::uint64_t time_ns) {
    Event event{};
    event.time_ns = time_ns;
    event.tid = tid;
    return name(event);
  }

  TraceInfo info_;
  Named symbols_;
  StackIds stacks_{info_.stacks};
  Syscalls syscalls_{info_, info_, symbols_};
};

TEST_F(SyscallsOf, StacksTell) {
  EXPECT_EQ(name_of({"kmalloc_trace", "alloc_pipe_info", "__x64_sys_pipe2", "do_syscall_64",
                     "entry_SYSCALL_64_after_hwframe"}),
            "pipe2");
  EXPECT_EQ(name_of({"alloc_pages", "handle_mm_fault", "exc_page_fault", "asm_exc_page_fault", "copy_to_user",
                     "__x64_sys_read", "do_syscall_64"}),
            "read")
      << "a fault of the kernel's own is the system call's";
  EXPECT_EQ(name_of({"alloc_pages", "handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault"}),
            "[page fault]");
  EXPECT_EQ(name_of({"kfree", "do_exit", "do_group_exit", "get_signal", "exit_to_user_mode_loop", "do_syscall_64"}),
            "[exit]");
  EXPECT_EQ(name_of({"kfree", "do_exit", "do_group_exit", "__x64_sys_exit_group", "do_syscall_64"}), "exit_group");
  EXPECT_EQ(name_of({"kmalloc", "worker_thread", "kthread", "ret_from_fork"}), "[kernel thread]");
  EXPECT_EQ(name_of({"alloc", "task_work_run", "exit_to_user_mode_loop", "do_syscall_64"}),
            "[outside of system calls]");
}

// Compilers make a function that ends with a call jump there.
TEST_F(SyscallsOf, FunctionsOfSystemCallsMayHaveNoFrame) {
  EXPECT_EQ(name_of({"vm_area_alloc", "do_mmap", "ksys_mmap_pgoff", "do_syscall_64"}), "mmap");
  EXPECT_EQ(name_of({"alloc_pages", "do_anonymous_page", "exc_page_fault", "vfs_read", "ksys_read", "do_syscall_64",
                     "entry_SYSCALL_64_after_hwframe"}),
            "read")
      << "a fault of the kernel's own";
  EXPECT_EQ(name_of({"kmalloc", "do_something", "do_syscall_64"}), "[do_something]") << "no name for it";
  EXPECT_EQ(name_of({"kmalloc", "do_something", "resume_user_mode_work", "exit_to_user_mode_loop", "do_syscall_64"}),
            "[outside of system calls]");
  tell(7, 10, EventKind::syscall_enter, 257);
  EXPECT_EQ(name_of({"kmalloc", "do_something", "do_syscall_64"}), "openat") << "events tell better";
}

TEST_F(SyscallsOf, InterruptsAreTheirOwn) {
  Event event{};
  event.tid = 7;
  event.context = Context::kSoftIrq;
  event.stack = stack({"kmalloc", "net_rx_action", "__x64_sys_read"});
  EXPECT_EQ(name(event), "[softirq]");
}

TEST_F(SyscallsOf, EventsTellWhereThereIsNoStack) {
  EXPECT_EQ(name_at(7, 1), "");
  tell(7, 10, EventKind::syscall_enter, 257);
  EXPECT_EQ(name_at(7, 11), "openat");
  EXPECT_EQ(name_at(8, 11), "") << "another task";
  tell(7, 20, EventKind::syscall_exit, 257);
  EXPECT_EQ(name_at(7, 21), "[outside of system calls]");
}

TEST_F(SyscallsOf, StacksOfProgramsDoNotTell) {
  Event event{};
  event.tid = 7;
  event.stack = stacks_.user_id_of(std::array<std::uint64_t, 1>{0});
  EXPECT_EQ(name(event), "");
}

TEST_F(SyscallsOf, AStackSaysThatTheTaskIsOne32BitWide) {
  tell(7, 10, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 11), "recvfrom");
  Event event{};
  event.tid = 7;
  event.time_ns = 12;
  event.stack = stack({"kmalloc", "mm_something", "do_int80_syscall_32"});
  EXPECT_EQ(name(event), "brk");
}

// A program that is executed has its own number of execve in the end of the call.
TEST_F(SyscallsOf, TheEndOfExecveTellsHowWideTheTaskIs) {
  tell(7, 10, EventKind::syscall_enter, 59);
  tell(7, 20, EventKind::syscall_exit, 11);
  tell(7, 30, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 31), "brk");
  info_.lives.born({8, 35, 7, true});
  tell(7, 40, EventKind::syscall_enter, 11);
  EXPECT_EQ(name_at(7, 41), "execve");
  tell(7, 50, EventKind::syscall_exit, 59);
  tell(7, 60, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 61), "recvfrom");
  tell(8, 70, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(8, 71), "brk") << "a child of what its parent was";
  tell(9, 80, EventKind::syscall_enter, 11);
  tell(9, 81, EventKind::syscall_exit, 11);
  tell(9, 82, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(9, 83), "recvfrom") << "11 is munmap";
}

TEST_F(SyscallsOf, TheRecorderSawWhichProgramsHad32Bits) {
  info_.notes["tasks_32_bit"] = "5 7";
  Syscalls syscalls(info_, info_, symbols_);
  Event enter{};
  enter.tid = 7;
  enter.kind = EventKind::syscall_enter;
  enter.address = 45;
  syscalls.see(enter);
  Event event{};
  event.tid = 7;
  event.time_ns = 1;
  EXPECT_EQ(syscalls.name(syscalls.id_of(event)), "brk");
}

TEST_F(SyscallsOf, WhatIsLostMayHaveEndedIt) {
  tell(7, 10, EventKind::syscall_enter, 257);
  info_.lost.push_back({});
  EXPECT_EQ(name_at(7, 11), "");
}

TEST_F(SyscallsOf, ANewTaskOfTheSameIdIsInNone) {
  tell(7, 10, EventKind::syscall_enter, 231);  // exit_group, which has no end
  info_.lives.born({7, 50, 1, true});
  EXPECT_EQ(name_at(7, 40), "exit_group");
  EXPECT_EQ(name_at(7, 60), "");
}

TEST_F(SyscallsOf, KernelThreadsAreKnownByTheirParent) {
  info_.lives.known(55, {55, 2, 0, "/"}, true);
  EXPECT_EQ(name_at(55, 1), "[kernel thread]");
}

}  // namespace
}  // namespace kmt
