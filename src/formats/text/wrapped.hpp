// SPDX-License-Identifier: GPL-2.0-or-later
// Extracts the text of a trace from the files that Chrome, and Android's atrace and systrace, write: text that zlib has
// compressed, web pages, and JSON. Also decodes mails in quoted-printable, and replaces NUL bytes and line ends that
// lack an LF.
#pragma once

#include <optional>
#include <string>

#include "base/byte_reader.hpp"

namespace kmt::text {

struct UnwrappedText {
  std::string text;
  std::string damage;  // why a part of the text is missing; empty if the text is complete
};

// Returns nothing if the file needs no change, or is no text of a trace. Throws Error if the
// file is a web page that contains no text of a trace.
std::optional<UnwrappedText> unwrap(Bytes file);

}  // namespace kmt::text
