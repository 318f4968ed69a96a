// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <future>
#include <string>
#include <thread>
#include <utility>

#include "base/thread.hpp"

namespace kmt {

// Runs a function in another thread, which receives no signals. The destructor waits for the end of the function.
template <typename Result>
class Background {
 public:
  // `what` names the thread for the Error that is thrown if no thread can be started.
  template <typename Run>
  Background(const std::string& what, Run run) {
    std::packaged_task<Result()> task(std::move(run));
    result_ = task.get_future();
    thread_ = start_thread(what, std::move(task));
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (thread_.joinable()) thread_.join();
  }

  // Waits for the end of the thread. Returns the function's result, or throws its exception. Call it once.
  Result get() {
    thread_.join();
    return result_.get();
  }

 private:
  std::future<Result> result_;
  std::thread thread_;
};

}  // namespace kmt
