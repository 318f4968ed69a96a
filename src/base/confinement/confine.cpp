// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/confinement/confine.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

namespace {

// Landlock rights that the headers of older distributions do not define.
constexpr std::uint64_t kTruncate = 1u << 14;  // version 3, Linux 6.2
constexpr std::uint64_t kTcp = 0b11;           // version 4, Linux 6.7: LANDLOCK_ACCESS_NET_BIND_TCP, _CONNECT_TCP

// This is struct landlock_ruleset_attr of version 4. Earlier versions have only the first member.
struct Ruleset {
  std::uint64_t files;
  std::uint64_t network;
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr std::uint64_t kChangeFolder = LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                        LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                        LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;
constexpr std::uint64_t kNever = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                 LANDLOCK_ACCESS_FS_MAKE_FIFO;

std::uint64_t known_to(long version) {
  std::uint64_t rights = kRead | kWriteFile | kChangeFolder | kNever;
  if (version < 2) rights &= ~std::uint64_t{LANDLOCK_ACCESS_FS_REFER};
  if (version >= 3) rights |= kTruncate;
  return rights;
}

void allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const FileDescriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (file.get() < 0) return;  // the code that opens the file later will report the error
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) rights &= LANDLOCK_ACCESS_FS_READ_FILE | kWriteFile | kTruncate;
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = file.get()};
  // Files without a file system path, such as pipes, need no rule, so the kernel's refusal (EBADFD) is no error.
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0 && errno != EBADFD)
    throw system_error("Cannot confine this process to", path);
}

// True if this build has LeakSanitizer, which needs ptrace(2) to search for leaks.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kTracesItself = true;
#elif defined(__has_feature)
constexpr bool kTracesItself = __has_feature(address_sanitizer);
#else
constexpr bool kTracesItself = false;
#endif

// System calls that Landlock does not restrict, and that a process does not need for reading a trace.
constexpr auto kForbidden = std::to_array<unsigned>({
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utimes,
    SYS_futimesat,
#endif
#ifdef SYS_utime
    SYS_utime,
#endif
#ifdef SYS_chown32
    SYS_chown32,
    SYS_fchown32,
    SYS_lchown32,
    SYS_truncate64,
#endif
#ifdef SYS_utimensat_time64
    SYS_utimensat_time64,
#endif
    SYS_fchmod,
    SYS_fchown,
    SYS_fchmodat,
    452 /* fchmodat2 */,
    SYS_fchownat,
    SYS_utimensat,
    SYS_truncate,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    463 /* setxattrat */,
    466 /* removexattrat */,
    469 /* file_setattr */,
    SYS_execve,  // Landlock does not prevent executing files that are in no folder, such as those of memfd_create(2)
    SYS_execveat,
    SYS_openat2,  // the flags of this call are in memory, and a filter can only check registers
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_pidfd_send_signal,
    SYS_pidfd_open,
    SYS_open_by_handle_at,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_add_key,
    SYS_keyctl,
    SYS_request_key,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_sethostname,
    SYS_acct,
    SYS_quotactl,
    SYS_userfaultfd,
    SYS_io_uring_setup,
});

constexpr unsigned kRefuse = SECCOMP_RET_ERRNO | EPERM;

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__i386__)
constexpr unsigned kArchitecture = AUDIT_ARCH_I386;
#elif defined(__arm__)
constexpr unsigned kArchitecture = AUDIT_ARCH_ARM;
#elif defined(__s390x__)
constexpr unsigned kArchitecture = AUDIT_ARCH_S390X;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr unsigned kArchitecture = AUDIT_ARCH_RISCV64;
#else
constexpr unsigned kArchitecture = 0;  // unknown architecture: no filter
#endif

// Loads the low 32 bits of a system call's argument.
struct Argument {
  unsigned index;
  unsigned mask = ~0u;
  unsigned value;
};

// Adds a test to the program: refuses the call if the masked argument equals Argument::value, otherwise goes on.
void refuse(std::vector<sock_filter>& program, unsigned number, const Argument& argument) {
  constexpr std::size_t kLowWord = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(std::uint32_t) : 0;
  const std::size_t place = offsetof(seccomp_data, args) + argument.index * sizeof(std::uint64_t) + kLowWord;
  const sock_filter test[] = {
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(place)),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, argument.mask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument.value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  program.insert(program.end(), std::begin(test), std::end(test));
}

void refuse(std::vector<sock_filter>& program, unsigned number, unsigned result = kRefuse) {
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, result));
}

// Forbids some arguments of system calls that the process needs.
void forbid_arguments(std::vector<sock_filter>& program) {
  // open(2) with O_TRUNC | O_RDONLY empties the file. Before Linux 6.2, Landlock permits this if reading is permitted.
  constexpr unsigned kOnlyEmpty = O_TRUNC | O_RDONLY, kOpenBits = O_TRUNC | O_ACCMODE;
#ifdef SYS_open
  refuse(program, SYS_open, {.index = 1, .mask = kOpenBits, .value = kOnlyEmpty});
#endif
  refuse(program, SYS_openat, {.index = 2, .mask = kOpenBits, .value = kOnlyEmpty});
  // Forbids new user namespaces: in one, the process would have all capabilities. The flags of clone3(2) are in memory,
  // where a filter cannot check them. So clone3(2) is refused as a whole, and glibc then uses clone(2).
#ifdef __s390x__
  constexpr unsigned kCloneFlags = 1;
#else
  constexpr unsigned kCloneFlags = 0;
#endif
  refuse(program, SYS_clone, {.index = kCloneFlags, .mask = CLONE_NEWUSER, .value = CLONE_NEWUSER});
  refuse(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  // Forbids injecting input into the user's terminal, changing its line discipline, and setting attributes of files.
  // Even a read-only descriptor permits setting attributes.
  for (const unsigned long request :
       {static_cast<unsigned long>(TIOCSTI), static_cast<unsigned long>(TIOCLINUX),
        static_cast<unsigned long>(TIOCSETD), static_cast<unsigned long>(FS_IOC_SETFLAGS),
        static_cast<unsigned long>(FS_IOC_FSSETXATTR), static_cast<unsigned long>(FS_IOC_ENABLE_VERITY)})
    refuse(program, SYS_ioctl, {.index = 1, .value = static_cast<unsigned>(request)});
}

void forbid_calls(Network network) {
  if (kArchitecture == 0) return;
  constexpr unsigned kX32Bit = 0x40000000;
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
  };
  for (const unsigned number : kForbidden) refuse(program, number);
  forbid_arguments(program);
  if (!kTracesItself) refuse(program, SYS_ptrace);
  // Forbids connecting to Unix sockets of services: a service could do for this process what the process itself must
  // not do.
  if (network == Network::none)
    refuse(program, SYS_socket);
  else
    refuse(program, SYS_socket, {.index = 0, .value = AF_UNIX});
#ifdef SYS_socketcall
  // The old system call for all socket functions. Except for the function number, its arguments are in memory, where a
  // filter cannot check them.
  constexpr unsigned kSocket = 1;  // SYS_SOCKET in linux/net.h
  if (network == Network::none) refuse(program, SYS_socketcall, {.index = 0, .value = kSocket});
#endif
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_GET_SECCOMP) < 0 && errno == EINVAL) return;  // the kernel does not support filters
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) throw system_error("Cannot confine this process", "");
}

// Returns false if the kernel has no Landlock.
bool restrict_files(const Access& access, Network network) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  const std::uint64_t rights = known_to(version);
  const Ruleset attributes{rights, version >= 4 && network == Network::none ? kTcp : 0};
  const std::size_t size = version >= 4 ? sizeof attributes : sizeof attributes.files;
  const FileDescriptor ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (ruleset.get() < 0) throw system_error("Cannot create Landlock rules", "");

  const std::uint64_t all = rights & ~kNever;
  for (const std::string& path : access.read) allow(ruleset.get(), path, kRead);
  for (const std::string& path : access.listed) allow(ruleset.get(), path, LANDLOCK_ACCESS_FS_READ_DIR);
  for (const std::string& path : access.written_files) allow(ruleset.get(), path, all & ~kChangeFolder);
  for (const std::string& path : access.written_folders) allow(ruleset.get(), path, all);
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    throw system_error("Cannot confine this process", "");
  return true;
}

}  // namespace

bool confine(const Access& access, Network network) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw system_error("Cannot confine this process", "");
  const bool has_rules = restrict_files(access, network);
  forbid_calls(network);
  return has_rules;
}

}  // namespace kmt
