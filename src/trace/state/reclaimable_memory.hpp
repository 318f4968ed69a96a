// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel takes memory back from when it is short. Slab caches by their names or by the functions that allocate
// from them (Linux 6.18), globs; pages by their migrate type.
#pragma once

#include <array>

namespace kmt {

// SLAB_RECLAIM_ACCOUNT in fs/, lib/xarray.c, mm/shmem.c and fs/buffer.c. Not sockets, though they are inodes too.
inline constexpr std::array kReclaimableCaches = {
    "dentry",          "inode_cache",        "ext*_inode_cache", "xfs_inode",    "btrfs_inode",      "f2fs_inode_cache",
    "fuse_inode",      "nfs_inode_cache",    "overlay_inode",    "ovl_inode",    "proc_inode_cache", "buffer_head",
    "radix_tree_node", "ext4_extent_status", "extent_status",    "kmalloc-rcl-*"};
inline constexpr std::array kReclaimableFunctions = {
    "__d_alloc",         "alloc_inode",      "ext*_alloc_inode",       "xfs_inode_alloc",   "btrfs_alloc_inode",
    "f2fs_alloc_inode",  "fuse_alloc_inode", "nfs_alloc_inode",        "ovl_alloc_inode",   "proc_alloc_inode",
    "alloc_buffer_head", "xas_alloc*",       "radix_tree_node_alloc*", "__es_insert_extent"};

// What goes with them, though it is not counted as reclaimable, as what accounting keeps beside each of their slabs
// (with slabs of other caches it grows by a fraction of these: mm/slub.c, alloc_slab_obj_exts()); and areas of vmalloc,
// which stay behind their memory until there are enough to purge (mm/vmalloc.c: lazy_max_pages()).
inline constexpr std::array kShrinkableCaches = {"lsm_inode_cache", "kernfs_node_cache", "vmap_area"};
inline constexpr std::array kShrinkableFunctions = {"security_inode_alloc", "lsm_inode_alloc", "alloc_slab_obj_exts",
                                                    "memcg_alloc_slab_cgroups"};

// User memory and page cache are movable, pages of inode and dentry caches reclaimable.
inline constexpr std::array kReclaimableMigrateTypes = {"Movable", "Reclaimable"};

}  // namespace kmt
