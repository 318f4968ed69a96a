// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/elf_symbols.hpp"

#include <algorithm>
#include <cstdlib>

#include <cxxabi.h>
#include <gelf.h>

#include "base/arithmetic/size.hpp"
#include "base/build_id.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

// Returns the build ID from the notes of a file. A stripped file may have no sections, and a file with debug info no
// contents of its segments.
std::string build_id_of(Elf* elf) {
  const char* const ident = elf_getident(elf, nullptr);
  const ByteOrder order = ident != nullptr && ident[EI_DATA] == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  const auto id_in = [order](const Elf_Data* data) {
    return data == nullptr || data->d_buf == nullptr
               ? std::string()
               : gnu_build_id({static_cast<const std::uint8_t*>(data->d_buf), data->d_size}, order);
  };
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    if (std::string id = id_in(elf_rawdata(section, nullptr)); !id.empty()) return id;
  }
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_NOTE) continue;
    const auto offset = static_cast<std::int64_t>(header.p_offset);
    if (std::string id = id_in(elf_getdata_rawchunk(elf, offset, to_size(header.p_filesz), ELF_T_BYTE)); !id.empty())
      return id;
  }
  return {};
}

// Returns the rank of a name. If several names have the same address, the one with the highest rank is used. The
// criteria are, in this order: functions before labels, symbols of known size, global symbols, and fewer leading
// underscores.
std::uint32_t rank_of(const GElf_Sym& symbol, std::string_view name) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  const unsigned binding = GELF_ST_BIND(symbol.st_info);
  const std::size_t underlines = std::min<std::size_t>(name.find_first_not_of('_'), 3);
  return (type != STT_NOTYPE ? 16u : 0u) + (symbol.st_size != 0 ? 8u : 0u) + (binding != STB_LOCAL ? 4u : 0u) + 3u -
         static_cast<std::uint32_t>(underlines);
}

// Returns the maximum size of a symbol in bytes, which is the size in the symbol table. Many symbols of assembler code
// have no size there. For such a symbol, the maximum is the distance to the end of the section. Empty if the symbol is
// not code.
std::optional<std::uint64_t> most_bytes_of(Elf* elf, const GElf_Sym& symbol) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) return std::nullopt;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) return std::nullopt;
  if (type != STT_NOTYPE && symbol.st_size != 0) return symbol.st_size;
  GElf_Shdr section;
  Elf_Scn* const found = elf_getscn(elf, symbol.st_shndx);
  if (found == nullptr || gelf_getshdr(found, &section) == nullptr || (section.sh_flags & SHF_EXECINSTR) == 0)
    return std::nullopt;
  if (symbol.st_size != 0) return symbol.st_size;
  const std::uint64_t inside = symbol.st_value - section.sh_addr;
  return inside < section.sh_size ? std::optional(section.sh_size - inside) : std::nullopt;
}

}  // namespace

struct ElfSymbols::Handle {
  explicit Handle(int fd) : elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr)) {}
  ~Handle() { elf_end(elf); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Elf* elf;
};

ElfSymbols::ElfSymbols(FileDescriptor file, std::string path) : path_(std::move(path)), file_(std::move(file)) {
  elf_version(EV_CURRENT);
  handle_ = std::make_unique<Handle>(file_.get());
  if (handle_->elf == nullptr || elf_kind(handle_->elf) != ELF_K_ELF)
    throw Error("Not a program or library (ELF)").at({path_, {}, {}});
  build_id_ = build_id_of(handle_->elf);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(handle_->elf, section)) != nullptr;)
    if (GElf_Shdr header; gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_SYMTAB) has_symtab_ = true;
  read_segments();
}

ElfSymbols::~ElfSymbols() = default;

void ElfSymbols::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(handle_->elf, &count) != 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(handle_->elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
    if ((header.p_flags & PF_X) != 0) segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
  }
}

// Returns the link-time address for a file offset. The offset may be before the start of the segment, because mappings
// consist of whole pages.
std::uint64_t ElfSymbols::address_of(std::uint64_t file_offset) const {
  constexpr std::uint64_t kPage = 0x10000;  // the largest page size of any architecture
  for (const Segment& segment : segments_)
    if (segment.size != 0 && file_offset - segment.offset < segment.size)
      return file_offset - segment.offset + segment.address;
  for (const Segment& segment : segments_)
    if (segment.size != 0 && file_offset < segment.offset && segment.offset - file_offset < kPage)
      return file_offset - segment.offset + segment.address;
  // If a file has only debug info, its segments have addresses but no contents. Guess the address in this case. A
  // program with fixed addresses is usually linked to a multiple of 1 MiB.
  const bool fixed = !segments_.empty() && segments_.front().address > file_offset + segments_.front().size;
  return fixed ? file_offset + (segments_.front().address & ~std::uint64_t{0xFFFFF}) : file_offset;
}

void ElfSymbols::read_symbols() {
  symbols_read_ = true;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(handle_->elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    if (header.sh_type != (has_symtab_ ? SHT_SYMTAB : SHT_DYNSYM)) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    const std::size_t count = to_size(std::min<std::uint64_t>(data->d_size / header.sh_entsize, 1u << 30));
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      const auto bytes = most_bytes_of(handle_->elf, symbol);
      if (!bytes) continue;
      const char* const name = elf_strptr(handle_->elf, header.sh_link, symbol.st_name);
      if (name == nullptr || *name == '\0' || *name == '$') continue;
      symbols_.push_back({symbol.st_value, *bytes, symbol.st_size != 0, name, rank_of(symbol, name)});
    }
  }
  std::ranges::stable_sort(symbols_, [](const Symbol& a, const Symbol& b) {
    return a.address != b.address ? a.address < b.address : a.rank > b.rank;
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) { return a.address == b.address; }),
                 symbols_.end());
  // Remove labels within functions, because they are not functions themselves.
  std::uint64_t covered_until = 0;
  std::erase_if(symbols_, [&covered_until](const Symbol& symbol) {
    if (symbol.is_sized) covered_until = std::max(covered_until, symbol.address + symbol.size);
    return !symbol.is_sized && symbol.address < covered_until;
  });
}

std::optional<ElfSymbols::Function> ElfSymbols::at(std::uint64_t address) {
  if (!symbols_read_) read_symbols();
  const auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (after == symbols_.begin()) return std::nullopt;
  const Symbol& symbol = *(after - 1);
  const std::uint64_t offset = address - symbol.address;
  return offset < symbol.size ? std::optional(Function{symbol.name, offset}) : std::nullopt;
}

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  const std::string mangled(name.substr(0, name.find('@')));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !whole) return std::string(name);
  std::string text = whole.get();
  // Removes the parameters from the name of a function. They are in the last pair of parentheses that is not inside
  // other parentheses or template arguments.
  if (const std::size_t end = text.rfind(')'); end != std::string::npos && text.find('>', end) == std::string::npos) {
    int depth = 0;
    std::size_t at = end + 1;
    while (at-- > 0) {
      if (text[at] == ')') ++depth;
      if (text[at] == '(' && --depth == 0) break;
    }
    const std::string_view before = std::string_view(text).substr(0, at == std::string::npos ? 0 : at);
    if (!before.empty() && !before.ends_with("operator") && !before.ends_with(' ') && !before.ends_with(':'))
      text.resize(before.size());
  }
  // Rust names in the legacy format end in a hash, such as "core::fmt::write::h0123456789abcdef".
  constexpr std::size_t kHash = 19;
  if (text.size() > kHash && text.compare(text.size() - kHash, 3, "::h") == 0 &&
      text.find_first_not_of("0123456789abcdef", text.size() - kHash + 3) == std::string::npos)
    text.resize(text.size() - kHash);
  return text;
}

}  // namespace kmt
