// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/confine.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

namespace {

// Rights of newer versions than the headers of distributions.
constexpr std::uint64_t kTruncate = 1u << 14;  // version 3, Linux 6.2
constexpr std::uint64_t kTcp = 0b11;           // version 4, Linux 6.7: LANDLOCK_ACCESS_NET_BIND_TCP, _CONNECT_TCP

// struct landlock_ruleset_attr of version 4; earlier ones know the first member only.
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
  if (file.get() < 0) return;  // opening it will report the error
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) rights &= LANDLOCK_ACCESS_FS_READ_FILE | kWriteFile | kTruncate;
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = file.get()};
  // Files of the kernel's own, such as pipes, need no rule and get none.
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0 && errno != EBADFD)
    throw system_error("Cannot confine this process to", path);
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif
// LeakSanitizer looks for leaks by ptrace(2).
constexpr bool kTracesItself = __has_feature(address_sanitizer);

// Landlock leaves these alone. Reading a trace needs none of them.
constexpr auto kForbidden = std::to_array<unsigned>({
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
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
#elif defined(__s390x__)
constexpr unsigned kArchitecture = AUDIT_ARCH_S390X;
#else
constexpr unsigned kArchitecture = 0;  // not known: there is no filter
#endif

// Refuses the call if its first argument is `value`, else goes on with the next instruction.
void refuse_with(std::vector<sock_filter>& program, unsigned number, unsigned value) {
  constexpr std::size_t kLowWord = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(std::uint32_t) : 0;
  const sock_filter test[] = {
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + kLowWord),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  program.insert(program.end(), std::begin(test), std::end(test));
}

void refuse(std::vector<sock_filter>& program, unsigned number) {
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, kRefuse));
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
  if (!kTracesItself) refuse(program, SYS_ptrace);
  // A service with a socket in the file system may do what this process may not.
  if (network == Network::none)
    refuse(program, SYS_socket);
  else
    refuse_with(program, SYS_socket, AF_UNIX);
#ifdef SYS_socketcall
  // The same by its old way; its other arguments are in memory, out of a filter's reach.
  constexpr unsigned kSocket = 1;  // SYS_SOCKET of linux/net.h
  if (network == Network::none) refuse_with(program, SYS_socketcall, kSocket);
#endif
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  // EINVAL: a kernel without filters.
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0 && errno != EINVAL)
    throw system_error("Cannot confine this process", "");
}

// False: the kernel has no Landlock.
bool restrict_files(const Access& access, Network network) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  const std::uint64_t rights = known_to(version);
  const Ruleset attributes{rights, version >= 4 && network == Network::none ? kTcp : 0};
  const std::size_t size = version >= 4 ? sizeof attributes : sizeof attributes.files;
  const FileDescriptor ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (ruleset.get() < 0) throw system_error("Cannot make rules of Landlock", "");

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
