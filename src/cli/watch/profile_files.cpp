// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/profile_files.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <string_view>

#include <fmt/chrono.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "formats/kmt/profile.hpp"
#include "views/export/heap_pprof.hpp"
#include "views/json/heap_profile.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "kmemtrace-heap-";

void write_kmt(const std::string& path, const DrawnProfile& profile, const Kallsyms& symbols) {
  std::vector<std::uint64_t> addresses;
  for (const DrawnGroup& group : profile.groups) {
    addresses.push_back(group.call_site);
    addresses.insert(addresses.end(), group.stack.begin(), group.stack.end());
  }
  KernelDescription kernel = describe_running_kernel();
  kernel.kallsyms = symbols.text_for(addresses);
  kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
  kmt_format::write_profile(path, profile, kernel);
}

}  // namespace

void check_profile_name(const std::string& path) {
  if (path.ends_with(".pb.gz") || path.ends_with(".json") || path.ends_with(".kmt")) return;
  throw Error("Unknown file extension, but the extension selects the format")
      .hint("Use *.pb.gz for pprof, *.json, or *.kmt for --show")
      .at({path, {}, {}});
}

void write_profile(const std::string& path, const HeapProfileForms& profile, const Kallsyms& symbols) {
  if (path.ends_with(".kmt"))
    write_kmt(path, profile.drawn, symbols);
  else
    write_new_file(path, path.ends_with(".json") ? json_heap_profile(profile.result, symbols)
                                                 : pprof_profile(profile.result, symbols));
}

void write_continuous_profile(const std::string& folder, const std::string& suffix, unsigned keep,
                              const HeapProfileForms& profile, const Kallsyms& symbols) {
  const auto seconds = static_cast<std::time_t>(profile.result.start_unix_ns / 1'000'000'000);
  const std::string name = fmt::format("{}/{}{:%Y%m%dT%H%M%SZ}", folder, kPrefix, fmt::gmtime(seconds));
  std::string path = name + suffix;
  // Adds a number if the name exists, because another process may write to the folder, and clocks may be set back.
  for (unsigned i = 2; fs::exists(path); ++i) path = fmt::format("{}-{}{}", name, i, suffix);
  write_profile(path, profile, symbols);
  // The names are times, so sorting by name also sorts by time.
  std::vector<std::string> profiles;
  for (const std::string& one : names_in(folder))
    if (one.starts_with(kPrefix) && one.ends_with(suffix)) profiles.push_back(one);
  std::error_code code;
  for (std::size_t i = 0; i + keep < profiles.size(); ++i) fs::remove(folder + "/" + profiles[i], code);
}

}  // namespace kmt
