// SPDX-License-Identifier: GPL-2.0-or-later
// Reads headers and the build ID of mapped ELF files in this machine's byte order, for any word size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <elf.h>

#include "base/build_id.hpp"
#include "base/byte_reader.hpp"

namespace kmt {

template <typename Header>
std::optional<Header> header_at(Bytes bytes, std::uint64_t offset) {
  Header header;
  if (offset > bytes.size() || bytes.size() - offset < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data() + offset, sizeof header);
  return header;
}

template <typename ElfHeader, typename ProgramHeader, typename Read>
std::string build_id_in(Bytes begin, const Read& read) {
  constexpr std::uint64_t kMostNoteBytes = 64 << 10;  // maximum size of notes that are searched
  const auto elf = header_at<ElfHeader>(begin, 0);
  if (!elf) return {};
  const std::vector<std::uint8_t> headers = read(elf->e_phoff, std::uint64_t{elf->e_phnum} * sizeof(ProgramHeader));
  for (std::uint64_t at = 0; const auto header = header_at<ProgramHeader>(headers, at); at += sizeof(ProgramHeader)) {
    if (header->p_type != PT_NOTE) continue;
    const std::vector<std::uint8_t> notes =
        read(header->p_offset, std::min<std::uint64_t>(header->p_filesz, kMostNoteBytes));
    if (std::string id = gnu_build_id(notes, kHostOrder); !id.empty()) return id;
  }
  return {};
}

// Returns the build ID in hex; may be empty. `read(offset, bytes)` returns the bytes that exist in this range.
template <typename Read>
std::string build_id_of_elf(const Read& read) {
  const std::vector<std::uint8_t> begin = read(0, sizeof(Elf64_Ehdr));
  if (begin.size() < EI_NIDENT || std::memcmp(begin.data(), ELFMAG, SELFMAG) != 0) return {};
  return begin[EI_CLASS] == ELFCLASS32 ? build_id_in<Elf32_Ehdr, Elf32_Phdr>(begin, read)
                                       : build_id_in<Elf64_Ehdr, Elf64_Phdr>(begin, read);
}

}  // namespace kmt
