// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/build_ids.hpp"

#include <fmt/format.h>

#include "base/build_id.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

std::string build_id_in(const std::string& path) {
  const std::string text = try_read_file(path).value_or("");
  return gnu_build_id({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, kHostOrder);
}

}  // namespace

std::string kernel_build_id(const std::string& notes) { return build_id_in(notes); }

std::string module_build_ids(const std::string& modules) {
  std::string lines;
  for (const std::string& name : names_in(modules)) {
    const std::string id = build_id_in(fmt::format("{}/{}/notes/.note.gnu.build-id", modules, name));
    if (!id.empty()) lines += fmt::format("{} {}\n", name, id);
  }
  return lines;
}

std::string module_sections(const std::string& modules) {
  std::string lines;
  for (const std::string& name : names_in(modules)) {
    const std::string sections = fmt::format("{}/{}/sections", modules, name);
    for (const std::string& section : names_in(sections)) {
      if (section.find("text") == std::string::npos) continue;
      const std::string text = try_read_file(fmt::format("{}/{}", sections, section)).value_or("");
      const std::string_view address = trim(text);  // "0xffffffffc0481000"
      if (address.starts_with("0x") && address.find_first_not_of("0x") != std::string_view::npos)
        lines += fmt::format("{} {} {}\n", name, section, address.substr(2));
    }
  }
  return lines;
}

}  // namespace kmt
