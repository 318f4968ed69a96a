// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/call_flags.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <span>
#include <string>

#include "base/text.hpp"

namespace kmt {

namespace {

using enum FlagMeaning;

struct Rule {
  const char* function;  // globs
  const char* value;
  FlagMeaning meaning;
};

constexpr Rule kRules[] = {
    {"*handle_mm_fault", "flags", fault_flags},
    {"hugetlb_fault", "flags", fault_flags},
    {"fixup_user_fault", "fault_flags", fault_flags},
    {"__do_page_fault", "mm_flags", fault_flags},
    {"*mmap*", "prot", protection},
    {"*mprotect*", "prot", protection},
    {"*mmap*", "flags", mapping},
    {"*mmap*", "flag", mapping},
    {"*do_sys_open*", "flags", opening},
    {"ksys_open*", "flags", opening},
    {"*filp_open*", "flags", opening},
    {"file_open_*", "flags", opening},
    {"dentry_open*", "flags", opening},
    {"alloc_empty_*file*", "flags", opening},
    {"alloc_file*", "flags", opening},
    {"alloc_fd", "flags", opening},
    {"get_unused_fd_flags", "flags", opening},
    {"vfs_stat*", "flags", looking_up},
    {"vfs_fstatat", "flags", looking_up},
    {"do_statx*", "flags", looking_up},
    {"do_faccessat", "flags", looking_up},
    {"do_linkat", "flags", looking_up},
    {"do_fchownat", "flag", looking_up},
    {"*do_execveat*", "flags", looking_up},
    {"*", "*->f_flags", opening},
    {"*", "how->flags", opening},
    {"*", "op->open_flag", opening},
    {"*", "how->mode", mode},
    {"*", "how->resolve", resolving},
    {"*", "clone_flags", cloning},
    {"*", "unshare_flags", cloning},
    {"kernel_clone*", "args->flags", cloning},
    {"copy_*", "args->flags", cloning},
};

struct Name {
  std::uint64_t bits;
  const char* name;
};

// The values are from include/uapi/asm-generic/mman-common.h and mman.h of Linux 6.18. MAP_32BIT exists only on x86.
constexpr Name kProtection[] = {
    {1, "PROT_READ"},           {2, "PROT_WRITE"}, {4, "PROT_EXEC"}, {8, "PROT_SEM"}, {0x1000000, "PROT_GROWSDOWN"},
    {0x2000000, "PROT_GROWSUP"}};
constexpr Name kMapping[] = {
    {3, "MAP_SHARED_VALIDATE"},       {1, "MAP_SHARED"},      {2, "MAP_PRIVATE"},        {0x10, "MAP_FIXED"},
    {0x20, "MAP_ANONYMOUS"},          {0x40, "MAP_32BIT"},    {0x100, "MAP_GROWSDOWN"},  {0x800, "MAP_DENYWRITE"},
    {0x1000, "MAP_EXECUTABLE"},       {0x2000, "MAP_LOCKED"}, {0x4000, "MAP_NORESERVE"}, {0x8000, "MAP_POPULATE"},
    {0x10000, "MAP_NONBLOCK"},        {0x20000, "MAP_STACK"}, {0x40000, "MAP_HUGETLB"},  {0x80000, "MAP_SYNC"},
    {0x100000, "MAP_FIXED_NOREPLACE"}};
// The values are from include/uapi/asm-generic/fcntl.h. An argument open_flag may also have FMODE_EXEC of
// include/linux/fs.h. The two bits of O_ACCMODE are not flags, but a number.
constexpr Name kOpening[] = {
    {1, "O_WRONLY"},     {2, "O_RDWR"},       {040, "__FMODE_EXEC"},   {0100, "O_CREAT"},       {0200, "O_EXCL"},
    {0400, "O_NOCTTY"},  {01000, "O_TRUNC"},  {02000, "O_APPEND"},     {04000, "O_NONBLOCK"},   {04010000, "O_SYNC"},
    {010000, "O_DSYNC"}, {020000, "O_ASYNC"}, {01000000, "O_NOATIME"}, {02000000, "O_CLOEXEC"}, {010000000, "O_PATH"}};
constexpr Name kOpeningUsual[] = {{020200000, "O_TMPFILE"},
                                  {040000, "O_DIRECT"},
                                  {0100000, "O_LARGEFILE"},
                                  {0200000, "O_DIRECTORY"},
                                  {0400000, "O_NOFOLLOW"}};
// The values are from arch/arm/include/uapi/asm/fcntl.h. arm64 uses the same values.
constexpr Name kOpeningArm[] = {{020040000, "O_TMPFILE"},
                                {040000, "O_DIRECTORY"},
                                {0100000, "O_NOFOLLOW"},
                                {0200000, "O_DIRECT"},
                                {0400000, "O_LARGEFILE"}};
// The values are from include/uapi/linux/fcntl.h. In calls of unlinkat and name_to_handle_at, the bit of AT_EACCESS
// means another flag.
constexpr Name kLookingUp[] = {{0x100, "AT_SYMLINK_NOFOLLOW"}, {0x200, "AT_EACCESS"},
                               {0x400, "AT_SYMLINK_FOLLOW"},   {0x800, "AT_NO_AUTOMOUNT"},
                               {0x1000, "AT_EMPTY_PATH"},      {0x2000, "AT_STATX_FORCE_SYNC"},
                               {0x4000, "AT_STATX_DONT_SYNC"}, {0x10000, "AT_EXECVE_CHECK"}};
// include/uapi/linux/sched.h
constexpr Name kCloning[] = {{0x80, "CLONE_NEWTIME"},
                             {0x100, "CLONE_VM"},
                             {0x200, "CLONE_FS"},
                             {0x400, "CLONE_FILES"},
                             {0x800, "CLONE_SIGHAND"},
                             {0x1000, "CLONE_PIDFD"},
                             {0x2000, "CLONE_PTRACE"},
                             {0x4000, "CLONE_VFORK"},
                             {0x8000, "CLONE_PARENT"},
                             {0x10000, "CLONE_THREAD"},
                             {0x20000, "CLONE_NEWNS"},
                             {0x40000, "CLONE_SYSVSEM"},
                             {0x80000, "CLONE_SETTLS"},
                             {0x100000, "CLONE_PARENT_SETTID"},
                             {0x200000, "CLONE_CHILD_CLEARTID"},
                             {0x400000, "CLONE_DETACHED"},
                             {0x800000, "CLONE_UNTRACED"},
                             {0x1000000, "CLONE_CHILD_SETTID"},
                             {0x2000000, "CLONE_NEWCGROUP"},
                             {0x4000000, "CLONE_NEWUTS"},
                             {0x8000000, "CLONE_NEWIPC"},
                             {0x10000000, "CLONE_NEWUSER"},
                             {0x20000000, "CLONE_NEWPID"},
                             {0x40000000, "CLONE_NEWNET"},
                             {0x80000000, "CLONE_IO"},
                             {0x100000000, "CLONE_CLEAR_SIGHAND"},
                             {0x200000000, "CLONE_INTO_CGROUP"}};

// include/uapi/linux/openat2.h
constexpr Name kResolving[] = {{1, "RESOLVE_NO_XDEV"}, {2, "RESOLVE_NO_MAGICLINKS"}, {4, "RESOLVE_NO_SYMLINKS"},
                               {8, "RESOLVE_BENEATH"}, {0x10, "RESOLVE_IN_ROOT"},    {0x20, "RESOLVE_CACHED"}};

// The FAULT_FLAG_ values of include/linux/mm.h and mm_types.h, Linux 5.10 to 6.18. They are used if the BTF lacks the
// enumeration of these values, as before Linux 5.13. Newer kernels have only added values.
constexpr Name kFaultFlags[] = {
    {1, "WRITE"},           {2, "MKWRITE"},           {4, "ALLOW_RETRY"}, {8, "RETRY_NOWAIT"},
    {0x10, "KILLABLE"},     {0x20, "TRIED"},          {0x40, "USER"},     {0x80, "REMOTE"},
    {0x100, "INSTRUCTION"}, {0x200, "INTERRUPTIBLE"}, {0x400, "UNSHARE"}, {0x800, "ORIG_PTE_VALID"},
    {0x1000, "VMA_LOCK"}};

// The values in VM_FAULT_ERROR of include/linux/mm_types.h, Linux 6.18.
constexpr std::array<std::string_view, 6> kFaultErrors = {"OOM",      "SIGBUS",         "SIGSEGV",
                                                          "HWPOISON", "HWPOISON_LARGE", "FALLBACK"};

void append(NamedFlags& flags, std::span<const Name> names) {
  for (const auto& [bits, name] : names) flags.names.push_back({bits, name});
}

// True if the architecture uses the above values for mmap() and open().
bool has_usual_numbers(std::string_view arch) {
  constexpr std::array<std::string_view, 8> kOthers = {"alpha",   "mips",  "parisc", "ppc",
                                                       "powerpc", "sparc", "xtensa", "m68k"};
  return std::ranges::none_of(kOthers, [arch](std::string_view other) { return arch.starts_with(other); });
}

// Returns the last member of a path: "flags" for "how->flags", and also for "flags".
std::string last_member(std::string_view value) {
  const std::size_t end = value.find_last_of(".>");
  return std::string(end == std::string_view::npos ? value : value.substr(end + 1));
}

// Returns the length of the prefix that all names have, such as "FAULT_FLAG_".
std::size_t common_prefix(const Enumerators& enumerators) {
  std::string_view prefix = enumerators.front().second;
  for (const auto& [value, name] : enumerators) {
    const auto differs = std::ranges::mismatch(prefix, name).in1;
    prefix = prefix.substr(0, static_cast<std::size_t>(differs - prefix.begin()));
  }
  const std::size_t end = prefix.rfind('_');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

FlagMeaning flag_meaning(std::string_view function, std::string_view value, const Btf::Stripped& type) {
  if (type.type == nullptr || !btf_is_int(type.type)) return none;
  if (type.is_mode) return mode;
  const std::string of(function);
  const std::string name(value);
  const auto* const found = std::ranges::find_if(
      kRules, [&](const Rule& rule) { return glob_match(rule.value, name) && glob_match(rule.function, of); });
  return found != std::end(kRules) ? found->meaning : none;
}

FlagMeaning flag_meaning_of_result(const Btf::Stripped& type) {
  if (type.is_mode) return mode;
  return type.is_fault_result ? fault_result : none;
}

std::optional<std::uint32_t> flag_enumeration(const Btf& btf, FlagMeaning meaning) {
  if (meaning != fault_flags && meaning != fault_result) return std::nullopt;
  const int id =
      btf__find_by_name_kind(btf.handle(), meaning == fault_flags ? "fault_flag" : "vm_fault_reason", BTF_KIND_ENUM);
  return id > 0 ? std::optional(static_cast<std::uint32_t>(id)) : std::nullopt;
}

std::shared_ptr<const NamedFlags> named_flags(const Btf& btf, FlagMeaning meaning, std::string_view arch) {
  if (const auto id = flag_enumeration(btf, meaning)) {
    const btf_type* const type = btf.type(*id);
    Enumerators names;
    for (unsigned i = 0; i < btf_vlen(type); ++i)
      names.emplace_back(static_cast<std::uint32_t>(btf_enum(type)[i].val), btf.name(btf_enum(type)[i].name_off));
    std::shared_ptr<const NamedFlags> named = named_flags(names);
    if (!named || meaning != fault_result) return named;
    NamedFlags results = *named;
    for (const FlagName& flag : results.names)
      if (std::ranges::find(kFaultErrors, flag.name) != kFaultErrors.end()) results.errors |= flag.bits;
    return std::make_shared<const NamedFlags>(std::move(results));
  }
  NamedFlags flags;
  switch (meaning) {
    case protection:
      if (!has_usual_numbers(arch)) return nullptr;
      append(flags, kProtection);
      flags.number_mask = ~std::uint64_t{0};
      flags.zero = "PROT_NONE";
      break;
    case mapping:
      if (!has_usual_numbers(arch)) return nullptr;
      append(flags, kMapping);
      break;
    case opening:
      if (!has_usual_numbers(arch)) return nullptr;
      append(flags, kOpening);
      append(flags, arch.starts_with("arm") || arch == "aarch64" ? std::span(kOpeningArm) : std::span(kOpeningUsual));
      flags.number_mask = 3;
      flags.zero = "O_RDONLY";
      break;
    case looking_up: append(flags, kLookingUp); break;
    case cloning: append(flags, kCloning); break;
    case resolving: append(flags, kResolving); break;
    case fault_flags:
      append(flags, kFaultFlags);
      flags.prefix = "FAULT_FLAG_";
      break;
    case none:
    case fault_result:
    case mode: return nullptr;
  }
  return std::make_shared<const NamedFlags>(std::move(flags));
}

bool is_named_like_flags(std::string_view value) {
  const std::string name = last_member(value);
  return glob_match("*flag*", name) || glob_match("*mask*", name) || glob_match("*mode", name);
}

bool is_named_like_count(std::string_view value) {
  constexpr std::array kGlobs = {"*count", "*len", "length", "*size", "n", "nr*", "*bytes", "*pages"};
  const std::string name = last_member(value);
  return std::ranges::any_of(kGlobs, [&name](const char* glob) { return glob_match(glob, name); });
}

std::shared_ptr<const Enumerators> named_numbers(std::string_view value) {
  // include/uapi/linux/fcntl.h
  static const auto kFolders =
      std::make_shared<const Enumerators>(Enumerators{{static_cast<std::uint64_t>(std::int64_t{-100}), "AT_FDCWD"}});
  return glob_match("*dfd", last_member(value)) ? kFolders : nullptr;
}

std::shared_ptr<const NamedFlags> named_flags(const Enumerators& enumerators) {
  // Minimum numbers of single bits, without and with masks. An enumeration with fewer of them may be a list of numbers:
  // 0 to 2 has two single bits and no mask, and 0 to 8 has four single bits and four masks.
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kFewestBesideMasks = 5;
  std::set<std::uint64_t> bits;
  std::set<std::uint64_t> masks;
  for (const auto& [value, name] : enumerators) {
    if (std::has_single_bit(value)) bits.insert(value);
    if (std::popcount(value) > 1) masks.insert(value);
  }
  if (bits.size() < (masks.empty() ? kFewest : kFewestBesideMasks) || masks.size() * 2 > bits.size()) return nullptr;
  const std::size_t prefix = common_prefix(enumerators);
  NamedFlags flags;
  flags.prefix = enumerators.front().second.substr(0, prefix);
  for (const auto& [value, name] : enumerators)
    if (std::has_single_bit(value)) flags.names.push_back({value, std::string(name.substr(prefix))});
  return std::make_shared<const NamedFlags>(std::move(flags));
}

}  // namespace kmt
