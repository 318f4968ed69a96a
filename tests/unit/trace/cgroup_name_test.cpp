// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the names of containers, pods and units in the paths of cgroups.
#include "trace/tasks/cgroup_name.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(CgroupNames, OfContainers) {
  const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  EXPECT_EQ(container_of_cgroup("/system.slice/docker-" + id + ".scope"), "docker 0123456789ab");
  EXPECT_EQ(container_of_cgroup("/docker/" + id), "docker 0123456789ab");
  EXPECT_EQ(container_of_cgroup("/machine.slice/libpod-" + id + ".scope/container"), "podman 0123456789ab");
  EXPECT_EQ(container_of_cgroup("/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope"),
            "containerd 0123456789ab");
  EXPECT_EQ(container_of_cgroup("/kubepods/besteffort/pod12ab/" + id), "kubernetes 0123456789ab");
  EXPECT_EQ(container_of_cgroup("/kubepods/besteffort/pod12ab/system.slice:cri-containerd:" + id),
            "containerd 0123456789ab");
  EXPECT_EQ(container_of_cgroup("/lxc.payload.web/init.scope"), "lxc web");
  EXPECT_EQ(container_of_cgroup("/machine.slice/machine-web.scope"), "machine web");
  EXPECT_EQ(container_of_cgroup("/system.slice/docker.service"), "");
  EXPECT_EQ(container_of_cgroup(""), "");
}

TEST(CgroupNames, OfPods) {
  const std::string pod = "1f0a4c7e-8a1d-4c6b-9a55-2f8b1f0f9a10";
  const std::string by_systemd =
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f0a4c7e_8a1d_4c6b_9a55_"
      "2f8b1f0f9a10.slice";
  EXPECT_EQ(pod_of_cgroup(by_systemd), pod);
  EXPECT_EQ(pod_of_cgroup(by_systemd + "/crio-0123456789abcdef.scope"), pod);
  EXPECT_EQ(pod_of_cgroup("/kubepods/besteffort/pod" + pod + "/0123456789abcdef"), pod);
  EXPECT_EQ(pod_of_cgroup("/kubelet.slice/kubelet-kubepods.slice/kubepods-pod1.slice"), "1");
  EXPECT_EQ(pod_of_cgroup("/kubepods.slice/kubepods-burstable.slice"), "");
  EXPECT_EQ(pod_of_cgroup("/machine.slice/pod12.scope"), "");
  EXPECT_EQ(workload_of_cgroup(by_systemd + "/crio-0123456789abcdef.scope"), "cri-o 0123456789ab, pod " + pod);
  EXPECT_EQ(workload_of_cgroup(by_systemd), "pod " + pod);
  EXPECT_EQ(workload_of_cgroup("/system.slice"), "");
}

TEST(CgroupNames, OfUnits) {
  EXPECT_EQ(unit_of_cgroup("/system.slice/nginx.service"), "nginx.service");
  EXPECT_EQ(unit_of_cgroup("/user.slice/user@1000.service/app.slice/app-firefox\\x2d12.scope/child"),
            "app-firefox-12.scope");
  EXPECT_EQ(unit_of_cgroup("/system.slice/odd\\xzz.service"), "odd\\xzz.service");
  EXPECT_EQ(unit_of_cgroup("/user.slice"), "");
}

}  // namespace
}  // namespace kmt
