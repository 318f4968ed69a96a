// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/build_id_reader.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "base/thread.hpp"

namespace kmt {

namespace {

// maximum number of devices that do not answer; each of them blocks one thread
constexpr std::size_t kMostDeadDevices = 8;

}  // namespace

struct BuildIdReader::Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::vector<std::string>> asked;
  std::optional<std::string> answer;
  bool stop = false;
  pid_t thread = 0;

  // Starts the thread. The thread shares ownership of the worker, because the thread may still wait for a file after
  // the caller was destroyed.
  static std::shared_ptr<Worker> begin(const ReadFile& read_file) {
    auto worker = std::make_shared<Worker>();
    start_thread("the thread that reads build IDs", [worker, read_file] { worker->work(read_file); }).detach();
    std::unique_lock lock(worker->mutex);
    worker->changed.wait(lock, [&] { return worker->thread != 0; });
    return worker;
  }

  void work(const ReadFile& read_file) {
    std::unique_lock lock(mutex);
    thread = ::gettid();
    changed.notify_all();
    for (;;) {
      changed.wait(lock, [this] { return stop || asked; });
      if (stop) return;
      const std::vector<std::string> paths = *std::exchange(asked, std::nullopt);
      lock.unlock();
      std::string found;
      for (const std::string& path : paths)
        if (found = read_file(path); !found.empty()) break;
      lock.lock();
      answer = std::move(found);
      changed.notify_all();
    }
  }

  std::optional<std::string> ask(const std::vector<std::string>& paths, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex);
    asked = paths;
    changed.notify_all();
    changed.wait_for(lock, patience, [this] { return answer.has_value(); });
    return std::exchange(answer, std::nullopt);
  }

  void end() {
    const std::scoped_lock lock(mutex);
    stop = true;
    changed.notify_all();
  }
};

BuildIdReader::BuildIdReader(ReadFile read_file, std::chrono::milliseconds patience)
    : read_file_(std::move(read_file)), patience_(patience), worker_(Worker::begin(read_file_)) {}

BuildIdReader::~BuildIdReader() {
  if (worker_) worker_->end();
}

std::optional<std::string> BuildIdReader::read(std::uint64_t device, const std::vector<std::string>& paths) {
  if (!worker_ || dead_devices_.contains(device)) return std::nullopt;
  if (auto answer = worker_->ask(paths, patience_)) return answer;
  dead_devices_.insert(device);
  worker_->end();
  worker_ = dead_devices_.size() < kMostDeadDevices ? Worker::begin(read_file_) : nullptr;
  return std::nullopt;
}

pid_t BuildIdReader::thread() const { return worker_ ? worker_->thread : 0; }

}  // namespace kmt
