// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/recover.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "formats/tracedat/layout.hpp"

namespace kmt::tracedat {

namespace {

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Returns the size of the compressed data of a CPU, which starts at `offset`. If the file ends within the data, the
// size is that of the rest of the file.
std::uint64_t compressed_extent(Bytes file, ByteOrder order, std::uint64_t offset) {
  ByteReader in(file, order);
  in.seek(offset);
  try {
    for (std::uint32_t chunks = in.u32(); chunks > 0; --chunks) {
      const std::uint32_t packed = in.u32();
      in.skip(4);
      in.skip(packed);
    }
  } catch (const Error&) {
    return file.size() - offset;
  }
  return in.position() - offset;
}

// Returns the size of a CPU's pages, which start at `offset`. A page with a lower time belongs to the next CPU.
std::uint64_t plain_extent(Bytes file, ByteOrder order, std::uint64_t page_size, std::uint64_t offset) {
  std::uint64_t last = 0;
  std::uint64_t at = offset;
  for (; at + 8 <= file.size(); at += page_size) {
    const auto time = load<std::uint64_t>(file.data() + at, order);
    if (time < last) break;
    last = time;
  }
  return std::min<std::uint64_t>(at, file.size()) - offset;
}

}  // namespace

BufferData recover_buffer(Bytes file, const FileContents& contents, std::uint64_t first_section) {
  BufferData buffer;
  buffer.clock = contents.description.kernel.clock;
  buffer.page_size = contents.description.kernel.page_size;
  if (buffer.page_size == 0) return buffer;
  try {
    ByteReader in(file, contents.order());
    in.seek(first_section);
    for (;;) {
      const std::uint16_t id = in.u16();
      const std::uint16_t flags = in.u16();
      in.skip(4);
      const std::uint64_t size = in.u64();
      if (id != kBuffer) {
        in.skip(size);
        continue;
      }
      buffer.compressed = (flags & kSectionCompressed) != 0;
      break;
    }
    std::uint64_t offset = aligned(in.position(), buffer.page_size);
    const unsigned cpus = std::max(contents.description.kernel.cpus, 1u);
    for (unsigned cpu = 0; cpu < cpus && offset < file.size(); ++cpu) {
      const std::uint64_t size = buffer.compressed ? compressed_extent(file, contents.order(), offset)
                                                   : plain_extent(file, contents.order(), buffer.page_size, offset);
      if (size == 0) break;
      buffer.cpus.push_back({cpu, offset, size});
      offset = aligned(offset + size, buffer.page_size);
    }
  } catch (const Error&) {
    // the file ends before any ring-buffer data
  }
  return buffer;
}

}  // namespace kmt::tracedat
