// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/confinement/privileges.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

using Mask = std::array<std::uint32_t, 2>;

Mask mask_of(std::span<const unsigned> capabilities) {
  Mask mask = {};
  for (const unsigned capability : capabilities) mask[capability / 32] |= std::uint32_t{1} << capability % 32;
  return mask;
}

void keep(const Mask& kept) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct now[2] = {};
  if (::syscall(SYS_capget, &header, now) != 0) throw system_error("Cannot read the capabilities of this process", "");
  for (std::size_t word = 0; word < kept.size(); ++word) {
    now[word].permitted &= kept[word];
    now[word].effective &= kept[word];
  }
  if (::syscall(SYS_capset, &header, now) != 0) throw system_error("Cannot drop capabilities", "");
}

}  // namespace

void keep_capabilities(std::span<const unsigned> capabilities) {
  if (::geteuid() == 0) keep(mask_of(capabilities));
}

void give_up_capabilities(std::span<const unsigned> capabilities) {
  Mask mask = mask_of(capabilities);
  for (std::uint32_t& word : mask) word = ~word;
  keep(mask);
}

bool has_capability(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return ::geteuid() == 0;
  return (data[capability / 32].effective >> capability % 32 & 1) != 0;
}

bool may_access(const std::string& path, int mode) {
  // Makes the system call directly, because the C library's faccessat() behaves like access() if the real and the
  // effective user are equal.
  const long result = ::syscall(SYS_faccessat2, AT_FDCWD, path.c_str(), mode, AT_EACCESS);
  if (result == 0 || (errno != ENOSYS && errno != EPERM)) return result == 0;
  // Fallback for kernels before Linux 5.8, and for sandboxes that refuse new system calls.
  return ::access(path.c_str(), mode) == 0;
}

// True unless this process is in the machine's initial user namespace, where each ID maps to itself.
bool is_in_user_namespace() {
  const std::string map = try_read_file("/proc/self/uid_map").value_or("");
  std::string_view rest = map;
  std::optional<std::uint64_t> numbers[3];
  for (auto& number : numbers) {
    rest = trim(rest);
    number = take_number<std::uint64_t>(rest);
    if (!number) return false;  // it is unknown whether the IDs map to themselves
  }
  return *numbers[0] != 0 || *numbers[1] != 0 || *numbers[2] != 0xffffffff;
}

const char* advice_for_more_privileges() {
  if (::geteuid() != 0) return "run it as root";
  return is_in_user_namespace() ? "run it as root on the host, outside of containers"
                                : "run it with all capabilities of root, outside of containers";
}

const char* hint_for_more_privileges() {
  if (::geteuid() != 0) return "Run it as root, outside of containers";
  return is_in_user_namespace() ? "Run it as root on the host, outside of containers"
                                : "Run it with all capabilities of root, outside of containers";
}

bool knows_capability(unsigned capability) { return ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; }

}  // namespace kmt
