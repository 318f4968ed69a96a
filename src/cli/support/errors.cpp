// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/errors.hpp"

#include <array>
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

// Signals that libraries cause: BT_ASSERT of libbabeltrace2 aborts, GLib traps, and both may crash on damaged lengths.
constexpr std::array kCaught = {SIGABRT, SIGTRAP, SIGSEGV};
std::array<struct sigaction, kCaught.size()> former{};  // previous actions for these signals, such as a sanitizer's

// This is a signal handler, so it may call only async-signal-safe functions.
extern "C" void say_abort(int signal) {
  // If the library did not cause this, the program ends in the usual way, perhaps with a core dump.
  if (!ctf::LibraryCall::runs()) {
    for (std::size_t i = 0; i < kCaught.size(); ++i)
      if (kCaught[i] == signal) ::sigaction(signal, &former[i], nullptr);
    if (signal != SIGSEGV) std::raise(signal);  // after SIGSEGV, the CPU repeats the access, which fails again
    return;
  }
  constexpr std::string_view kText =
      "error: A library aborted on this input; its message is above\n"
      "  hint: Damaged packets of a CTF trace cause this; `babeltrace2` fails on them too\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(static_cast<int>(ExitCode::bad_input));
}

}  // namespace

void catch_aborts_of_libraries() {
  struct sigaction action {};
  action.sa_handler = say_abort;
  for (std::size_t i = 0; i < kCaught.size(); ++i) ::sigaction(kCaught[i], &action, &former[i]);
}

}  // namespace kmt
