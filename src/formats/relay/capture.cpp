// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/relay/capture.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt::relay {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kMostCpus = 8192;

TraceFile map(const std::string& path) {
  const auto mapping = std::make_shared<const MappedFile>(path);
  return {path, mapping->bytes(), mapping};
}

// Returns the contents of a regular file in the folder. Does not read a pipe or device of that name, because this could
// block.
std::optional<std::string> text_beside(const fs::path& folder, const char* name) {
  std::error_code code;
  const fs::path path = folder / name;
  return fs::is_regular_file(path, code) ? try_read_file(path) : std::nullopt;
}

// True if one of the first lines is like "ADDRESS TYPE NAME".
bool is_kallsyms(std::string_view text) {
  constexpr std::size_t kLookAt = 4096;
  for (const std::string_view line : split(text.substr(0, kLookAt), '\n')) {
    const std::size_t digits = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
    const bool is_symbol = digits > 0 && line.size() > digits + 3 && line[digits] == ' ' && line[digits + 2] == ' ';
    if (is_symbol) return true;
  }
  return false;
}

void take_kallsyms(std::string text, Capture& capture) {
  capture.bad_kallsyms = !text.empty() && !is_kallsyms(text);
  if (!capture.bad_kallsyms) capture.kallsyms = std::move(text);
}

void take_total_overruns(std::string_view text, Capture& capture) {
  capture.total_overruns = parse_number<std::uint64_t>(trim(text));
  capture.bad_total_overruns = !capture.total_overruns;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : names_in(folder))
    if (cpu_of_name(name)) paths.push_back(fs::path(folder) / name);
  if (!paths.empty()) return paths;
  throw Error("The folder has no trace: neither a CTF trace nor files cpu0.out, cpu1.out, …")
      .hint("Name a trace, or a folder in which kmemtraced ran")
      .at({folder, {}, {}});
}

void add_file(const std::string& path, Capture& capture) {
  unsigned cpu = cpu_of_name(path).value_or(0);
  const auto taken = [&capture](unsigned number) {
    return std::ranges::any_of(capture.files, [number](const CpuFile& file) { return file.cpu == number; });
  };
  if (cpu_of_name(path) && taken(cpu))
    throw Error(fmt::format("Two files belong to cpu {}", cpu))
        .hint("Give only the files of one capture")
        .at({path, {}, {}});
  while (taken(cpu)) ++cpu;
  capture.files.push_back({cpu, map(path)});
}

}  // namespace

std::optional<unsigned> cpu_of_name(const std::string& path) {
  std::string_view name = path;
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (!name.starts_with("cpu")) return std::nullopt;
  name.remove_prefix(3);
  if (name.ends_with(".out")) name.remove_suffix(4);
  const auto cpu = parse_number<unsigned>(name);
  return cpu < kMostCpus ? cpu : std::nullopt;
}

Capture find_capture(const std::vector<std::string>& paths) {
  std::error_code code;
  const bool is_folder = paths.size() == 1 && fs::is_directory(paths.front(), code);
  const fs::path folder = is_folder ? fs::path(paths.front()) : fs::path(paths.front()).parent_path();
  Capture capture;
  capture.path = paths.front();
  if (paths.size() > 1) capture.path += fmt::format(" and {} more", paths.size() - 1);
  std::vector<std::string> files = is_folder ? files_in(paths.front()) : paths;
  // The user may name a kallsyms file explicitly, as in `cpu*.out kallsyms`. That file may be outside the folder.
  const auto take_named = [&files](const char* name) {
    const auto named = std::ranges::find(files, fs::path(name), [](const fs::path& path) { return path.filename(); });
    if (files.size() < 2 || named == files.end()) return std::optional<std::string>();
    const std::string path = *named;
    files.erase(named);
    return std::optional(read_file(path));
  };
  const std::optional<std::string> kallsyms = take_named("kallsyms"), overruns = take_named("total_overruns");
  // Add files with a CPU in their name first, because the other files get the CPU numbers that are left.
  std::stable_partition(files.begin(), files.end(),
                        [](const std::string& path) { return cpu_of_name(path).has_value(); });
  for (const std::string& path : files) add_file(path, capture);
  std::ranges::stable_sort(capture.files, {}, &CpuFile::cpu);
  for (const std::string& name : names_in(folder.empty() ? "." : folder.string())) {
    const std::optional<unsigned> cpu = cpu_of_name(name);
    if (cpu && !std::ranges::binary_search(capture.files, *cpu, {}, &CpuFile::cpu)) capture.omitted.push_back(*cpu);
  }
  take_kallsyms(kallsyms ? *kallsyms : text_beside(folder, "kallsyms").value_or(""), capture);
  if (const auto text = overruns ? overruns : text_beside(folder, "total_overruns"))
    take_total_overruns(*text, capture);
  return capture;
}

Capture capture_of(const TraceFile& file) {
  Capture capture;
  capture.path = file.path;
  capture.files.push_back({cpu_of_name(file.path).value_or(0), file});
  return capture;
}

}  // namespace kmt::relay
