// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/types_of_kernel.hpp"

#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/build_id.hpp"
#include "base/endian.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "symbols/btf.hpp"
#include "symbols/running_types.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

// Maximum share of functions in the types that the kernel's symbols lack. It is 0.6 % for the same kernel (Linux 6.18,
// because the compiler removes or renames functions), and 6 % between Linux 6.12 and 7.3 of the same distribution.
constexpr double kMostAbsent = 0.02;
constexpr std::size_t kFewestFunctions = 1000;

// Returns the value of NAME=VALUE in /etc/os-release, without quotes.
std::string os_release_value(std::string_view text, std::string_view name) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != '=') continue;
    line.remove_prefix(name.size() + 1);
    while (!line.empty() && (line.front() == '"' || line.front() == '\'')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == '"' || line.back() == '\'')) line.remove_suffix(1);
    return std::string(line);
  }
  return {};
}

// Returns the release in the name of a file: RELEASE.btf or vmlinux-RELEASE. Returns an empty text for other names.
std::string release_in_name(const std::string& file) {
  std::string name = fs::path(file).filename();
  constexpr std::string_view kEnding = ".btf";
  constexpr std::string_view kStart = "vmlinux-";
  if (name.starts_with(kStart))
    name.erase(0, kStart.size());
  else if (!name.ends_with(kEnding))
    return {};
  if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
  const bool has_version = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  return has_version && name.find('-') != std::string::npos ? name : std::string();
}

// Returns the offset of a field in the text of a format file: "\tfield:unsigned long call_site;\toffset:8;…".
std::optional<std::uint64_t> offset_in_format(std::string_view line) {
  const std::size_t at = line.find("offset:");
  return at == std::string_view::npos ? std::nullopt : parse_leading<std::uint64_t>(line.substr(at + 7));
}

std::string_view name_in_format(std::string_view line) {
  line = line.substr(0, line.find(';'));
  line = line.substr(0, line.find('['));
  return line.substr(line.find_last_of(" *") + 1);
}

std::optional<std::uint64_t> offset_in_types(const Btf& types, const btf_type& structure, std::string_view member) {
  for (unsigned i = 0; i < btf_vlen(&structure); ++i)
    if (types.name(btf_members(&structure)[i].name_off) == member) return btf_member_bit_offset(&structure, i) / 8;
  return {};
}

// Returns the first field of an event whose offset differs between the kernel and the types.
std::string differing_field(const Btf& types, const std::string& event, std::string_view format) {
  const int id = btf__find_by_name_kind(types.handle(), ("trace_event_raw_" + event).c_str(), BTF_KIND_STRUCT);
  const btf_type* const structure = id > 0 ? types.type(static_cast<std::uint32_t>(id)) : nullptr;
  if (structure == nullptr) return {};
  for (const std::string_view line : split(format, '\n')) {
    if (line.find("field:") == std::string_view::npos || line.find("__data_loc") != std::string_view::npos) continue;
    const std::string_view field = name_in_format(line);
    if (field.starts_with("common_")) continue;
    const auto of_kernel = offset_in_format(line);
    if (of_kernel && offset_in_types(types, *structure, field) != of_kernel)
      return fmt::format("the kernel's event {} has the field {} at another place", event, printable(field));
  }
  return {};
}

// Returns why the functions in the types cannot be those of the kernel. Compilers add suffixes such as ".isra.0" to
// symbols, but not to types.
std::string differing_functions(const Btf& types, std::string_view kallsyms) {
  std::unordered_set<std::string_view> symbols;
  for (const std::string_view line : split(kallsyms, '\n')) {
    const std::size_t type = line.find(' ');
    if (type == std::string_view::npos || type + 3 > line.size()) continue;
    const std::string_view name = line.substr(type + 3);
    symbols.insert(name.substr(0, name.find_first_of(".\t")));
  }
  const std::vector<std::string> functions = types.functions();
  std::size_t absent = 0;
  for (const std::string& function : functions) absent += symbols.contains(function) ? 0 : 1;
  if (symbols.size() < kFewestFunctions || functions.size() < kFewestFunctions) return {};
  if (static_cast<double>(absent) <= kMostAbsent * static_cast<double>(functions.size())) return {};
  return fmt::format("{} of its {} functions are not in this kernel", absent, functions.size());
}

}  // namespace

KernelIdentity running_kernel() {
  KernelIdentity kernel;
  const std::string os = try_read_file("/etc/os-release").value_or("");
  kernel.distribution = os_release_value(os, "ID");
  kernel.version = os_release_value(os, "VERSION_ID");
  utsname names{};
  if (::uname(&names) == 0) {
    kernel.machine = names.machine;
    kernel.release = names.release;
  }
  const std::string notes = try_read_file("/sys/kernel/notes").value_or("");
  kernel.build_id = gnu_build_id({reinterpret_cast<const std::uint8_t*>(notes.data()), notes.size()}, kHostOrder);
  kernel.kallsyms = try_read_file("/proc/kallsyms").value_or("");
  return kernel;
}

std::string find_types(const std::string& folder, const KernelIdentity& kernel) {
  const std::string machine = kernel.machine == "aarch64" ? "arm64" : kernel.machine;
  const std::string major = kernel.version.substr(0, kernel.version.find('.'));
  const std::string name = kernel.release + ".btf";
  std::error_code code;
  for (const std::string& place : {fmt::format("{}/{}/{}/{}", folder, kernel.distribution, kernel.version, machine),
                                   fmt::format("{}/{}/{}/{}", folder, kernel.distribution, major, machine), folder}) {
    std::string path = fmt::format("{}/{}", place, name);
    if (fs::is_regular_file(path, code)) return path;
    if (const std::string packed = path + ".tar.xz"; fs::is_regular_file(packed, code))
      throw Error("The types of this kernel are packed")
          .at({packed, {}, {}})
          .hint(fmt::format("Unpack them: tar -C '{}' -xJf '{}'", place, packed));
  }
  throw Error(fmt::format("This folder has no types of this kernel ({} {}, {}, {})", kernel.distribution,
                          kernel.version, machine, kernel.release))
      .at({folder, {}, {}})
      .hint(fmt::format("BTFHub has types of many kernels of distributions, as {}/{}/{}/{}.tar.xz", kernel.distribution,
                        kernel.version, machine, name));
}

std::string why_not_types_of(const KernelIdentity& kernel, const std::string& file) {
  const Btf types(file);
  if (const auto is_own = is_of_kernel(file, kernel.build_id))
    return *is_own ? "" : "it has another build ID than the kernel";
  const std::string release = release_in_name(file);
  if (!release.empty() && release != kernel.release)
    return fmt::format("its name has the release {}", printable(release));
  for (const auto& [event, format] : kernel.formats)
    if (std::string reason = differing_field(types, event, format); !reason.empty()) return reason;
  return differing_functions(types, kernel.kallsyms);
}

}  // namespace kmt
