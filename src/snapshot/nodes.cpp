// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/nodes.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view kFolder = "sys/devices/system/node";
constexpr std::uint64_t kMostNodes = 1 << 15;

}  // namespace

std::optional<NodeFile> node_file_of(std::string_view path) {
  constexpr std::string_view kBefore = "node";
  constexpr std::string_view kAfter = "/meminfo";
  if (!path.ends_with(kAfter)) return std::nullopt;
  path.remove_suffix(kAfter.size());
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || !path.substr(0, slash).ends_with(kFolder)) return std::nullopt;
  const std::string_view root = path.substr(0, slash - kFolder.size());
  const std::string_view name = path.substr(slash + 1);
  const auto node = name.starts_with(kBefore) ? whole_number(name.substr(kBefore.size()), kMostNodes) : std::nullopt;
  if (!node || (!root.empty() && !root.ends_with('/'))) return std::nullopt;
  return NodeFile{std::string(root), static_cast<unsigned>(*node)};
}

std::vector<std::string> node_files_in(const std::string& root) {
  std::vector<std::pair<unsigned, std::string>> files;
  const std::string folder = fmt::format("{}/{}", root, kFolder);
  for (const std::string& name : names_in(folder)) {
    std::string path = fmt::format("{}/{}/meminfo", folder, name);
    std::error_code code;
    const auto file = node_file_of(path);
    if (file && fs::is_regular_file(path, code)) files.emplace_back(file->node, std::move(path));
  }
  std::ranges::sort(files);
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (auto& [node, path] : files) paths.push_back(std::move(path));
  return paths;
}

std::string node_meminfo_of(const std::vector<std::string>& texts) {
  std::string all;
  if (texts.size() < 2) return all;
  for (const std::string& text : texts) all += text.ends_with('\n') ? text : text + '\n';
  return all;
}

void parse_node_meminfo(std::string_view text, KernelMemory& memory) {
  each_line(text, [&](std::string_view line) {
    if (trim(line).empty()) return;
    Words words(line);
    const bool has_node = words.next() == "Node";
    const auto node = whole_number(words.next(), kMostNodes);
    const auto number = has_node && node ? parse_proc_line(words.rest()) : std::nullopt;
    if (!number) return keep_unknown("node_meminfo", line, memory);
    if (memory.nodes.empty() || memory.nodes.back().node != *node)
      memory.nodes.push_back({static_cast<unsigned>(*node), {}});
    memory.nodes.back().values.push_back({std::string(number->name), number->value, number->in_bytes});
  });
}

}  // namespace kmt
