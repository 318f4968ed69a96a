// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/owners/files.hpp"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

// Returns the number at the start of a file.
std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = try_read_file(path);
  return text ? leading_number(trim(*text)) : std::nullopt;
}

void add_instance(const std::string& folder, const std::string& name, OwnerLines& lines) {
  std::string sizes;
  for (const std::string& cpu : names_in(folder + "/per_cpu"))
    // "1411", or "7 (expanded: 1411)" if tracing was never used
    if (const auto kilobytes = number_in(fmt::format("{}/per_cpu/{}/buffer_size_kb", folder, cpu)))
      sizes += (sizes.empty() ? "" : ",") + std::to_string(*kilobytes);
  if (sizes.empty()) return;
  const auto subbuffer = number_in(folder + "/buffer_subbuf_size_kb");  // since Linux 6.8
  lines.add("ftrace", {{"instance", name}, {"size_kb", sizes}, {"subbuf_kb", subbuffer.value_or(0)}});
}

bool exists(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

}  // namespace

void read_ftrace(const std::string& root, OwnerLines& lines) {
  for (const char* const place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const std::string folder = root + place;
    if (!exists(folder + "/per_cpu")) continue;
    add_instance(folder, "", lines);
    for (const std::string& name : names_in(folder + "/instances"))
      add_instance(fmt::format("{}/instances/{}", folder, name), name, lines);
    return;
  }
  if (root.empty() && ::geteuid() == 0 && exists("/sys/kernel/tracing"))
    lines.missing.push_back({"ftrace", "tracefs is not mounted", "mount -t tracefs tracefs /sys/kernel/tracing"});
}

void read_dma_bufs(const std::string& root, OwnerLines& lines) {
  if (const auto text = try_read_file(root + "/sys/kernel/debug/dma_buf/bufinfo")) return add_dma_bufs(*text, lines);
  // If debugfs is mounted and has no such file, the kernel has no dma-bufs.
  if (root.empty() && ::geteuid() == 0 && names_in("/sys/kernel/debug").empty())
    lines.missing.push_back({"dma_buf", "debugfs is not mounted", "mount -t debugfs debugfs /sys/kernel/debug"});
}

void add_dma_bufs(std::string_view bufinfo, OwnerLines& lines) {
  constexpr std::size_t kDigits = 8;
  each_line(bufinfo, [&](std::string_view line) {
    // "00065536  00000002  00080007  00000002  system  00001234  name"; Linux before 4.20 has no inode number
    Words words(line);
    const std::string_view size = words.next();
    const auto bytes = size.size() >= kDigits ? whole_number(size) : std::nullopt;
    for (const std::string_view number : {words.next(), words.next(), words.next()})
      if (number.size() < kDigits) return;
    const std::string_view exporter = words.next();
    if (!bytes || exporter.empty()) return;
    lines.add("dma_buf", {{"size", *bytes},
                          {"exporter", std::string(exporter)},
                          {"ino", std::string(words.next())},
                          {"name", std::string(words.rest())}});
  });
}

}  // namespace kmt
