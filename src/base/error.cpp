// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/error.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace kmt {

std::string to_string(const Place& place) {
  std::string text = place.file;
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (place.cpu) append(fmt::format("cpu {}", *place.cpu));
  if (place.offset) append(fmt::format("offset {:#x}", *place.offset));
  return text;
}

Error& Error::at(Place place) {
  if (place_.file.empty()) place_.file = std::move(place.file);
  if (!place_.cpu) place_.cpu = place.cpu;
  if (!place_.offset) place_.offset = place.offset;
  return *this;
}

Error& Error::hint(std::string text) {
  hint_ = std::move(text);
  return *this;
}

Error& Error::context(std::string text) {
  contexts_.push_back(std::move(text));
  return *this;
}

Error system_error(const std::string& action, const std::string& path) {
  const int number = errno;
  const bool denied = number == EACCES || number == EPERM;
  return Error(fmt::format("{}: {}", action, std::generic_category().message(number)),
               denied ? ExitCode::unsupported : ExitCode::bad_input)
      .at({path, {}, {}});
}

}  // namespace kmt
