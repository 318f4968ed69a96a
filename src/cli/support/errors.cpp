// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/errors.hpp"

#include <csignal>
#include <string_view>

#include <unistd.h>

#include "base/text.hpp"
#include "cli/support/say.hpp"
#include "formats/ctf/library_call.hpp"

namespace kmt {

int print_error(const Error& error) {
  std::string text = "error: " + printable(error.what()) + "\n";
  const std::string place = to_string(error.place());
  if (!place.empty()) text += "  at: " + printable(place) + "\n";
  for (const std::string& context : error.contexts()) text += "  while: " + printable(context) + "\n";
  if (!error.hint().empty()) text += "  hint: " + printable(error.hint()) + "\n";
  say_text(text);
  return static_cast<int>(error.exit_code());
}

namespace {

// This is a signal handler, so it may call only async-signal-safe functions.
extern "C" void say_abort(int) {
  // The library did not cause this abort, so the program ends in the usual way, perhaps with a core dump.
  if (!ctf::LibraryCall::runs()) {
    std::signal(SIGABRT, SIG_DFL);
    std::raise(SIGABRT);
    return;
  }
  constexpr std::string_view kText =
      "error: A library aborted on this input; its message is above\n"
      "  hint: Damaged packets of a CTF trace cause this; `babeltrace2` fails on them too\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(static_cast<int>(ExitCode::bad_input));
}

}  // namespace

void catch_aborts_of_libraries() { std::signal(SIGABRT, say_abort); }

}  // namespace kmt
