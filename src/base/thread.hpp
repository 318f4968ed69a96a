// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace kmt {

// Returns the Error for a thread that could not be started. `what` names the thread, such as "a reader thread for CPU
// 3".
Error thread_error(const std::string& what, std::string_view why);

// Starts a thread that receives no signals; the thread that calls this function receives them. Throws Error, see
// thread_error().
template <typename Run>
std::thread start_thread(const std::string& what, Run run) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(run));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (const std::system_error& error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw thread_error(what, error.code().message());
  }
}

}  // namespace kmt
