// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kernel_symbols.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/build_id.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "symbols/debug_info.hpp"
#include "symbols/kallsyms_lines.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

// A symbol of the kernel, and the address that it had when the trace was recorded.
struct Reference {
  std::string name;
  std::uint64_t address = 0;
};

std::optional<Reference> reference_of(const TraceInfo& info) {
  const std::string_view text = note_in(info.recording.notes, "kernel_reference");
  const std::size_t blank = text.find(' ');
  Reference reference{std::string(text.substr(0, blank))};
  if (blank == std::string_view::npos) return std::nullopt;
  const bool is_known = parse_number(text.substr(blank + 1), reference.address, 16) && reference.address != 0;
  return is_known ? std::optional(reference) : std::nullopt;
}

std::optional<std::uint64_t> address_of(std::string_view kallsyms, std::string_view name) {
  const KallsymsLine found = find_kallsyms_line(
      kallsyms, [name](const KallsymsLine& line) { return line.name() == name && line.module().empty(); });
  return found.rest.empty() ? std::nullopt : std::optional(found.address);
}

void append_symbol(std::string& text, std::uint64_t address, std::string_view name) {
  fmt::format_to(std::back_inserter(text), "{:016x} t {}\n", address, name);
}

Error refused(std::string what, const std::string& path, const TraceInfo& info) {
  return Error(std::move(what))
      .at({path, {}, {}})
      .hint(fmt::format(
          "The trace is from kernel {}{}", info.machine.kernel.empty() ? "unknown" : printable(info.machine.kernel),
          note_in(info.recording.notes, "kernel_build_id").empty()
              ? ""
              : fmt::format(", build-id {}", printable(note_in(info.recording.notes, "kernel_build_id")))));
}

// Returns the symbols with the addresses that they had when the trace was recorded. Returns nothing if the text lacks
// the reference symbol. If the symbols were moved, appends the distance to `what`.
std::optional<std::string> as_traced(std::string text, const Reference& reference, std::string& what) {
  const auto address = address_of(text, reference.name);
  if (!address) return std::nullopt;
  const std::uint64_t slide = reference.address - *address;
  if (slide == 0) return text;
  std::string moved;
  moved.reserve(text.size());
  for_each_kallsyms_line(text, [&](const KallsymsLine& line) {
    if (line.module().empty()) append_symbol(moved, line.address + slide, line.name());
  });
  what += fmt::format(" (another boot: moved by {}{:#x}, without modules)", slide >> 63 != 0 ? "-" : "",
                      slide >> 63 != 0 ? 0 - slide : slide);
  return moved;
}

void taken(Findings& findings, std::string what, bool checked = true) {
  findings.add({checked ? Imperfection::kernel_symbols_from_elsewhere : Imperfection::unchecked_kernel_symbols,
                std::move(what)});
}

bool has_symbols(std::string_view kallsyms) {
  return !find_kallsyms_line(kallsyms, [](const KallsymsLine&) { return true; }).rest.empty();
}

std::string of_kallsyms_file(const TraceInfo& info, const std::string& path, Findings& findings) {
  if (has_symbols(info.code.kallsyms))
    throw Error("The trace already has its kernel's symbols")
        .hint("Omit --kallsyms, which is for traces without symbols");
  std::string text = read_file(path);
  if (!has_symbols(text))
    throw Error("The file has no symbols with addresses")
        .at({path, {}, {}})
        .hint("It must be a copy of /proc/kallsyms made by root");
  std::string what = printable(path);
  const auto reference = reference_of(info);
  if (!reference) {
    taken(findings, what, false);
    return text;
  }
  auto symbols = as_traced(std::move(text), *reference, what);
  if (!symbols)
    throw refused(fmt::format("The symbols are from another kernel: they lack {}", printable(reference->name)), path,
                  info);
  taken(findings, std::move(what));
  return *symbols;
}

// Returns the symbols of the file that the user names. Empty if the trace does not have the address at which the kernel
// was loaded.
std::string of_vmlinux(const TraceInfo& info, const std::string& path, Findings& findings) {
  const auto reference = reference_of(info);
  if (!reference) return {};
  const DebugInfo debug(path);
  const std::string_view build_id = note_in(info.recording.notes, "kernel_build_id");
  if (!build_id.empty() && !debug.build_id().empty() && build_id != debug.build_id())
    throw refused(fmt::format("The file is from another build: its build ID is {}", debug.build_id()), path, info);
  std::string text;
  for (const DebugInfo::Symbol& symbol : debug.code_symbols()) append_symbol(text, symbol.address, symbol.name);
  std::string what = printable(path);
  auto symbols = as_traced(std::move(text), *reference, what);
  if (!symbols)
    throw refused(fmt::format("The file is from another kernel: it lacks {}", printable(reference->name)), path, info);
  taken(findings, printable(path), !build_id.empty() && build_id == debug.build_id());
  return *symbols;
}

// Returns the symbols of the running kernel. Empty if it is not the traced kernel.
std::string of_running_kernel(const TraceInfo& info, const KernelSymbolFiles& files, Findings& findings) {
  const auto none = [&findings](std::string why) {
    findings.add({Imperfection::no_kernel_symbols, std::move(why)});
    return std::string();
  };
  const std::string_view wanted = note_in(info.recording.notes, "kernel_build_id");
  if (wanted.empty()) return none("the trace does not contain the kernel's build ID");
  const std::string notes = try_read_file(files.running_notes).value_or("");
  if (wanted != gnu_build_id({reinterpret_cast<const std::uint8_t*>(notes.data()), notes.size()}, kHostOrder))
    return none(fmt::format("the trace is from kernel {}, build ID {}, but this machine runs another kernel",
                            printable(info.machine.kernel), printable(wanted)));
  const auto reference = reference_of(info);
  if (!reference)
    return none(
        "this machine runs the traced kernel, but the trace does not contain the address at which the kernel was "
        "loaded");
  std::string running = try_read_file(files.running_kallsyms).value_or("");
  if (!has_symbols(running))
    return none(
        "this machine runs the traced kernel, but /proc/kallsyms shows addresses only to root or with CAP_SYSLOG");
  std::string what = "the running kernel, which has the build ID in the trace";
  auto symbols = as_traced(std::move(running), *reference, what);
  if (!symbols)
    return none(
        fmt::format("this machine runs the traced kernel, but /proc/kallsyms lacks {}, which is needed to find the "
                    "address at which the kernel was loaded",
                    printable(reference->name)));
  taken(findings, std::move(what));
  return *symbols;
}

}  // namespace

std::string symbols_from_elsewhere(const TraceInfo& info, const KernelSymbolFiles& files, Findings& findings) {
  if (!files.kallsyms.empty()) return of_kallsyms_file(info, files.kallsyms, findings);
  if (!info.code.kallsyms.empty()) return {};
  std::string symbols;
  if (!files.vmlinux.empty()) symbols = of_vmlinux(info, files.vmlinux, findings);
  return symbols.empty() ? of_running_kernel(info, files, findings) : symbols;
}

}  // namespace kmt
