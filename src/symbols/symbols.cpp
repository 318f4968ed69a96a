// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/symbols.hpp"

#include <array>
#include <climits>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/build_id.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "symbols/debug_files.hpp"
#include "symbols/debug_info.hpp"
#include "symbols/kernel_symbols.hpp"
#include "symbols/placement.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

constexpr const char* kSystemDirectory = "/usr/lib/debug";

// Returns the build ID of the module from lines "MODULE BUILD-ID", or an empty text if it is unknown.
std::string_view module_build_id(const TraceInfo& info, std::string_view module) {
  for (const std::string_view line : split(note_in(info.recording.notes, "module_build_ids"), '\n'))
    if (line.size() > module.size() && line.starts_with(module) && line[module.size()] == ' ') {
      const std::string_view id = line.substr(module.size() + 1);
      return is_build_id(id) ? id : std::string_view();
    }
  return {};
}

// False for "bpf" (BPF programs) and "__builtin__…" (ftrace and kprobe code), which kallsyms lists like modules.
bool is_module(std::string_view name) { return name != "bpf" && !name.starts_with("__builtin__"); }

// True if perf recorded the trace on this machine. Then the names of generated code are in /tmp/perf-PID.map of this
// machine, because perf does not store them in the trace. Other recorders store them.
bool is_of_perf_and_this_machine(const TraceInfo& info) {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return note_in(info.recording.notes, "recorder").starts_with("perf") &&
         ::gethostname(name.data(), name.size() - 1) == 0 && note_in(info.recording.notes, "host") == name.data();
}

}  // namespace

struct Symbols::Sources {
  // A file with debug info, and the addresses in memory of the code in this file. `debug` is null if there is no file.
  struct Image {
    std::unique_ptr<DebugInfo> debug;
    Placement placement;
  };

  Sources(const TraceInfo& trace_info, std::string_view kernel_symbols, SymbolOptions wanted,
          const WrapperList& wrapper_list);
  Image open(const std::string& path, std::string_view module, std::string_view build_id);
  void require_traced_build(const Image& image, std::string_view build_id);
  Image search(std::string_view module);
  const std::vector<SourceFrame>& frames(std::uint64_t address, std::string_view module);

  const TraceInfo& info;
  std::string_view kallsyms;
  SymbolOptions options;
  const WrapperList& wrappers;
  Findings findings;
  std::map<std::string, Image, std::less<>> images;  // key: name of the module, or "" for the kernel
  std::optional<std::multimap<std::string, std::string>> files_of_modules;
  std::unordered_map<std::uint64_t, std::vector<SourceFrame>> known;
};

Symbols::Sources::Sources(const TraceInfo& trace_info, std::string_view kernel_symbols, SymbolOptions wanted,
                          const WrapperList& wrapper_list)
    : info(trace_info), kallsyms(kernel_symbols), options(std::move(wanted)), wrappers(wrapper_list) {
  for (const std::string& directory : options.debug_dirs) {
    std::error_code ignored;
    if (std::filesystem::is_directory(directory, ignored)) continue;
    throw Error("Cannot search for debug info: no such directory")
        .hint("Name an existing directory with --debug-dir")
        .at({directory, {}, {}});
  }
  images[""] = options.vmlinux.empty() ? search("")
                                       : open(options.vmlinux, "", note_in(info.recording.notes, "kernel_build_id"));
}

Symbols::Sources::Image Symbols::Sources::open(const std::string& path, std::string_view module,
                                               std::string_view build_id) {
  Image image;
  image.debug = std::make_unique<DebugInfo>(path);
  image.placement =
      module.empty() ? place_kernel(*image.debug, kallsyms)
                     : place_module(*image.debug, module, kallsyms, note_in(info.recording.notes, "module_sections"));
  require_traced_build(image, build_id);
  return image;
}

// Throws Error unless the file belongs to the traced kernel or module.
void Symbols::Sources::require_traced_build(const Image& image, std::string_view build_id) {
  const std::string& path = image.debug->path();
  const std::string& has = image.debug->build_id();
  const auto refuse = [&](std::string what) {
    return Error(std::move(what))
        .at({path, {}, {}})
        .hint(fmt::format("Debug info must be from the same build as the traced kernel{}",
                          info.machine.kernel.empty() ? "" : fmt::format(", {}", printable(info.machine.kernel))));
  };
  if (!build_id.empty() && !has.empty() && build_id != has)
    throw refuse(
        fmt::format("The debug info is from another build: its build ID is {}, but the trace has {}", has, build_id));
  if (!build_id.empty() && build_id == has) return;
  const Placement& placed = image.placement;
  if (!placed.is_plausible())
    throw refuse(fmt::format(
        "The debug info is from another build: only {} of {} functions have the addresses in the debug info",
        placed.symbols_right, placed.symbols_known));
  findings.add(
      {Imperfection::unchecked_debug_info,
       fmt::format("{}: {} has no build ID; {} of {} functions have the addresses in the file", printable(path),
                   build_id.empty() ? "the trace" : "the file", placed.symbols_right, placed.symbols_known)});
}

// Searches for the debug info of a module, or of the kernel. If no file matches, returns an image without a file.
Symbols::Sources::Image Symbols::Sources::search(std::string_view module) {
  const std::string_view known_id =
      module.empty() ? note_in(info.recording.notes, "kernel_build_id") : module_build_id(info, module);
  const std::string_view build_id = is_build_id(known_id) ? known_id : std::string_view();
  std::vector<std::string> paths;
  const auto add = [&paths](const std::vector<std::string>& more) {
    paths.insert(paths.end(), more.begin(), more.end());
  };
  for (const std::string& directory : options.debug_dirs) add(files_of_build_id(directory, build_id));
  for (const std::string& directory : options.debug_dirs)
    if (module.empty()) add(kernel_files(directory, info.machine.kernel));
  if (!module.empty()) {
    if (!files_of_modules) {
      files_of_modules.emplace();
      for (const std::string& directory : options.debug_dirs)
        files_of_modules->merge(module_files(directory, info.machine.kernel));
    }
    const auto [first, last] = files_of_modules->equal_range(std::string(module));
    for (auto file = first; file != last; ++file) paths.push_back(file->second);
  }
  // A file in the system directory of this machine is used only if its build ID matches.
  add(files_of_build_id(kSystemDirectory, build_id));

  std::vector<std::string> refused;
  for (const std::string& path : paths) {
    try {
      return open(path, module, build_id);
    } catch (const Error& error) {
      refused.push_back(fmt::format("; {}: {}", printable(path), error.what()));
    }
  }
  findings.add(
      {Imperfection::no_debug_info,
       fmt::format("{}{}{}",
                   module.empty() ? fmt::format("kernel {}", printable(info.machine.kernel)) : printable(module),
                   build_id.empty() ? ", whose build ID is not in the trace" : fmt::format(", build ID {}", build_id),
                   fmt::join(refused, "")),
       {},
       {},
       {}});
  return {};
}

const std::vector<SourceFrame>& Symbols::Sources::frames(std::uint64_t address, std::string_view module) {
  auto image = images.find(module);
  if (image == images.end()) image = images.emplace(module, is_module(module) ? search(module) : Image{}).first;
  const auto [entry, is_new] = known.try_emplace(address);
  if (!is_new || !image->second.debug) return entry->second;
  const std::optional<std::uint64_t> link = image->second.placement.link_address(address);
  if (!link) return entry->second;
  try {
    entry->second = image->second.debug->frames(*link);
    for (SourceFrame& frame : entry->second) frame.hides_caller = wrappers.hides(frame.function);
  } catch (const Error& error) {
    findings.add(
        {Imperfection::no_debug_info, fmt::format("{}: {}", printable(image->second.debug->path()), error.what())});
    image->second.debug.reset();
  }
  return entry->second;
}

Symbols::Symbols(const TraceInfo& info, SymbolOptions options, const WrapperList& wrappers)
    : info_(info),
      options_(std::move(options)),
      loads_(info.code.module_changes, note_in(info.recording.notes, "modules"), {}),
      user_(info.code.user,
            {options_.symfs, options_.debug_dirs, options_.debuginfod, is_of_perf_and_this_machine(info)}) {
  if (!options_.kallsyms.empty()) kernel();
  if (options_.want_debug_info()) sources_ = std::make_unique<Sources>(info, kernel().text, options_, wrappers);
}

Symbols::~Symbols() = default;

const Symbols::KernelSymbols& Symbols::kernel() const {
  std::call_once(kernel_read_, [this] {
    kernel_.from_elsewhere = symbols_from_elsewhere(info_, {options_.kallsyms, options_.vmlinux}, kernel_.findings);
    kernel_.text = kernel_.from_elsewhere.empty() ? info_.code.kallsyms : kernel_.from_elsewhere;
    if (!loads_.empty()) kernel_.with_loads = fmt::format("{}\n{}", kernel_.text, loads_.symbols());
    kernel_.names.emplace(loads_.empty() ? kernel_.text : std::string_view(kernel_.with_loads));
  });
  return kernel_;
}

std::uint64_t Symbols::real_address(std::uint64_t address) const { return loads_.real_address(address); }

std::vector<SourceFrame> Symbols::frames(std::uint64_t address) const {
  // No source lines for a module that was loaded after the recording started, because the addresses of its sections are
  // unknown.
  if (!sources_ || address == 0 || real_address(address) != address) return {};
  // A return address points to the instruction after the call, which may belong to the next line or even to the next
  // function. So 1 is subtracted.
  const std::optional<std::string_view> module = kallsyms().module(address - 1);
  const std::lock_guard lock(frames_mutex_);
  return module ? sources_->frames(address - 1, *module) : std::vector<SourceFrame>();
}

std::string_view Symbols::module_directories() const { return note_in(info_.recording.notes, "module_directories"); }

UserName Symbols::user_name(std::uint64_t frame) const {
  const UserFrame& of = info_.code.user.frames[to_size(frame)];
  if (of.object != UserCode::kKernel) return user_.name(static_cast<std::uint32_t>(frame));
  // As in perf, each module counts as an object of its own.
  const std::string name = kallsyms().name(of.offset);
  const std::size_t module = name.find(" [");
  const std::size_t offset = name.find('+');
  UserName user{module == std::string::npos ? "[kernel.kallsyms]" : name.substr(module + 1), "", of.offset, true};
  if (offset != std::string::npos) user.function = name.substr(0, offset);
  return user;
}

Findings Symbols::findings() const {
  Findings findings = kernel_.findings;
  if (sources_) findings.merge(sources_->findings);
  findings.merge(user_.findings());
  return findings;
}

}  // namespace kmt
