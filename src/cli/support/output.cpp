// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/number.hpp"

namespace kmt {

namespace {

std::optional<unsigned> columns_variable() {
  const char* const text = std::getenv("COLUMNS");
  if (text == nullptr) return std::nullopt;
  const auto columns = parse_number<unsigned>(text);
  return columns == 0u ? std::nullopt : columns;
}

// True if the locale uses UTF-8. Reads the same variables as setlocale(3) does for LC_CTYPE.
bool locale_is_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale = value;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

bool print_result(std::string_view text) {
  std::signal(SIGPIPE, SIG_IGN);  // if SIGPIPE is ignored, write(2) returns EPIPE
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    const bool full = errno == ENOSPC || errno == EDQUOT;
    Error error = system_error("Cannot write the result", "standard output");
    if (full) error.hint("Free some space or write to another file system");
    throw error;
  }
  return true;
}

TextStyle stdout_style(const StyleOptions& options) {
  TextStyle style;
  style.raw = options.raw;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  if (const std::optional<unsigned> columns = columns_variable()) style.width = *columns;
  style.width = std::clamp(style.width, TextStyle::kMinWidth, TextStyle::kMaxWidth);

  const char* const no_color = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  style.colour = options.colour && terminal && !dumb && (no_color == nullptr || *no_color == '\0');
  style.unicode = !options.ascii && locale_is_utf8();
  return style;
}

void reserve_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace kmt
