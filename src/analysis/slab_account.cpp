// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/slab_account.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kmt {

bool is_reclaimable_cache(const std::string& cache, const std::string& function) {
  // SLAB_RECLAIM_ACCOUNT in fs/, lib/xarray.c, mm/shmem.c and fs/buffer.c. Not sockets, though they are inodes too.
  constexpr std::array kCaches = {"dentry",          "inode_cache",        "ext*_inode_cache", "xfs_inode",
                                  "btrfs_inode",     "f2fs_inode_cache",   "fuse_inode",       "nfs_inode_cache",
                                  "overlay_inode",   "proc_inode_cache",   "ovl_inode",        "buffer_head",
                                  "radix_tree_node", "ext4_extent_status", "extent_status",    "kmalloc-rcl-*"};
  constexpr std::array kFunctions = {
      "__d_alloc",         "alloc_inode",      "ext*_alloc_inode",       "xfs_inode_alloc",   "btrfs_alloc_inode",
      "f2fs_alloc_inode",  "fuse_alloc_inode", "nfs_alloc_inode",        "ovl_alloc_inode",   "proc_alloc_inode",
      "alloc_buffer_head", "xas_alloc*",       "radix_tree_node_alloc*", "__es_insert_extent"};
  const auto matches = [](const std::string& text) {
    return [&text](const char* glob) { return glob_match(glob, text); };
  };
  return std::any_of(kCaches.begin(), kCaches.end(), matches(cache)) ||
         std::any_of(kFunctions.begin(), kFunctions.end(), matches(function));
}

bool is_shrinkable(const std::string& cache, const std::string& function) {
  return is_reclaimable_cache(cache, function) || cache == "lsm_inode_cache" || cache == "kernfs_node_cache" ||
         function == "security_inode_alloc" || function == "lsm_inode_alloc";
}

}  // namespace kmt
