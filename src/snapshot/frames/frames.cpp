// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/frames/frames.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/collect.hpp"

namespace kmt {

namespace {

constexpr std::size_t kWordsAtOnce = (1 << 20) / sizeof(std::uint64_t);
std::string hint_for_root() {
  return std::string(hint_for_more_privileges()) + ". It needs CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH";
}

FileDescriptor open_words(const std::string& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

Error cannot_open_flags(const std::string& path) {
  if (errno == ENOENT)
    return Error("This kernel cannot show the use of its page frames", ExitCode::unsupported)
        .at({path, {}, {}})
        .hint(
            "The file needs a kernel with CONFIG_PROC_PAGE_MONITOR, and a /proc that is not mounted with "
            "subset=pid. `kmemtrace snapshot` without --pages and --objects shows the kernel's counters");
  if (errno == EACCES || errno == EPERM)
    return Error("Not permitted to read the use of page frames", ExitCode::unsupported)
        .at({path, {}, {}})
        .hint(hint_for_root());
  return system_error("Cannot open the file", path);
}

// Fills `words` from index `first` of the file. Returns the number of words read: all, except at the end of the file.
std::size_t read_words(int fd, std::uint64_t first, std::span<std::uint64_t> words, const std::string& path) {
  std::size_t done = 0;  // in bytes
  while (done < words.size_bytes()) {
    const auto at = static_cast<off_t>(first * sizeof(std::uint64_t) + done);
    const ssize_t count = ::pread(fd, reinterpret_cast<char*>(words.data()) + done, words.size_bytes() - done, at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EPERM)
      throw Error("Not permitted to read the use of page frames", ExitCode::unsupported)
          .at({path, {}, {}})
          .hint(hint_for_root());
    if (count < 0) throw system_error("Cannot read the use of page frames", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done / sizeof(std::uint64_t);
}

// A line of iomem, such as "  00100000-bfffffff : System RAM".
struct Resource {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::string_view name;
};
std::optional<Resource> parse_resource(std::string_view line) {
  line = trim(line);
  const auto first = take_number<std::uint64_t>(line, 16);
  if (!first || !line.starts_with('-')) return std::nullopt;
  line.remove_prefix(1);
  const auto last = take_number<std::uint64_t>(line, 16);
  constexpr std::string_view kSeparator = " : ";
  if (!last || !line.starts_with(kSeparator)) return std::nullopt;
  return Resource{*first, *last, line.substr(kSeparator.size())};
}

// True for "System RAM", "System RAM (kmem)" and "System RAM (virtio_mem)", which have page descriptors. 32-bit ARM
// lists the same memory again as "System RAM (boot alias)".
bool is_ram(std::string_view name) { return name.starts_with("System RAM") && !name.ends_with("(boot alias)"); }

bool hides_addresses(std::string_view iomem) {
  bool has_ram = false;
  bool has_address = false;
  each_line(iomem, [&](std::string_view line) {
    const auto resource = parse_resource(line);
    if (!resource || !is_ram(resource->name)) return;
    has_ram = true;
    has_address = has_address || resource->last != 0;
  });
  return has_ram && !has_address;
}

}  // namespace

std::vector<FrameRange> ram_in_iomem(std::string_view iomem, std::uint64_t page_size) {
  std::vector<FrameRange> ranges;
  each_line(iomem, [&](std::string_view line) {
    const auto resource = parse_resource(line);
    if (!resource || !is_ram(resource->name)) return;
    const std::uint64_t first = resource->first / page_size + (resource->first % page_size != 0 ? 1 : 0);
    const std::uint64_t end = resource->last / page_size + (resource->last % page_size == page_size - 1 ? 1 : 0);
    if (first < end) ranges.push_back({first, end});
  });
  std::ranges::sort(ranges, {}, &FrameRange::first);
  std::vector<FrameRange> joined;  // RAM may be listed inside of RAM
  for (const FrameRange& range : ranges)
    if (!joined.empty() && range.first <= joined.back().end)
      joined.back().end = std::max(joined.back().end, range.end);
    else
      joined.push_back(range);
  return joined;
}

std::optional<unsigned> pageblock_order(std::string_view pagetypeinfo) {
  constexpr std::string_view kName = "Page block order:";
  constexpr unsigned kMost = 31;
  std::optional<unsigned> order;
  each_line(pagetypeinfo, [&](std::string_view line) {
    if (line.starts_with(kName)) order = parse_leading<unsigned>(trim(line.substr(kName.size())));
  });
  return order <= kMost ? order : std::nullopt;
}

std::unordered_map<std::uint64_t, std::string> cgroup_paths_by_inode() {
  namespace fs = std::filesystem;
  std::unordered_map<std::uint64_t, std::string> paths;
  const std::string root = cgroup_root();
  if (root.empty()) return paths;
  const auto add = [&paths](const std::string& folder, std::string path) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0) paths.emplace(status.st_ino, std::move(path));
  };
  add(root, "/");
  std::error_code code;
  // Cgroups may disappear meanwhile. A folder that cannot be read is skipped, so its number stays without a path.
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code))
    if (std::error_code ignored; entry->is_directory(ignored))
      add(entry->path(), entry->path().string().substr(root.size()));
  return paths;
}

FrameFiles::FrameFiles(std::uint64_t page_size, const std::string& folder)
    : flags_path_(folder + "/kpageflags"), cgroups_path_(folder + "/kpagecgroup"), flags_(open_words(flags_path_)) {
  if (!flags_) throw cannot_open_flags(flags_path_);
  cgroups_ = open_words(cgroups_path_);
  const std::string iomem = try_read_file(folder + "/iomem").value_or("");
  // The ranges of RAM are needed, because kernels such as 6.18 show holes as 0, like kernel memory without flags.
  if (hides_addresses(iomem))
    throw Error("Not permitted to read the addresses of the machine's memory", ExitCode::unsupported)
        .at({folder + "/iomem", {}, {}})
        .hint(hint_for_root());
  ranges_ = ram_in_iomem(iomem, page_size);
}

std::uint64_t FrameFiles::frames() const {
  std::uint64_t frames = 0;
  for (const FrameRange& range : ranges_) frames += range.end - range.first;
  return frames;
}

std::size_t FrameFiles::read_flags(std::uint64_t first, std::span<std::uint64_t> flags) {
  return read_words(flags_.get(), first, flags, flags_path_);
}

void FrameFiles::read(const std::function<bool(const FrameWords&)>& take) {
  std::vector<std::uint64_t> flags(kWordsAtOnce);
  std::vector<std::uint64_t> cgroups(cgroups_ ? kWordsAtOnce : 0);
  const std::vector<FrameRange> all = {{0, std::numeric_limits<std::uint64_t>::max() / sizeof(std::uint64_t)}};
  bool has_flags = false;
  for (const FrameRange& range : knows_ram() ? ranges_ : all) {
    for (std::uint64_t first = range.first; first < range.end;) {
      const std::size_t wanted = to_size(std::min<std::uint64_t>(kWordsAtOnce, range.end - first));
      const std::size_t count = read_words(flags_.get(), first, std::span(flags).first(wanted), flags_path_);
      const auto words = std::span(std::as_const(flags)).first(count);
      has_flags = has_flags || std::ranges::any_of(words, [](std::uint64_t word) { return word != 0; });
      FrameWords block{first, words, {}};
      if (cgroups_) {
        const auto part = std::span(cgroups).first(count);
        std::ranges::fill(part.subspan(read_words(cgroups_.get(), first, part, cgroups_path_)), 0u);
        block.cgroups = part;
      }
      if (count > 0 && !take(block)) return;
      if (count < wanted) break;  // the end of the file
      first += count;
    }
  }
  if (!has_flags)
    throw Error("The kernel shows no flags of any page frame", ExitCode::unsupported)
        .at({flags_path_, {}, {}})
        .hint(hint_for_root());
}

}  // namespace kmt
