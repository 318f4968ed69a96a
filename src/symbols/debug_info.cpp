// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/debug_info.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// Limit for the depth of inlined functions. No compiler reaches it, but a damaged file may claim any depth.
constexpr std::size_t kMostNesting = 256;

struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  Dwarf_Off die = 0;
};

// Returns the last range that starts at or before the address. Returns null if this range does not contain the address.
const Range* covering(const std::vector<Range>& ranges, std::uint64_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](std::uint64_t at, const Range& range) { return at < range.low; });
  if (after == ranges.begin() || address >= (after - 1)->high) return nullptr;
  return &*(after - 1);
}

void sort(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
}

void add_ranges_of(Dwarf_Die& die, std::vector<Range>& ranges) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;)
    if (low < high) ranges.push_back({low, high, dwarf_dieoffset(&die)});
}

// Returns false after the last sibling. Also returns false if the next sibling is at an earlier position, as may happen
// in a damaged file.
bool go_to_sibling(Dwarf_Die& die) {
  const Dwarf_Off before = dwarf_dieoffset(&die);
  return dwarf_siblingof(&die, &die) == 0 && dwarf_dieoffset(&die) > before;
}

void add_functions_of(Dwarf_Die& parent, std::vector<Range>& functions, std::size_t nesting = 0) {
  Dwarf_Die die;
  if (nesting > kMostNesting || dwarf_child(&parent, &die) != 0) return;
  do {
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_subprogram) add_ranges_of(die, functions);
    if (tag == DW_TAG_namespace) add_functions_of(die, functions, nesting + 1);  // Rust
  } while (go_to_sibling(die));
}

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

std::uint32_t number(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0) return 0;
  return static_cast<std::uint32_t>(value);
}

// Returns the child that contains the instruction. The child is an inlined function, or a block that may contain an
// inlined function.
std::optional<Dwarf_Die> inner_scope(Dwarf_Die& parent, std::uint64_t address) {
  Dwarf_Die die;
  if (dwarf_child(&parent, &die) != 0) return std::nullopt;
  do {
    const int tag = dwarf_tag(&die);
    if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) && dwarf_haspc(&die, address) == 1)
      return die;
  } while (go_to_sibling(die));
  return std::nullopt;
}

int no_other_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = no_other_debug_file,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

Error unreadable(const std::string& path, const std::string& why) {
  return Error(fmt::format("Cannot read debug info: {}", why)).at({path, {}, {}});
}

}  // namespace

struct DebugInfo::Reader {
  explicit Reader(const std::string& path);
  ~Reader() { dwfl_end(dwfl); }
  void load(const std::string& path);
  const std::vector<Range>& functions_of(Dwarf_Die& unit);
  std::vector<SourceFrame> frames(std::uint64_t address);

  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;
  Elf* elf = nullptr;
  Dwarf* dwarf = nullptr;    // null before load() is called
  std::vector<Range> units;  // sorted by address
  // Key: offset of the unit; only units that were looked up.
  std::unordered_map<Dwarf_Off, std::vector<Range>> functions;
};

DebugInfo::Reader::Reader(const std::string& path) {
  // Refuse files that are not ELF. libdwfl would unpack archives and compressed files, which may become very large.
  char magic[SELFMAG] = {};
  if (::pread(open_file(path, O_RDONLY).get(), magic, sizeof magic, 0) != sizeof magic ||
      std::string_view(magic, SELFMAG) != ELFMAG)
    throw unreadable(path, "the file is not an ELF file");
  dwfl = dwfl_begin(&kCallbacks);
  if (dwfl == nullptr) throw unreadable(path, dwfl_errmsg(-1));
  dwfl_report_begin(dwfl);
  module = dwfl_report_offline(dwfl, path.c_str(), path.c_str(), -1);
  dwfl_report_end(dwfl, nullptr, nullptr);
  GElf_Addr bias = 0;
  elf = module == nullptr ? nullptr : dwfl_module_getelf(module, &bias);
  if (elf == nullptr) {
    const std::string why = dwfl_errmsg(-1);
    dwfl_end(dwfl);
    throw unreadable(path, why);
  }
}

void DebugInfo::Reader::load(const std::string& path) {
  Dwarf_Addr bias = 0;
  dwarf = dwfl_module_getdwarf(module, &bias);
  if (dwarf == nullptr) throw unreadable(path, dwfl_errmsg(-1));
  // Do not use dwarf_getaranges(), because clang writes no .debug_aranges.
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) add_ranges_of(die, units);
  sort(units);
}

const std::vector<Range>& DebugInfo::Reader::functions_of(Dwarf_Die& unit) {
  const auto [entry, is_new] = functions.try_emplace(dwarf_dieoffset(&unit));
  if (is_new) {
    add_functions_of(unit, entry->second);
    sort(entry->second);
  }
  return entry->second;
}

std::vector<SourceFrame> DebugInfo::Reader::frames(std::uint64_t address) {
  const Range* in_unit = covering(units, address);
  Dwarf_Die unit;
  if (in_unit == nullptr || dwarf_offdie(dwarf, in_unit->die, &unit) == nullptr) return {};
  const std::string compile_dir = [&unit] {
    Dwarf_Attribute found;
    const auto* attribute = dwarf_attr(&unit, DW_AT_comp_dir, &found);
    return attribute == nullptr ? std::string() : text_or_empty(dwarf_formstring(&found));
  }();
  const auto path = [&compile_dir](const char* file) {
    return file == nullptr ? std::string() : short_source_path(file, compile_dir);
  };

  SourceFrame place;
  if (Dwarf_Line* line = dwarf_getsrc_die(&unit, address); line != nullptr) {
    int line_number = 0;
    place.file = path(dwarf_linesrc(line, nullptr, nullptr));
    if (dwarf_lineno(line, &line_number) == 0 && line_number > 0) place.line = static_cast<std::uint32_t>(line_number);
  }
  std::vector<SourceFrame> frames;  // outermost function first; reversed at the end
  const Range* in_function = covering(functions_of(unit), address);
  Dwarf_Die scope;
  if (in_function != nullptr && dwarf_offdie(dwarf, in_function->die, &scope) != nullptr) {
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0) count = 0;
    std::string function = text_or_empty(dwarf_diename(&scope));
    for (std::size_t nesting = 0; nesting < kMostNesting; ++nesting) {
      std::optional<Dwarf_Die> inner = inner_scope(scope, address);
      if (!inner) break;
      scope = *inner;
      if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
      const std::uint32_t file = number(scope, DW_AT_call_file);
      frames.push_back({std::move(function),
                        path(file < count ? dwarf_filesrc(files, file, nullptr, nullptr) : nullptr),
                        number(scope, DW_AT_call_line)});
      function = text_or_empty(dwarf_diename(&scope));
    }
    place.function = std::move(function);
  }
  if (place == SourceFrame{} && frames.empty()) return {};
  frames.push_back(std::move(place));
  std::reverse(frames.begin(), frames.end());
  return frames;
}

DebugInfo::DebugInfo(const std::string& path) : path_(path), reader_(std::make_unique<Reader>(path)) {
  const void* id = nullptr;
  if (const ssize_t size = dwelf_elf_gnu_build_id(reader_->elf, &id); size > 0)
    for (ssize_t i = 0; i < size; ++i) build_id_ += fmt::format("{:02x}", static_cast<const std::uint8_t*>(id)[i]);

  std::size_t names = 0;
  if (elf_getshdrstrndx(reader_->elf, &names) != 0) throw unreadable(path, "the sections have no names");
  sections_.emplace_back();  // section 0 of an ELF file is unused
  bool has_debug_info = false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(reader_->elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) throw unreadable(path, elf_errmsg(-1));
    const std::string name = text_or_empty(elf_strptr(reader_->elf, names, header.sh_name));
    if ((name == ".debug_info" || name == ".zdebug_info") && header.sh_type != SHT_NOBITS) has_debug_info = true;
    const bool loaded = (header.sh_flags & SHF_ALLOC) != 0;
    sections_.push_back({name, loaded ? header.sh_addr : 0, loaded ? header.sh_size : 0,
                         loaded && (header.sh_flags & SHF_EXECINSTR) != 0});
  }
  if (has_debug_info) return;
  Error error = unreadable(path, "the file has none (no section .debug_info)");
  error.hint(
      "Distributions have separate packages with their kernels' debug info; other kernels need CONFIG_DEBUG_INFO");
  throw error;
}

DebugInfo::~DebugInfo() = default;

std::vector<DebugInfo::Symbol> DebugInfo::code_symbols() const {
  GElf_Ehdr header;
  if (gelf_getehdr(reader_->elf, &header) == nullptr) return {};
  std::vector<Symbol> symbols;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(reader_->elf, section)) != nullptr;) {
    GElf_Shdr table;
    Elf_Data* data = nullptr;
    if (gelf_getshdr(section, &table) == nullptr || table.sh_type != SHT_SYMTAB || table.sh_entsize == 0) continue;
    if ((data = elf_getdata(section, nullptr)) == nullptr) continue;
    const int count = static_cast<int>(std::min<std::uint64_t>(data->d_size / table.sh_entsize, 1u << 30));
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) break;
      const char* name = elf_strptr(reader_->elf, table.sh_link, symbol.st_name);
      const unsigned kind = GELF_ST_TYPE(symbol.st_info);
      if (name == nullptr || *name == '\0' || (kind != STT_FUNC && kind != STT_NOTYPE)) continue;
      if (symbol.st_shndx >= sections_.size() || !sections_[symbol.st_shndx].code) continue;
      const std::uint64_t base = header.e_type == ET_REL ? sections_[symbol.st_shndx].address : 0;
      symbols.push_back({name, base + symbol.st_value, symbol.st_shndx});
    }
  }
  return symbols;
}

std::vector<SourceFrame> DebugInfo::frames(std::uint64_t address) {
  if (reader_->dwarf == nullptr) reader_->load(path_);
  return reader_->frames(address);
}

std::string short_source_path(std::string_view path, std::string_view compile_dir) {
  // Splits a path into parts. Removes "." and "dir/..".
  const auto parts_of = [](std::string_view text) {
    std::vector<std::string_view> parts;
    for (const std::string_view part : split(text, '/')) {
      if (part == "." || (part.empty() && !parts.empty())) continue;
      if (part == ".." && !parts.empty() && !parts.back().empty() && parts.back() != "..")
        parts.pop_back();
      else
        parts.push_back(part);  // the first part of an absolute path is empty
    }
    return parts;
  };
  const std::vector<std::string_view> parts = parts_of(path);
  std::vector<std::string_view> directory = parts_of(compile_dir);
  while (!directory.empty() && directory.back().empty()) directory.pop_back();
  const auto shared = static_cast<std::size_t>(
      std::mismatch(parts.begin(), parts.end(), directory.begin(), directory.end()).first - parts.begin());
  const std::size_t named = shared - (shared > 0 && parts.front().empty() ? 1 : 0);
  const bool worth_it = shared > 0 && shared < parts.size() && (shared == directory.size() || named >= 2);
  return fmt::format("{}",
                     fmt::join(parts.begin() + (worth_it ? static_cast<std::ptrdiff_t>(shared) : 0), parts.end(), "/"));
}

}  // namespace kmt
