// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/pod_names.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "trace/tasks/cgroup_name.hpp"

namespace kmt {

namespace {

constexpr std::size_t kShownDigits = 12;  // digits of an ID that container_of_cgroup() returns
constexpr std::size_t kMostEntries =
    4096;  // maximum number of names of each kind; a node has at most some hundred pods

// Kubernetes permits only these characters, so names cannot contain the separators "_" and " ".
bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == text.npos;
}

struct ContainerLog {
  std::string_view pod, space, container, id;
};

// Splits "POD_NAMESPACE_CONTAINER-ID.log".
std::optional<ContainerLog> parse_container_log(std::string_view name) {
  constexpr std::string_view kLog = ".log";
  if (!name.ends_with(kLog)) return {};
  name.remove_suffix(kLog.size());
  const std::vector<std::string_view> parts = split(name, '_');
  if (parts.size() != 3) return {};
  const std::size_t dash = parts[2].rfind('-');
  if (dash == name.npos) return {};
  const ContainerLog log{parts[0], parts[1], parts[2].substr(0, dash), parts[2].substr(dash + 1)};
  if (!is_name(log.pod) || !is_name(log.space) || !is_name(log.container) || log.id.size() < kShownDigits) return {};
  return log;
}

}  // namespace

std::string list_pod_names(const std::string& logs) {
  std::string lines;
  std::size_t count = 0;
  for (const std::string& name : names_in(logs + "/pods")) {
    const std::vector<std::string_view> parts = split(name, '_');
    if (parts.size() != 3 || !std::ranges::all_of(parts, is_name) || ++count > kMostEntries) continue;
    lines += fmt::format("pod {} {}/{}\n", parts[2], parts[0], parts[1]);
  }
  count = 0;
  for (const std::string& name : names_in(logs + "/containers"))
    if (const auto log = parse_container_log(name); log && ++count <= kMostEntries)
      lines += fmt::format("container {} {}/{} {}\n", log->id, log->space, log->pod, log->container);
  return lines;
}

void read_pod_names(std::string_view text, PodNames& names) {
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() == 3 && words[0] == "pod" && names.pods.size() < kMostEntries)
      names.pods.try_emplace(std::string(words[1]), words[2]);
    if (words.size() == 4 && words[0] == "container" && names.containers.size() < kMostEntries)
      names.containers.try_emplace(std::string(words[1].substr(0, kShownDigits)),
                                   fmt::format("{} {}", words[2], words[3]));
  }
}

std::string pod_name_of_cgroup(std::string_view path, const PodNames& names) {
  if (names.pods.empty() && names.containers.empty()) return {};
  const std::string container = container_of_cgroup(path);  // "containerd 0123456789ab"
  if (const auto found = names.containers.find(container.substr(container.find(' ') + 1));
      found != names.containers.end())
    return found->second;
  const auto found = names.pods.find(pod_of_cgroup(path));
  return found == names.pods.end() ? std::string() : found->second;
}

std::string workload_name(std::string_view path, const PodNames& names) {
  std::string name = pod_name_of_cgroup(path, names);
  return name.empty() ? workload_of_cgroup(path) : name;
}

}  // namespace kmt
