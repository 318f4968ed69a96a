// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/syscall_names.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "trace/code/syscall_tables.hpp"

namespace kmt {

namespace {

using Kind = KernelEntry::Kind;
using Names = std::vector<std::string_view>;  // index: system call number; empty: no such call

Names parse(std::string_view table) {
  Names names;
  for (std::string_view line : split(table, '\n')) {
    const auto number = take_number<std::size_t>(line);
    if (!number || *number > 0xFFFF) continue;
    if (names.size() <= *number) names.resize(*number + 1);
    names[*number] = line.substr(1);
  }
  return names;
}

const Names* names_of(std::string_view arch, bool compat) {
  static const Names kX86 = parse(kSyscallsX86);
  static const Names kI386 = parse(kSyscallsI386);
  static const Names kArm = parse(kSyscallsArm);
  static const Names kS390 = parse(kSyscallsS390);
  static const Names kGeneric = parse(kSyscallsGeneric);
  const bool is_i386 = arch.size() == 4 && arch.front() == 'i' && arch.ends_with("86");
  if (is_i386 || (arch == "x86_64" && compat)) return &kI386;
  if (arch == "x86_64") return &kX86;
  if (arch == "aarch64") return compat ? &kArm : &kGeneric;
  if (arch.starts_with("arm")) return &kArm;
  if (arch == "s390x" && !compat) return &kS390;
  if ((arch.starts_with("riscv") || arch.starts_with("loongarch")) && !compat) return &kGeneric;
  return nullptr;
}

// Prefixes of the functions made by SYSCALL_DEFINE (arch/*/include/asm/syscall_wrapper.h and include/linux/syscalls.h,
// back to Linux 3.4). If a prefix starts with another one, the longer prefix comes first.
constexpr std::array<std::string_view, 22> kPrefixes = {"__x64_compat_sys_",
                                                        "__ia32_compat_sys_",
                                                        "__arm64_compat_sys_",
                                                        "__s390_compat_sys_",
                                                        "__riscv_compat_sys_",
                                                        "__x32_compat_sys_",
                                                        "__do_compat_sys_",
                                                        "__se_compat_sys_",
                                                        "__x64_sys_",
                                                        "__ia32_sys_",
                                                        "__arm64_sys_",
                                                        "__s390x_sys_",
                                                        "__s390_sys_",
                                                        "__riscv_sys_",
                                                        "__do_sys_",
                                                        "__se_sys_",
                                                        "__powerpc_sys_",
                                                        "compat_sys_",
                                                        "compat_SyS_",
                                                        "C_SYSC_",
                                                        "SyS_",
                                                        "sys_"};

// Functions whose name differs from the name of their system call.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"newstat", "stat"},   {"newlstat", "lstat"}, {"newfstat", "fstat"},
    {"newuname", "uname"}, {"umount", "umount2"}, {"sendfile64", "sendfile"}};

// Returns the system call of a function. `name` is the name of the function without the kernel's prefix.
std::string_view done_by(std::string_view name) {
  if (name.starts_with("ia32_")) name.remove_prefix(5);
  for (const std::string_view suffix : {"_time32", "_time64"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  for (const auto& [called, does] : kAliases)
    if (name == called) return does;
  return name;
}

constexpr std::pair<std::string_view, Kind> kFunctions[] = {
    {"asm_exc_page_fault", Kind::page_fault},
    {"exc_page_fault", Kind::page_fault},
    {"page_fault", Kind::page_fault},
    {"async_page_fault", Kind::page_fault},
    {"do_page_fault", Kind::page_fault},
    {"__do_page_fault", Kind::page_fault},
    {"do_user_addr_fault", Kind::page_fault},
    {"do_mem_abort", Kind::page_fault},      // arm64
    {"do_dat_exception", Kind::page_fault},  // s390x
    {"do_protection_exception", Kind::page_fault},
    {"do_exception", Kind::page_fault},
    {"handle_mm_fault", Kind::page_fault},
    {"do_exit", Kind::exit},
    {"do_group_exit", Kind::exit},
    {"kthread", Kind::kernel_thread},
    {"ret_from_fork", Kind::kernel_thread},
    {"ret_from_fork_asm", Kind::kernel_thread},
    {"__ret_from_fork", Kind::kernel_thread},
    {"kernel_init", Kind::kernel_thread},
    {"cpu_startup_entry", Kind::kernel_thread},  // idle task
    {"do_int80_syscall_32", Kind::compat},
    {"do_int80_emulation", Kind::compat},
    {"int80_emulation", Kind::compat},
    {"asm_int80_emulation", Kind::compat},
    {"entry_INT80_compat", Kind::compat},
    {"do_fast_syscall_32", Kind::compat},
    {"__do_fast_syscall_32", Kind::compat},
    {"do_SYSENTER_32", Kind::compat},
    {"entry_SYSENTER_compat_after_hwframe", Kind::compat},
    {"entry_SYSCALL_compat_after_hwframe", Kind::compat},
    {"do_el0_svc_compat", Kind::compat},
    {"el0_svc_compat", Kind::compat},
    {"el0t_32_sync_handler", Kind::compat},
    {"entry_SYSCALL_64_after_hwframe", Kind::dispatcher},
    {"entry_SYSCALL_64_fastpath", Kind::dispatcher},
    {"do_syscall_64", Kind::dispatcher},
    {"x64_sys_call", Kind::dispatcher},
    {"ia32_sys_call", Kind::dispatcher},
    {"do_syscall_32_irqs_on", Kind::dispatcher},
    {"do_el0_svc", Kind::dispatcher},  // arm64
    {"el0_svc_common", Kind::dispatcher},
    {"invoke_syscall", Kind::dispatcher},
    {"do_trap_ecall_u", Kind::dispatcher},  // riscv
    {"__do_syscall", Kind::dispatcher},     // s390x
    {"do_syscall", Kind::dispatcher},       // used by s390x before Linux 5.16, and by loongarch
    {"system_call", Kind::dispatcher},
    {"system_call_exception", Kind::dispatcher},  // powerpc
    {"system_call_common", Kind::dispatcher},
    {"system_call_vectored_common", Kind::dispatcher},
    {"system_call_fastpath", Kind::dispatcher},  // used by x86 before Linux 4.1
    {"syscall_trace_enter", Kind::way_back},
    {"syscall_enter_from_user_mode", Kind::way_back},
    {"syscall_exit_to_user_mode", Kind::way_back},
    {"syscall_exit_work", Kind::way_back},
    {"syscall_return_slowpath", Kind::way_back},
    {"syscall_slow_exit_work", Kind::way_back},
    {"exit_to_user_mode", Kind::way_back},
    {"exit_to_user_mode_loop", Kind::way_back},
    {"exit_to_user_mode_prepare", Kind::way_back},
    {"exit_to_usermode_loop", Kind::way_back},
    {"prepare_exit_to_usermode", Kind::way_back},
    {"arch_do_signal_or_restart", Kind::way_back},
    {"do_notify_resume", Kind::way_back},
    {"do_signal", Kind::way_back},
    {"task_work_run", Kind::way_back},
    {"get_signal", Kind::way_back},
};

// Functions that do the work of a system call. Compilers may turn the call to such a function into a jump. The system
// call's own function then has no frame in the stack. The list is for Linux 5.10 to 6.18. Each function is used by only
// one system call or by its variants. kDoerPrefixes lists more such functions.
constexpr std::pair<std::string_view, std::string_view> kDoers[] = {{"ksys_mmap_pgoff", "mmap"},
                                                                    {"vm_mmap_pgoff", "mmap"},
                                                                    {"__vm_munmap", "munmap"},
                                                                    {"do_madvise", "madvise"},
                                                                    {"do_mprotect_pkey", "mprotect"},
                                                                    {"do_mlock", "mlock"},
                                                                    {"do_readv", "readv"},
                                                                    {"do_writev", "writev"},
                                                                    {"do_preadv", "preadv"},
                                                                    {"do_pwritev", "pwritev"},
                                                                    {"do_sendfile", "sendfile"},
                                                                    {"do_epoll_wait", "epoll_wait"},
                                                                    {"do_epoll_ctl", "epoll_ctl"},
                                                                    {"do_sys_poll", "poll"},
                                                                    {"core_sys_select", "select"},
                                                                    {"do_pselect", "pselect6"},
                                                                    {"do_signalfd4", "signalfd4"},
                                                                    {"do_eventfd", "eventfd2"},
                                                                    {"do_inotify_init", "inotify_init1"},
                                                                    {"do_fanotify_mark", "fanotify_mark"},
                                                                    {"do_pipe2", "pipe2"},
                                                                    {"do_fcntl", "fcntl"},
                                                                    {"do_statx", "statx"},
                                                                    {"do_sys_truncate", "truncate"},
                                                                    {"do_sys_ftruncate", "ftruncate"},
                                                                    {"do_utimes", "utimensat"},
                                                                    {"do_handle_open", "open_by_handle_at"},
                                                                    {"do_mount", "mount"},
                                                                    {"path_mount", "mount"},
                                                                    {"do_recvmmsg", "recvmmsg"},
                                                                    {"do_futex", "futex"},
                                                                    {"do_seccomp", "seccomp"},
                                                                    {"do_prlimit", "prlimit64"},
                                                                    {"do_sysinfo", "sysinfo"},
                                                                    {"do_timer_create", "timer_create"},
                                                                    {"kernel_wait4", "wait4"},
                                                                    {"do_execve", "execve"},
                                                                    {"do_execveat_common", "execve"},
                                                                    {"do_semtimedop", "semtimedop"},
                                                                    {"do_msgsnd", "msgsnd"},
                                                                    {"do_msgrcv", "msgrcv"},
                                                                    {"do_shmat", "shmat"},
                                                                    {"do_mq_open", "mq_open"}};
constexpr std::string_view kDoerPrefixes[] = {"ksys_", "__sys_"};

}  // namespace

std::string syscall_name(std::string_view arch, std::uint64_t number, bool compat) {
  constexpr std::uint64_t kX32 = 0x40000000;  // __X32_SYSCALL_BIT
  if (arch == "x86_64" && number < kX32 * 2) number &= ~kX32;
  const Names* const names = names_of(arch, compat);
  if (names != nullptr && number < names->size() && !(*names)[to_size(number)].empty())
    return std::string((*names)[to_size(number)]);
  return fmt::format("system call {}", static_cast<std::int64_t>(number));
}

std::optional<SyscallOfEvent> syscall_of_event(std::string_view event) {
  constexpr std::string_view kCompat = "compat_";
  constexpr std::string_view kEnter = "sys_enter_";
  constexpr std::string_view kExit = "sys_exit_";
  SyscallOfEvent found;
  found.compat = event.starts_with(kCompat);
  if (found.compat) event.remove_prefix(kCompat.size());
  found.begins = event.starts_with(kEnter);
  if (!found.begins && !event.starts_with(kExit)) return std::nullopt;
  const std::string_view name = event.substr(found.begins ? kEnter.size() : kExit.size());
  if (name != "unknown") found.name = done_by(name);
  return found;
}

KernelEntry kernel_entry(std::string_view function) {
  const auto* const prefix =
      std::ranges::find_if(kPrefixes, [function](std::string_view one) { return function.starts_with(one); });
  if (prefix != kPrefixes.end() && function.size() > prefix->size()) {
    return {Kind::syscall, done_by(function.substr(prefix->size()))};
  }
  const auto* const known = std::ranges::find(kFunctions, function, [](const auto& one) { return one.first; });
  if (known != std::end(kFunctions)) return {known->second};
  const auto* const doer = std::ranges::find(kDoers, function, [](const auto& one) { return one.first; });
  if (doer != std::end(kDoers)) return {Kind::doer, doer->second};
  for (const std::string_view one : kDoerPrefixes)
    if (function.starts_with(one) && function.size() > one.size()) return {Kind::doer, function.substr(one.size())};
  return {};
}

}  // namespace kmt
