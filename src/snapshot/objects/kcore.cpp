// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/objects/kcore.hpp"

#include <algorithm>
#include <cerrno>

#include <elf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostHeaderBytes = 1 << 20;
constexpr std::uint64_t kKernelImage = 0xffff'ffff'8000'0000;  // x86-64: its code and data are mapped a second time

Error refused(const std::string& path, const std::string& why, const std::string& hint) {
  return Error("The kernel's memory cannot be read: " + why, ExitCode::unsupported).at({path, {}, {}}).hint(hint);
}

// Lockdown and a missing capability give the same error number (open_kcore() in fs/proc/kcore.c). The file that shows
// the mode of lockdown may not be mounted.
Error not_permitted(const std::string& path) {
  const bool is_locked = errno == EPERM && !is_in_user_namespace() && has_capability(CAP_SYS_RAWIO);
  const std::string lockdown = try_read_file("/sys/kernel/security/lockdown").value_or("");
  if (is_locked || lockdown.find("[confidentiality]") != std::string::npos)
    return refused(path, "kernel lockdown (confidentiality) forbids it, even to root",
                   "To end lockdown, boot without lockdown=confidentiality. `kmemtrace profile` does not read objects, "
                   "and shows which code allocates from the cache");
  return refused(path, "this needs root with the capability CAP_SYS_RAWIO", hint_for_more_privileges());
}

FileDescriptor open_kcore(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file) return file;
  if (errno == ENOENT)
    throw refused(path, "this kernel has no /proc/kcore (CONFIG_PROC_KCORE)",
                  "`kmemtrace profile` does not read objects, and shows which code allocates from the cache");
  if (errno == EACCES || errno == EPERM) throw not_permitted(path);
  throw system_error("Cannot open the kernel's memory", path);
}

std::vector<std::uint8_t> read_start(int file, const std::string& path) {
  std::vector<std::uint8_t> bytes(kMostHeaderBytes);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("Cannot read the kernel's memory", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

std::vector<CoreSegment> core_segments(Bytes headers) {
  ByteReader reader(headers, kHostOrder);
  const Bytes ident = reader.bytes(EI_NIDENT);
  const unsigned char own_data = kHostOrder == ByteOrder::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (as_text(ident.first(SELFMAG)) != ELFMAG || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != own_data)
    throw Error("This is not a 64-bit ELF core file");
  reader.seek(offsetof(Elf64_Ehdr, e_phoff));
  const std::uint64_t table = reader.u64();
  reader.seek(offsetof(Elf64_Ehdr, e_phentsize));
  const std::uint64_t entry_bytes = reader.u16();
  const std::uint64_t count = reader.u16();
  if (entry_bytes < sizeof(Elf64_Phdr) || table > headers.size()) throw Error("The ELF headers are damaged");
  std::vector<CoreSegment> segments;
  for (std::uint64_t i = 0; i < count; ++i) {
    reader.seek(table + i * entry_bytes);
    const std::uint32_t type = reader.u32();
    reader.skip(sizeof(std::uint32_t));  // p_flags
    CoreSegment segment;
    segment.file_offset = reader.u64();
    segment.begin = reader.u64();
    segment.physical = reader.u64();
    segment.bytes = reader.u64();
    if (type == PT_LOAD && segment.bytes != 0 && segment.begin <= UINT64_MAX - segment.bytes)
      segments.push_back(segment);
  }
  return segments;
}

Kcore::Kcore(std::string path) : path_(std::move(path)), file_(open_kcore(path_)) {
  const std::vector<std::uint8_t> start = read_start(file_.get(), path_);
  if (start.empty())
    throw refused(path_, "the file is empty, as in containers", "Run it on the host, outside of containers");
  try {
    segments_ = core_segments(start);
  } catch (Error& error) {
    throw error.at({path_, {}, {}}).context("Reading the kernel's memory");
  }
}

bool Kcore::read(std::uint64_t address, std::span<std::uint8_t> bytes) {
  const auto segment = std::ranges::find_if(segments_, [&](const CoreSegment& one) {
    return one.begin <= address && address - one.begin < one.bytes && bytes.size() <= one.bytes - (address - one.begin);
  });
  if (segment == segments_.end()) return false;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto at = static_cast<off_t>(segment->file_offset + (address - segment->begin) + done);
    const ssize_t count = ::pread(file_.get(), bytes.data() + done, bytes.size() - done, at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

std::optional<std::uint64_t> Kcore::page_offset() const {
  for (const CoreSegment& segment : segments_)
    if (segment.physical != UINT64_MAX && segment.begin < kKernelImage && segment.physical < segment.begin)
      return segment.begin - segment.physical;
  return std::nullopt;
}

}  // namespace kmt
