// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how the system call of an event is found: names from numbers and functions, and the current call from stacks
// and events.
#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <sys/utsname.h>

#include <array>
#include <map>

#include "analysis/matching/syscalls.hpp"
#include "trace/code/syscall_names.hpp"
#include "trace/stack_ids.hpp"

namespace kmt {
namespace {

TEST(SyscallNames, DependOnTheArchitecture) {
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

// The expected numbers are from the system headers with which the test was compiled.
TEST(SyscallNames, AgreeWithTheSystemHeaders) {
  utsname names{};
  ::uname(&names);
  EXPECT_EQ(syscall_name(names.machine, SYS_openat, false), "openat");
  EXPECT_EQ(syscall_name(names.machine, SYS_execve, false), "execve");
  EXPECT_EQ(syscall_name(names.machine, SYS_clone3, false), "clone3");
}

TEST(SyscallNames, AreReadFromEventNames) {
  const auto said = [](std::string_view event) {
    const auto call = syscall_of_event(event);
    if (!call) return std::string("none");
    return std::string(call->compat ? "compat " : "") + (call->begins ? "begins " : "ends ") + std::string(call->name);
  };
  EXPECT_EQ(said("sys_enter_openat"), "begins openat");
  EXPECT_EQ(said("sys_exit_newuname"), "ends uname");
  EXPECT_EQ(said("sys_enter_futex_time32"), "begins futex");
  EXPECT_EQ(said("compat_sys_exit_read"), "compat ends read");
  EXPECT_EQ(said("compat_sys_enter_unknown"), "compat begins ");
  EXPECT_EQ(said("sys_open"), "none");
}

TEST(SyscallNames, AreReadFromFunctionNames) {
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
  for (const char* const function : {"do_int80_syscall_32", "entry_INT80_compat", "asm_int80_emulation",
                                     "entry_SYSENTER_compat_after_hwframe", "el0t_32_sync_handler"})
    EXPECT_EQ(kernel_entry(function).kind, KernelEntry::Kind::compat) << function;
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
  SyscallsOf() {
    info_.machine.arch = "x86_64";
    info_.tables.event_types = {kEnter, kExit};
  }

  // Adds a stack of these functions, the innermost first, as the kernel records it.
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

  const EventType kEnter{"raw_syscalls", "sys_enter", EventKind::syscall_enter};
  const EventType kExit{"raw_syscalls", "sys_exit", EventKind::syscall_exit};
  TraceInfo info_;
  Named symbols_;
  StackIds stacks_{info_.tables.stacks};
  Syscalls syscalls_{info_, info_.tasks, symbols_};
};

TEST_F(SyscallsOf, StacksNameTheCall) {
  EXPECT_EQ(name_of({"kmalloc_trace", "alloc_pipe_info", "__x64_sys_pipe2", "do_syscall_64",
                     "entry_SYSCALL_64_after_hwframe"}),
            "pipe2");
  EXPECT_EQ(name_of({"alloc_pages", "handle_mm_fault", "exc_page_fault", "asm_exc_page_fault", "copy_to_user",
                     "__x64_sys_read", "do_syscall_64"}),
            "read")
      << "a kernel page fault belongs to the system call";
  EXPECT_EQ(name_of({"alloc_pages", "handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault"}),
            "[page fault]");
  EXPECT_EQ(name_of({"kfree", "do_exit", "do_group_exit", "get_signal", "exit_to_user_mode_loop", "do_syscall_64"}),
            "[exit]");
  EXPECT_EQ(name_of({"kfree", "do_exit", "do_group_exit", "__x64_sys_exit_group", "do_syscall_64"}), "exit_group");
  EXPECT_EQ(name_of({"__alloc_pages", "tlb_next_batch", "exit_mmap", "do_exit", "do_group_exit", "get_signal",
                     "arch_do_signal_or_restart", "irqentry_exit_to_user_mode", "asm_exc_page_fault"}),
            "[exit]")
      << "killed by SIGSEGV";
  EXPECT_EQ(name_of({"__alloc_pages", "__handle_mm_fault", "exc_page_fault", "asm_exc_page_fault", "schedule_tail",
                     "ret_from_fork"}),
            "[page fault]")
      << "a new task writes its id";
  EXPECT_EQ(name_of({"__alloc_pages", "__handle_mm_fault", "exc_page_fault", "asm_exc_page_fault",
                     "__do_fast_syscall_32", "do_fast_syscall_32"}),
            "[page fault]")
      << "an argument is read at the entry";
  EXPECT_EQ(name_of({"kmalloc", "worker_thread", "kthread", "ret_from_fork"}), "[kernel thread]");
  EXPECT_EQ(name_of({"alloc", "task_work_run", "exit_to_user_mode_loop", "do_syscall_64"}),
            "[outside of system calls]");
}

// Stacks of s390x, arm64, riscv, powerpc and 32-bit x86.
TEST_F(SyscallsOf, StacksOfOtherArchitecturesNameTheCall) {
  EXPECT_EQ(name_of({"kmem_cache_alloc", "getname_flags", "__s390x_sys_openat", "__do_syscall", "system_call"}),
            "openat");
  EXPECT_EQ(name_of({"kmalloc", "ksys_read", "__do_syscall", "system_call"}), "read");
  EXPECT_EQ(name_of({"kmalloc", "do_sys_poll", "do_syscall", "system_call"}), "poll");
  EXPECT_EQ(name_of({"alloc_pages", "handle_mm_fault", "do_exception", "do_dat_exception", "__do_pgm_check"}),
            "[page fault]");
  EXPECT_EQ(name_of({"kmalloc", "__arm64_sys_pipe2", "invoke_syscall", "el0_svc_common", "do_el0_svc", "el0_svc",
                     "el0t_64_sync_handler", "el0t_64_sync"}),
            "pipe2");
  EXPECT_EQ(name_of({"kmalloc", "__riscv_sys_pipe2", "do_trap_ecall_u", "ret_from_exception"}), "pipe2");
  EXPECT_EQ(name_of({"kmalloc", "sys_pipe2", "system_call_exception", "system_call_common"}), "pipe2");
  EXPECT_EQ(name_of({"kmalloc", "do_pipe2", "system_call_exception", "system_call_vectored_common"}), "pipe2");
  EXPECT_EQ(name_of({"kmalloc", "__ia32_sys_pipe2", "do_int80_syscall_32", "entry_INT80_32"}), "pipe2");
}

TEST_F(SyscallsOf, AllocationsDuringEntryBelongToAnUnknownCall) {
  EXPECT_EQ(name_of({"__do_syscall", "system_call"}), "[system call]");
  EXPECT_EQ(name_of({"task_work_run", "exit_to_user_mode_loop", "__do_syscall", "system_call"}),
            "[outside of system calls]");
  tell(7, 10, EventKind::syscall_enter, 257);
  EXPECT_EQ(name_of({"__do_syscall", "system_call"}), "openat");
}

// Compilers may turn a call at the end of a function into a jump. The function then has no frame.
TEST_F(SyscallsOf, FunctionsOfSystemCallsMayHaveNoFrame) {
  EXPECT_EQ(name_of({"vm_area_alloc", "do_mmap", "ksys_mmap_pgoff", "do_syscall_64"}), "mmap");
  EXPECT_EQ(name_of({"alloc_pages", "do_anonymous_page", "exc_page_fault", "vfs_read", "ksys_read", "do_syscall_64",
                     "entry_SYSCALL_64_after_hwframe"}),
            "read")
      << "a page fault of the kernel";
  EXPECT_EQ(name_of({"kmalloc", "alloc_pipe_info", "splice_direct_to_actor", "do_sendfile", "do_syscall_64"}),
            "sendfile");
  EXPECT_EQ(name_of({"kmalloc", "do_something", "do_syscall_64"}), "do_something()")
      << "one of several possible callers";
  EXPECT_EQ(name_of({"kmalloc", "do_something", "resume_user_mode_work", "exit_to_user_mode_loop", "do_syscall_64"}),
            "[outside of system calls]");
  tell(7, 10, EventKind::syscall_enter, 257);
  EXPECT_EQ(name_of({"kmalloc", "do_something", "do_syscall_64"}), "openat") << "events are more reliable";
}

TEST_F(SyscallsOf, InterruptsBelongToNoCall) {
  Event event{};
  event.tid = 7;
  event.context = Context::kSoftIrq;
  event.stack = stack({"kmalloc", "net_rx_action", "__x64_sys_read"});
  EXPECT_EQ(name(event), "[softirq]");
}

TEST_F(SyscallsOf, EventsNameTheCallWithoutAStack) {
  EXPECT_EQ(name_at(7, 1), "");
  tell(7, 10, EventKind::syscall_enter, 257);
  EXPECT_EQ(name_at(7, 11), "openat");
  EXPECT_EQ(name_at(8, 11), "") << "another task";
  tell(7, 20, EventKind::syscall_exit, 257);
  EXPECT_EQ(name_at(7, 21), "[outside of system calls]");
}

TEST_F(SyscallsOf, EventNamesMayNameTheCall) {
  using enum EventKind;
  info_.tables.event_types = {kEnter,
                              {"syscalls", "sys_enter_newstat", syscall_enter},
                              {"syscalls", "sys_exit_newstat", syscall_exit},
                              {"syscalls", "compat_sys_enter_openat", syscall_enter},
                              {"syscalls", "compat_sys_exit_openat", syscall_exit},
                              {"syscalls", "sys_enter_unknown", syscall_enter},
                              kExit};
  const auto tell_by = [this](std::uint16_t type, std::uint64_t time_ns, EventKind kind, std::uint64_t number = 0) {
    Event event{};
    event.time_ns = time_ns;
    event.tid = 7;
    event.kind = kind;
    event.type = {type};
    event.address = number;
    syscalls_.see(event);
  };
  tell_by(1, 10, EventKind::syscall_enter);
  EXPECT_EQ(name_at(7, 11), "stat");
  Event of_32_bits{};
  of_32_bits.tid = 7;
  of_32_bits.time_ns = 12;
  of_32_bits.stack = stack({"kmalloc", "mm_something", "do_int80_syscall_32"});
  EXPECT_EQ(name(of_32_bits), "stat") << "the event has no number";
  tell_by(2, 20, EventKind::syscall_exit);
  EXPECT_EQ(name_at(7, 21), "[outside of recorded system calls]") << "other calls may not be recorded";
  tell_by(3, 30, EventKind::syscall_enter);
  EXPECT_EQ(name_at(7, 31), "openat");
  tell_by(4, 40, EventKind::syscall_exit);
  tell_by(5, 50, EventKind::syscall_enter, 257);
  EXPECT_EQ(name_at(7, 51), "openat") << "by its number";
  tell_by(0, 60, EventKind::syscall_enter, 3);
  EXPECT_EQ(name_at(7, 61), "close");
}

// If only the starts of calls were recorded, all later events of a task would seem to be in its last call.
TEST_F(SyscallsOf, StartsWithoutEndsAreIgnored) {
  using enum EventKind;
  info_.tables.event_types = {{"syscalls", "sys_enter_openat", syscall_enter},
                              {"syscalls", "sys_enter_exit_group", syscall_enter},
                              {"syscalls", "sys_enter_read", syscall_enter},
                              {"syscalls", "sys_exit_read", syscall_exit}};
  const auto tell_by = [this](std::uint16_t type, std::int32_t tid, std::uint64_t time_ns, EventKind kind) {
    Event event{};
    event.time_ns = time_ns;
    event.tid = tid;
    event.kind = kind;
    event.type = {type};
    syscalls_.see(event);
  };
  tell_by(0, 7, 10, syscall_enter);
  EXPECT_EQ(name_at(7, 11), "");
  tell_by(2, 7, 20, syscall_enter);
  EXPECT_EQ(name_at(7, 21), "read");
  tell_by(3, 7, 30, syscall_exit);
  EXPECT_EQ(name_at(7, 31), "[outside of recorded system calls]");
  tell_by(0, 7, 40, syscall_enter);
  EXPECT_EQ(name_at(7, 41), "") << "the event may be inside a call";
  tell_by(1, 7, 50, syscall_enter);
  EXPECT_EQ(name_at(7, 51), "exit_group") << "which has no end";
}

// A trace may contain the formats of events that were not recorded. Only the events in the trace show what was
// recorded.
TEST_F(SyscallsOf, MissingEndsWereNotRecorded) {
  tell(7, 10, EventKind::syscall_enter, 0);
  tell(7, 20, EventKind::syscall_exit, 0);
  for (const std::int32_t tid : {7, 8}) {
    tell(tid, 30, EventKind::syscall_enter, 0);
    EXPECT_EQ(name_at(tid, 31), "read");
    tell(tid, 40, EventKind::syscall_enter, 1);
  }
  EXPECT_EQ(name_at(8, 41), "");
}

// At the start of a recording, the start events of system calls may be enabled slightly before the end events.
TEST_F(SyscallsOf, TheFirstEndsMayBeMissing) {
  tell(7, 10, EventKind::syscall_enter, 0);
  tell(7, 20, EventKind::syscall_enter, 1);
  EXPECT_EQ(name_at(7, 21), "") << "no end event so far";
  tell(7, 30, EventKind::syscall_exit, 1);
  tell(7, 40, EventKind::syscall_enter, 0);
  EXPECT_EQ(name_at(7, 41), "read");
  tell(7, 50, EventKind::syscall_exit, 0);
  EXPECT_EQ(name_at(7, 51), "[outside of system calls]");
}

TEST_F(SyscallsOf, EventsAtTheEndOfATaskBelongToItsLastCall) {
  info_.tables.event_types = {kEnter, {"sched", "sched_process_exit"}, {"sched", "sched_switch"}, kExit};
  const auto other = [this](std::int32_t tid, std::uint64_t time_ns, std::uint16_t type) {
    Event event{};
    event.time_ns = time_ns;
    event.tid = tid;
    event.type = {type};
    syscalls_.see(event);
  };
  tell(7, 10, EventKind::syscall_enter, 0);
  tell(7, 20, EventKind::syscall_exit, 0);
  other(7, 25, 2);
  EXPECT_EQ(name_at(7, 29), "[outside of system calls]");
  other(7, 30, 1);  // the process was ended by a signal
  EXPECT_EQ(name_at(7, 31), "[exit]");
  other(8, 32, 1);
  EXPECT_EQ(name_at(8, 33), "[exit]") << "without a system call before";
  tell(9, 40, EventKind::syscall_enter, 231);
  other(9, 41, 1);
  EXPECT_EQ(name_at(9, 42), "exit_group");
  tell(7, 50, EventKind::syscall_exit, 56);
  EXPECT_EQ(name_at(7, 51), "[outside of system calls]")
      << "another task with the same id; its creation was not recorded";
  info_.tasks.lives.born({8, 32, 1, true});
  EXPECT_EQ(name_at(8, 60), "") << "the next task with the id may be reported before the end";
  info_.tasks.lives.born({9, 50, 1, true});
  EXPECT_EQ(name_at(9, 60), "");
}

// When the first thread of a process has ended, its other threads may continue.
TEST_F(SyscallsOf, TheEndOfAFirstThreadDoesNotEndTheProcess) {
  info_.tables.event_types = {{"sched", "sched_process_exit"}};
  info_.tasks.lives.born({11, 5, 10, true, true});
  tell(11, 20, EventKind::syscall_exit, 0);
  Event end{};
  end.time_ns = 30;
  end.tid = 10;
  syscalls_.see(end);
  EXPECT_EQ(name_at(10, 31), "[exit]");
  EXPECT_EQ(name_at(11, 31), "[outside of system calls]");
  EXPECT_EQ(process_at(info_.tasks, 11, 40).pid, 10);
}

// If there are no kernel symbols, frames are only addresses.
TEST_F(SyscallsOf, StacksWithoutNamesAreIgnored) {
  Event event{};
  event.tid = 7;
  event.stack = stack({"0xffffffff81234567", "0xffffffff81001234"});
  EXPECT_EQ(name(event), "");
  event.stack = stack({"0xffffffffc0234567", "vfs_read", "__x64_sys_read", "do_syscall_64"});
  EXPECT_EQ(name(event), "read") << "an unnamed module frame does not hide outer frames";
  event.stack = stack({"kmalloc", "0xffffffffc0234567", "do_syscall_64"});
  EXPECT_EQ(name(event), "") << "the system call function has no name";
  tell(7, 10, EventKind::syscall_enter, 257);
  event.stack = stack({"0xffffffff81234567"});
  EXPECT_EQ(name(event), "openat") << "events need no names";
}

TEST_F(SyscallsOf, UserStacksAreIgnored) {
  Event event{};
  event.tid = 7;
  event.stack = stacks_.user_id_of(std::array<std::uint64_t, 1>{0});
  EXPECT_EQ(name(event), "");
}

TEST_F(SyscallsOf, AStackShowsThatTheTaskIs32Bit) {
  tell(7, 10, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 11), "recvfrom");
  Event event{};
  event.tid = 7;
  event.time_ns = 12;
  event.stack = stack({"kmalloc", "mm_something", "do_int80_syscall_32"});
  EXPECT_EQ(name(event), "brk");
  EXPECT_EQ(name_at(7, 13), "brk") << "another event of the same call, without a stack";
  tell(7, 14, EventKind::syscall_exit, 45);
  tell(7, 20, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 21), "recvfrom") << "an int 0x80 call of a 64-bit program";
}

// The end event of execve() has the number that execve has for the new program, which may be a 32-bit or a 64-bit
// program.
TEST_F(SyscallsOf, TheEndOfExecveShowsTheWordSize) {
  tell(7, 10, EventKind::syscall_enter, 59);
  tell(7, 20, EventKind::syscall_exit, 11);
  tell(7, 30, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 31), "brk");
  info_.tasks.lives.born({8, 35, 7, true});
  tell(7, 40, EventKind::syscall_enter, 11);
  EXPECT_EQ(name_at(7, 41), "execve");
  tell(7, 50, EventKind::syscall_exit, 59);
  tell(7, 60, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 61), "recvfrom");
  tell(8, 70, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(8, 71), "brk") << "a child has the word size of its parent";
  tell(9, 80, EventKind::syscall_enter, 11);
  tell(9, 81, EventKind::syscall_exit, 11);
  tell(9, 82, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(9, 83), "recvfrom") << "11 is munmap";
}

// A thread that executes a program takes over the ID of the first thread of its process, even if that thread was in a
// call.
TEST_F(SyscallsOf, ExecByAThreadShowsTheWordSizeOfTheProcess) {
  info_.tasks.lives.born({7, 1, 1, true});
  info_.tasks.lives.born({71, 2, 7, true, true});
  info_.tasks.lives.born({72, 2, 7, true, true});
  tell(7, 10, EventKind::syscall_enter, 202);  // futex
  tell(71, 20, EventKind::syscall_enter, 59);
  tell(7, 30, EventKind::syscall_exit, 11);
  tell(7, 40, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 41), "brk");
  tell(7, 50, EventKind::syscall_exit, 45);
  // Thread 72 executes a 64-bit program. Its execve() ends with the ID of the first thread.
  tell(72, 60, EventKind::syscall_enter, 11);
  tell(7, 70, EventKind::syscall_exit, 59);
  tell(7, 80, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 81), "recvfrom");
}

TEST_F(SyscallsOf, AThreadThatUnmapsMemoryExecutesNothing) {
  info_.tasks.lives.born({7, 1, 1, true});
  info_.tasks.lives.born({71, 2, 7, true, true});
  tell(71, 20, EventKind::syscall_enter, 11);  // munmap
  tell(7, 30, EventKind::syscall_exit, 11);    // end of a call that began before the trace
  tell(71, 35, EventKind::syscall_exit, 11);
  tell(7, 40, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 41), "recvfrom");
  tell(7, 45, EventKind::syscall_exit, 45);
  tell(71, 50, EventKind::syscall_enter, 59);  // fails
  tell(7, 60, EventKind::syscall_enter, 11);
  tell(7, 61, EventKind::syscall_exit, 11);
  tell(7, 70, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 71), "recvfrom");
  tell(7, 72, EventKind::syscall_exit, 45);
  tell(71, 80, EventKind::syscall_exit, 59);  // execve() has failed
  tell(7, 90, EventKind::syscall_exit, 11);   // end of a call whose start event was lost
  tell(7, 91, EventKind::syscall_enter, 45);
  EXPECT_EQ(name_at(7, 92), "recvfrom");
}

TEST_F(SyscallsOf, TheRecorderNotes32BitPrograms) {
  info_.recording.notes["tasks_32_bit"] = "5 7";
  Syscalls syscalls(info_, info_.tasks, symbols_);
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

TEST_F(SyscallsOf, ALossMayContainTheEndOfACall) {
  tell(7, 10, EventKind::syscall_enter, 257);
  info_.losses.intervals.push_back({});
  EXPECT_EQ(name_at(7, 11), "");
}

TEST_F(SyscallsOf, ANewTaskWithAReusedIdIsInNoCall) {
  tell(7, 10, EventKind::syscall_enter, 231);  // exit_group has no end event
  info_.tasks.lives.born({7, 50, 1, true});
  EXPECT_EQ(name_at(7, 40), "exit_group");
  EXPECT_EQ(name_at(7, 60), "");
}

TEST_F(SyscallsOf, KernelThreadsAreRecognisedByTheirParent) {
  info_.tasks.lives.known(55, {55, 2, 0, "/"}, TaskLives::Noted::at_begin);
  EXPECT_EQ(name_at(55, 1), "[kernel thread]");
}

}  // namespace
}  // namespace kmt
