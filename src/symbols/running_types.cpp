// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/running_types.hpp"

#include <algorithm>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "symbols/btf.hpp"
#include "symbols/elf_symbols.hpp"

namespace kmt {

namespace {

Bytes bytes_of(const Btf& btf) {
  std::uint32_t size = 0;
  const void* const data = btf__raw_data(btf.handle(), &size);
  return {static_cast<const std::uint8_t*>(data), data != nullptr ? size : 0};
}

// Returns an empty text if the file has no build ID, as in a file of plain BTF.
std::string build_id_of(const std::string& file) {
  try {
    return ElfSymbols(open_file(file, O_RDONLY), file).build_id();
  } catch (const Error&) {
    return {};
  }
}

Error of_another_kernel(const std::string& file) {
  return Error("These are not the types of the running kernel, whose calls will be recorded")
      .hint("Omit --btf, or name a file of the running kernel")
      .at({file, {}, {}});
}

}  // namespace

std::optional<bool> is_of_kernel(const std::string& file, const std::string& build_id) {
  const std::string own = build_id_of(file);
  if (own.empty() || build_id.empty()) return std::nullopt;
  return own == build_id;
}

bool are_running_types(const std::string& file, const std::string& folder) {
  const std::string own = folder + "/vmlinux";
  return ::access(own.c_str(), R_OK) == 0 && std::ranges::equal(bytes_of(Btf(file)), bytes_of(Btf(own)));
}

bool check_running_types(const std::string& file, const std::string& build_id, const std::string& folder) {
  const Btf named(file);
  const std::string own = folder + "/vmlinux";
  if (::access(own.c_str(), R_OK) == 0) {
    if (are_running_types(file, folder)) return true;
    throw of_another_kernel(file).hint("Remove --btf, because this kernel describes its types itself (" + own + ")");
  }
  const std::string other = build_id_of(file);
  if (build_id.empty() || other.empty()) return false;
  if (other == build_id) return true;
  throw of_another_kernel(file).hint("The file has the build ID " + other + ", but the kernel has " + build_id +
                                     ". Without --btf, arguments and results are shown as numbers");
}

}  // namespace kmt
