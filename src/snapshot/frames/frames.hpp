// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the state of every page frame of the running machine from /proc/kpageflags and /proc/kpagecgroup. Both files
// have a 64-bit word for each frame (Documentation/admin-guide/mm/pagemap.rst in the kernel's source).
//
// /proc/kpagecount, the number of mappings, is not read: the flag "mmap" shows whether a frame has any, which suffices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.hpp"

namespace kmt {

struct FrameRange {
  std::uint64_t first = 0;  // numbers of page frames
  std::uint64_t end = 0;
  bool operator==(const FrameRange&) const = default;
};
// Returns the whole page frames of RAM in a text of /proc/iomem, sorted. Frames that only partly are RAM are left out.
// Returns nothing if the text has no RAM, or if the kernel hides the addresses.
std::vector<FrameRange> ram_in_iomem(std::string_view iomem, std::uint64_t page_size);

// Returns the "Page block order" in a text of /proc/pagetypeinfo.
std::optional<unsigned> pageblock_order(std::string_view pagetypeinfo);

// Returns the paths of the cgroups that account for memory. The key is the inode number of the cgroup's folder, as in
// kpagecgroup. The root has the path "/".
std::unordered_map<std::uint64_t, std::string> cgroup_paths_by_inode();

// The words of consecutive frames.
struct FrameWords {
  std::uint64_t first = 0;  // number of the first frame
  std::span<const std::uint64_t> flags;
  std::span<const std::uint64_t> cgroups;  // as long as `flags`, or empty if the kernel has no kpagecgroup
};

class FrameFiles {
 public:
  // Opens the files in the folder, which is /proc except in tests. Throws Error if they cannot be read.
  explicit FrameFiles(std::uint64_t page_size, const std::string& folder = "/proc");

  // Passes the words of all frames in order. Stops early if `take` returns false. Throws Error.
  void read(const std::function<bool(const FrameWords&)>& take);
  // Fills `flags` with the words of consecutive frames. Returns the number of words: all, except at the end of the
  // frames. Throws Error.
  std::size_t read_flags(std::uint64_t first, std::span<std::uint64_t> flags);
  std::uint64_t frames() const;                                      // number of frames to read; 0: unknown
  const std::vector<FrameRange>& ranges() const { return ranges_; }  // frames of RAM; empty if they are unknown
  bool has_cgroups() const { return static_cast<bool>(cgroups_); }
  // False if iomem does not show which frames are RAM. All frames are then read, including those of holes.
  bool knows_ram() const { return !ranges_.empty(); }

 private:
  std::string flags_path_;
  std::string cgroups_path_;
  FileDescriptor flags_;
  FileDescriptor cgroups_;  // not open if the kernel has no kpagecgroup
  std::vector<FrameRange> ranges_;
};

}  // namespace kmt
