// SPDX-License-Identifier: GPL-2.0-or-later
// Memory that the kernel reclaims when memory is short. Slab caches are listed as globs for their names, or for the
// functions that allocate from them (Linux 6.18). Pages are listed by migrate type.
#pragma once

#include <array>

namespace kmt {

// Caches that the kernel marks with SLAB_RECLAIM_ACCOUNT in fs/, lib/xarray.c, mm/shmem.c and fs/buffer.c. The cache of
// sockets has this mark too, because sockets are inodes. It is excluded, because memory pressure does not free sockets.
inline constexpr std::array kReclaimableCaches = {
    "dentry",           "inode_cache",      "ext*_inode_cache", "xfs_inode",          "btrfs_inode",
    "f2fs_inode_cache", "fuse_inode",       "nfs_inode_cache",  "overlay_inode",      "ovl_inode",
    "proc_inode_cache", "buffer_head",      "radix_tree_node",  "ext4_extent_status", "extent_status",
    "kmalloc-rcl-*",    "jbd2_journal_head"};
inline constexpr std::array kReclaimableFunctions = {
    "__d_alloc",         "alloc_inode",      "ext*_alloc_inode",       "xfs_inode_alloc",    "btrfs_alloc_inode",
    "f2fs_alloc_inode",  "fuse_alloc_inode", "nfs_alloc_inode",        "ovl_alloc_inode",    "proc_alloc_inode",
    "alloc_buffer_head", "xas_alloc*",       "radix_tree_node_alloc*", "__es_insert_extent", "jbd2_journal_add*"};

// Memory that is freed together with reclaimable memory, although the kernel does not count it as reclaimable. One kind
// is the accounting data of slabs, although a part of this data belongs to slabs of unreclaimable caches: see
// alloc_slab_obj_exts() in mm/slub.c. Another kind is jbd2's journal data of inodes. A third kind is vmalloc areas: the
// kernel keeps an area after its memory was freed, until enough areas can be purged (lazy_max_pages() in mm/vmalloc.c).
// The last kind is sockets in TIME_WAIT and their ports. They are freed after a minute, so a shorter recording shows
// only their allocations (net/ipv4/inet_timewait_sock.c, inet_hashtables.c).
inline constexpr std::array kShrinkableCaches = {"lsm_inode_cache", "kernfs_node_cache", "vmap_area", "tw_sock_TCP*",
                                                 "jbd2_inode"};
inline constexpr std::array kShrinkableFunctions = {
    "security_inode_alloc",     "lsm_inode_alloc",         "alloc_slab_obj_exts",      "memcg_alloc_slab_cgroups",
    "inet_twsk_alloc",          "inet_bind_bucket_create", "inet_bind2_bucket_create", "__inet_hash_connect",
    "ext4_inode_attach_jinode", "alloc_vmap_area"};

// User memory and page cache are movable. Pages of inode and dentry caches are reclaimable.
inline constexpr std::array kReclaimableMigrateTypes = {"Movable", "Reclaimable"};

}  // namespace kmt
