// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/vdso.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/file.hpp"
#include "capture/sideband/elf_headers.hpp"
#include "capture/sideband/process_maps.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;
constexpr std::uint64_t kEndOf32Bits = std::uint64_t{1} << 32;

// Returns the symbols of the vDSO, which is linked at address 0.
template <typename ElfHeader, typename SectionHeader, typename Symbol>
std::string symbols_in(Bytes image) {
  std::string lines;
  const auto elf = header_at<ElfHeader>(image, 0);
  if (!elf) return lines;
  const auto section = [&](std::uint64_t index) {
    return header_at<SectionHeader>(image, elf->e_shoff + index * sizeof(SectionHeader));
  };
  for (unsigned i = 0; i < elf->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || symbols->sh_type != SHT_DYNSYM) continue;
    const auto names = section(symbols->sh_link);
    if (!names || names->sh_offset > image.size() || names->sh_size > image.size() - names->sh_offset) continue;
    const std::string_view texts(reinterpret_cast<const char*>(image.data()) + to_size(names->sh_offset),
                                 to_size(names->sh_size));
    for (std::uint64_t at = 0; at + sizeof(Symbol) <= symbols->sh_size; at += sizeof(Symbol)) {
      const auto symbol = header_at<Symbol>(image, symbols->sh_offset + at);
      if (!symbol) break;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_name >= texts.size()) continue;
      const std::string_view name = texts.substr(symbol->st_name);
      lines += fmt::format("{:x} {:x} {}\n", symbol->st_value, symbol->st_size, name.substr(0, name.find('\0')));
    }
  }
  return lines;
}

std::vector<std::uint8_t> memory_of(const std::string& process, std::uint64_t start, std::uint64_t end) {
  std::vector<std::uint8_t> memory(to_size(std::min(end - start, kMostBytes)));
  const FileDescriptor file(::open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? ::pread(file.get(), memory.data(), memory.size(), static_cast<off_t>(start)) : 0;
  memory.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return memory;
}

// Returns this program's own vDSO image, found in the line "START-END r-xp … [vdso]" of its maps.
std::vector<std::uint8_t> own_image() {
  const std::string maps = try_read_file("/proc/self/maps").value_or("");
  for (const MapsLine& line : code_in_maps(maps))
    if (line.path == kVdso) return memory_of("self", line.start, line.end);
  return {};
}

}  // namespace

Vdso vdso_of(Bytes image) {
  Vdso vdso;
  vdso.build_id = build_id_of_elf([&](std::uint64_t offset, std::uint64_t bytes) {
    const Bytes part = offset < image.size()
                           ? image.subspan(to_size(offset), to_size(std::min(bytes, image.size() - offset)))
                           : Bytes();
    return std::vector<std::uint8_t>(part.begin(), part.end());
  });
  const auto ident = header_at<Elf32_Ehdr>(image, 0);
  if (!ident || std::memcmp(ident->e_ident, ELFMAG, SELFMAG) != 0) return vdso;
  vdso.symbols = ident->e_ident[EI_CLASS] == ELFCLASS32 ? symbols_in<Elf32_Ehdr, Elf32_Shdr, Elf32_Sym>(image)
                                                        : symbols_in<Elf64_Ehdr, Elf64_Shdr, Elf64_Sym>(image);
  return vdso;
}

const Vdso& Vdsos::at(std::int32_t task, std::uint64_t start, std::uint64_t end) {
  if (sizeof(void*) > 4 && end <= kEndOf32Bits) {
    if (narrow_.symbols.empty()) narrow_ = vdso_of(memory_of(fmt::format("{}", task), start, end));
    return narrow_;
  }
  if (!std::exchange(has_own_, true)) own_ = vdso_of(own_image());
  return own_;
}

}  // namespace kmt
