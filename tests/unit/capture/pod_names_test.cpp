// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the names of Kubernetes pods, with folders as kubelet, containerd and CRI-O make them.
#include "trace/tasks/pod_names.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/temporary_folder.hpp"
#include "capture/sideband/process_facts.hpp"
#include "snapshot/parse.hpp"
#include "views/json/snapshot.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

const std::string kUid = "1f0a4c7e-8a1d-4c6b-9a55-2f8b1f0f9a10";
const std::string kStaticUid = "8a1d4c6b9a552f8b1f0f9a101f0a4c7e";  // static pods have such UIDs
const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

void write(const fs::path& path, const std::string& text = "") {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

PodNames names_of(const fs::path& logs) {
  fs::create_directories(logs / ("pods/shop_web-7d4f_" + kUid) / "nginx");
  fs::create_directories(logs / ("pods/kube-system_etcd-node1_" + kStaticUid));
  write(logs / "pods/no_pod");
  fs::create_directories(logs / "containers");
  // The targets of the links need not exist: a container may see only this folder.
  fs::create_symlink("/var/log/pods/shop_web-7d4f_" + kUid + "/nginx/0.log",
                     logs / ("containers/web-7d4f_shop_nginx-" + kId + ".log"));
  write(logs / "containers/web-7d4f_shop_nginx.log");
  PodNames names;
  read_pod_names(list_pod_names(logs.string()), names);
  return names;
}

TEST(PodNames, OfBothCgroupDrivers) {
  const TemporaryFolder folder;
  const PodNames names = names_of(folder.path());
  EXPECT_EQ(names.pods.size(), 2U);
  EXPECT_EQ(names.containers.size(), 1U);
  std::string uid = kUid;
  std::ranges::replace(uid, '-', '_');
  const std::string slice = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uid + ".slice";
  for (const std::string& path :
       {slice + "/cri-containerd-" + kId + ".scope", slice + "/crio-" + kId + ".scope",
        slice + "/crio-" + kId + ".scope/container", "/kubepods/burstable/pod" + kUid + "/" + kId,
        "/system.slice/containerd.service/" + slice.substr(slice.rfind('/') + 1) + ":cri-containerd:" + kId})
    EXPECT_EQ(pod_name_of_cgroup(path, names), "shop/web-7d4f nginx") << path;
  EXPECT_EQ(pod_name_of_cgroup(slice, names), "shop/web-7d4f");
  EXPECT_EQ(pod_name_of_cgroup(slice + "/cri-containerd-ffff456789abcdef.scope", names), "shop/web-7d4f") << "pause";
  EXPECT_EQ(pod_name_of_cgroup("/kubepods/besteffort/pod" + kStaticUid, names), "kube-system/etcd-node1");
  EXPECT_EQ(pod_name_of_cgroup("/kubepods/besteffort/pod12ab/ffff456789abcdef", names), "");
  EXPECT_EQ(pod_name_of_cgroup("/system.slice/ssh.service", names), "");
  EXPECT_EQ(workload_name("/kubepods/besteffort/pod12ab/ffff456789abcdef", names), "kubernetes ffff456789ab, pod 12ab");
}

TEST(PodNames, OfOtherMachines) {
  const TemporaryFolder folder;
  EXPECT_EQ(list_pod_names(folder.path()), "");
  PodNames names;
  read_pod_names("pod 1\npod a b c d\ncontainer\n\nelse 1 2\n", names);
  EXPECT_TRUE(names.pods.empty());
  EXPECT_TRUE(names.containers.empty());
  fs::create_directories(fs::path(folder.path()) / "pods/shop_bad name_12");
  fs::create_directories(fs::path(folder.path()) / "pods/shop_bad\x1b[31m_12");
  EXPECT_EQ(list_pod_names(folder.path()), "") << "Kubernetes forbids these names";
}

// A container sees the cgroups of others relative to its own. The tree of the machine shows where it is itself.
TEST(PodNames, CgroupsSeenFromAContainer) {
  const TemporaryFolder folder;
  const fs::path proc = fs::path(folder.path()) / "proc", cgroups = fs::path(folder.path()) / "cgroup";
  write(proc / "812/stat", "812 (kmemtrace) S 1 812 812");
  write(proc / "812/cgroup", "0::/\n");
  fs::create_directory_symlink("812", proc / "self");
  write(proc / "7/stat", "7 (nginx) S 1 7 7");
  write(proc / "7/cgroup", "0::/../../podb/cd\n");
  write(proc / "9/stat", "9 (child) S 1 9 9");
  write(proc / "9/cgroup", "0::/child\n");
  write(cgroups / "cgroup.procs", "1\n8\n");
  write(cgroups / "kubepods/burstable/poda/ab/cgroup.procs", "81\n812\n");
  write(cgroups / "kubepods/burstable/podb/cd/cgroup.procs", "7\n");
  const std::string lines = describe_processes(proc.string(), cgroups.string());
  EXPECT_EQ(lines,
            "7 1 0 /kubepods/burstable/podb/cd\n812 1 0 /kubepods/burstable/poda/ab\n"
            "9 1 0 /kubepods/burstable/poda/ab/child\n");
  // A container that has only its own tree keeps what the kernel says.
  write(fs::path(folder.path()) / "own/cgroup.procs", "812\n");
  EXPECT_NE(
      describe_processes(proc.string(), (fs::path(folder.path()) / "own").string()).find("7 1 0 /../../podb/cd\n"),
      std::string::npos);
}

TEST(PodNames, InASnapshot) {
  StateSample sample;
  const std::string path = "/kubepods/pod1", id = kId.substr(0, 12);  // short, so that the table has room for names
  sample.texts = {
      {"meminfo",
       "MemTotal: 1000 kB\nMemFree: 10 kB\nBuffers: 0 kB\nCached: 0 kB\nAnonPages: 0 kB\nShmem: 0 kB\nSlab: 20 kB\n"
       "SReclaimable: 0 kB\nSUnreclaim: 20 kB\nKernelStack: 0 kB\nPageTables: 0 kB\n"
       "VmallocUsed: 0 kB\nPercpu: 0 kB\n"},
      {"cgroups", path + "/memory.stat:slab 4096\n" + path + "/" + id + "/memory.stat:slab 2048\n"},
      {"pods", "pod 1 shop/web-7d4f\ncontainer " + id + " shop/web-7d4f nginx\n"}};
  const SnapshotResult found = take_stock(parse_snapshot(sample, 4096));
  EXPECT_NE(text_snapshot(found, {}, {}).find("shop/web-7d4f nginx"), std::string::npos);
  const std::string json = json_snapshot(found, {});
  EXPECT_NE(json.find(R"("pod_name": "shop/web-7d4f")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("pod_name": "shop/web-7d4f nginx")"), std::string::npos);
}

}  // namespace
}  // namespace kmt
