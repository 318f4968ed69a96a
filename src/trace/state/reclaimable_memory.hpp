// SPDX-License-Identifier: GPL-2.0-or-later
// Memory that the kernel takes back when it is short. Globs of slab caches' names or of the functions that allocate
// from them (Linux 6.18); pages by their migrate type.
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

// Memory that is freed with them, although it does not count as reclaimable: the accounting data of each of their slabs
// (mm/slub.c, alloc_slab_obj_exts(); a fraction for other caches), and areas of vmalloc, which outlive their memory
// until there are enough to purge (mm/vmalloc.c: lazy_max_pages()).
inline constexpr std::array kShrinkableCaches = {"lsm_inode_cache", "kernfs_node_cache", "vmap_area"};
inline constexpr std::array kShrinkableFunctions = {"security_inode_alloc", "lsm_inode_alloc", "alloc_slab_obj_exts",
                                                    "memcg_alloc_slab_cgroups"};

// User memory and page cache are movable, pages of inode and dentry caches reclaimable.
inline constexpr std::array kReclaimableMigrateTypes = {"Movable", "Reclaimable"};

}  // namespace kmt
