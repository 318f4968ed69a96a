// SPDX-License-Identifier: GPL-2.0-or-later
// Names of Kubernetes pods and containers. Paths of cgroups contain only their IDs. kubelet writes the names into the
// names of log files: /var/log/pods/NAMESPACE_POD_UID and /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace kmt {

struct PodNames {
  std::unordered_map<std::string, std::string> pods;        // by UID: "NAMESPACE/POD"
  std::unordered_map<std::string, std::string> containers;  // by 12 digits of the ID: "NAMESPACE/POD CONTAINER"
};

// Lists the pods and containers of this machine as lines "pod UID NAMESPACE/POD" and "container ID NAMESPACE/POD
// CONTAINER". Empty if the machine is not a node of Kubernetes, or if the folder cannot be read.
std::string list_pod_names(const std::string& logs = "/var/log");
// Adds the names in these lines to `names`.
void read_pod_names(std::string_view text, PodNames& names);

// Returns the pod and container of a cgroup, such as "shop/web-7d4f nginx". Returns only the pod if the name of the
// container is unknown, and an empty string if the pod is unknown.
std::string pod_name_of_cgroup(std::string_view path, const PodNames& names);
// Returns the name of the pod. If it is unknown, returns the IDs, as workload_of_cgroup() does.
std::string workload_name(std::string_view path, const PodNames& names);

}  // namespace kmt
