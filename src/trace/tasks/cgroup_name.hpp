// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the container, pod and systemd unit of a cgroup from its path. Each function returns an empty string if the
// path names none. Sources: the cgroup drivers of runc, crun, CRI-O and kubelet, and systemd's escaping of unit names.
#pragma once

#include <string>
#include <string_view>

namespace kmt {

// Returns the innermost container, such as "containerd 0123456789ab". Knows Docker, Podman, containerd, CRI-O, LXC and
// systemd-nspawn.
std::string container_of_cgroup(std::string_view path);
// Returns the ID of the Kubernetes pod, such as "1f0a4c7e-8a1d-4c6b-9a55-2f8b1f0f9a10".
std::string pod_of_cgroup(std::string_view path);
// Returns the innermost service or scope, such as "nginx.service".
std::string unit_of_cgroup(std::string_view path);
// Returns the container and the pod in one text: "containerd 0123456789ab, pod 1f0a4c7e-…". trace/tasks/pod_names.hpp
// finds the names of pods.
std::string workload_of_cgroup(std::string_view path);

}  // namespace kmt
