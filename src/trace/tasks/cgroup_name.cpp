// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/cgroup_name.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

bool is_id(std::string_view text) {
  return text.size() >= 12 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Returns the ID of the pod that a folder belongs to, with dashes. With systemd, the folder is
// "kubepods-burstable-pod0123_4567.slice". Otherwise, it is "pod0123-4567".
std::string pod_of_folder(std::string_view name) {
  constexpr std::string_view kSlice = ".slice";
  constexpr std::string_view kPod = "pod";
  if (name.ends_with(kSlice) && name.starts_with("kubepods")) {
    const std::size_t at = name.rfind("-pod");
    if (at == name.npos) return {};
    name = name.substr(at + 1, name.size() - kSlice.size() - at - 1);
  }
  if (!name.starts_with(kPod) || name.size() == kPod.size()) return {};
  std::string id(name.substr(kPod.size()));
  std::ranges::replace(id, '_', '-');
  return id;
}

// Returns the name of a systemd unit with its special characters, which systemd writes as "\\x2d".
std::string unescaped(std::string_view unit) {
  std::string text;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const auto code =
        unit.substr(i).starts_with("\\x") ? parse_number<unsigned char>(unit.substr(i + 2, 2), 16) : std::nullopt;
    text += code ? static_cast<char>(*code) : unit[i];
    if (code) i += 3;
  }
  return text;
}

}  // namespace

std::string container_of_cgroup(std::string_view path) {
  struct Pattern {
    std::string_view prefix, suffix, name;
  };
  // With systemd, the folder of a container is "docker-0123….scope"; otherwise it is "docker/0123…".
  constexpr std::array kPatterns = {Pattern{"docker-", ".scope", "docker"}, Pattern{"libpod-", ".scope", "podman"},
                                    Pattern{"cri-containerd-", ".scope", "containerd"},
                                    Pattern{"crio-", ".scope", "cri-o"}};
  std::string_view before;
  std::string found;
  for (const std::string_view name : split(path, '/')) {
    for (const Pattern& pattern : kPatterns) {
      if (!name.starts_with(pattern.prefix) || !name.ends_with(pattern.suffix)) continue;
      const std::string_view id =
          name.substr(pattern.prefix.size(), name.size() - pattern.prefix.size() - pattern.suffix.size());
      if (is_id(id)) found = fmt::format("{} {}", pattern.name, id.substr(0, 12));
    }
    // "SLICE:cri-containerd:ID": kubelet uses the systemd driver, and containerd does not
    constexpr std::string_view kContainerd = ":cri-containerd:";
    if (const std::size_t at = name.find(kContainerd); at != name.npos && is_id(name.substr(at + kContainerd.size())))
      found = fmt::format("containerd {}", name.substr(at + kContainerd.size(), 12));
    if (before == "docker" && is_id(name)) found = fmt::format("docker {}", name.substr(0, 12));
    if (before == "lxc" && !name.empty()) found = fmt::format("lxc {}", name);
    if (name.starts_with("lxc.payload.")) found = fmt::format("lxc {}", name.substr(12));
    if (name.starts_with("machine-") && name.ends_with(".scope"))
      found = fmt::format("machine {}", name.substr(8, name.size() - 14));
    if (name.starts_with("systemd-nspawn@") && name.ends_with(".service"))
      found = fmt::format("machine {}", name.substr(15, name.size() - 23));
    // Without systemd, Kubernetes uses a folder for the pod, which contains a folder for the container.
    if (before.starts_with("pod") && path.find("kubepods") != std::string_view::npos && is_id(name))
      found = fmt::format("kubernetes {}", name.substr(0, 12));
    before = name;
  }
  return found;
}

std::string pod_of_cgroup(std::string_view path) {
  if (path.find("kubepods") == path.npos) return {};
  std::string found;
  for (const std::string_view name : split(path, '/'))
    if (std::string pod = pod_of_folder(name); !pod.empty()) found = std::move(pod);
  return found;
}

std::string unit_of_cgroup(std::string_view path) {
  std::string found;
  for (const std::string_view name : split(path, '/'))
    if (name.ends_with(".service") || name.ends_with(".scope")) found = unescaped(name);
  return found;
}

std::string workload_of_cgroup(std::string_view path) {
  const std::string pod = pod_of_cgroup(path);
  std::string name = container_of_cgroup(path);
  if (!pod.empty()) name += fmt::format("{}pod {}", name.empty() ? "" : ", ", pod);
  return name;
}

}  // namespace kmt
