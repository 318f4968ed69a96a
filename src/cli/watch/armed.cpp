// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/armed.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/units.hpp"
#include "cli/support/own_program.hpp"
#include "cli/support/say.hpp"
#include "cli/watch/webhook.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEvidencePrefix = "investigation-";

// True if this program made a folder of this name: "investigation-20261130T101500Z", or with "-002" added.
bool is_evidence(const std::string& name) {
  constexpr std::string_view kForm = "00000000T000000Z";
  if (!name.starts_with(kEvidencePrefix)) return false;
  const std::string_view time = std::string_view(name).substr(kEvidencePrefix.size());
  if (time.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i)
    if (kForm[i] == '0' ? time[i] < '0' || time[i] > '9' : time[i] != kForm[i]) return false;
  const std::string_view rest = time.substr(kForm.size());
  return rest.empty() || (rest[0] == '-' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

std::string summary_of(const std::string& folder) { return try_read_file(folder + "/summary.json").value_or(""); }

// Returns the verdict in words. Empty if the summary is missing or damaged.
std::string words_of(const std::string& summary) {
  const auto json = nlohmann::json::parse(summary, nullptr, false);
  return json.is_object() && json.contains("words") && json["words"].is_string() ? json["words"].get<std::string>()
                                                                                 : "";
}

}  // namespace

ArmedInvestigation::ArmedInvestigation(ArmedOptions options)
    : options_(std::move(options)),
      trigger_(options_.condition),
      lasting_ns_(parse_duration(options_.lasting)),
      pause_ns_(std::max(parse_duration(options_.pause), lasting_ns_)) {
  if (trigger_.wants_failures())
    throw Error("--investigate-on cannot wait for failed allocations, because it records nothing")
        .hint("Use a condition such as SUnreclaim+500M/10m, or kmemtrace record --flight 30s --trigger failure");
  if (static_cast<double>(lasting_ns_) / 1e9 < kThresholds.shortest_watch)
    throw Error(fmt::format("--for must be at least {:.0f}s to judge growth", kThresholds.shortest_watch));
  if (!options_.webhook.empty()) check_webhook(options_.webhook);
  std::error_code code;
  fs::create_directories(options_.folder, code);
  if (code || ::access(options_.folder.c_str(), W_OK) != 0) {
    if (code) errno = code.value();
    throw system_error("Cannot write evidence", options_.folder);
  }
  trigger_.start_again();
}

ArmedInvestigation::~ArmedInvestigation() {
  try {
    end();
  } catch (const std::exception& error) {
    say("The last investigation was not ended cleanly: {}\n", error.what());
  }
  if (webhook_.joinable()) webhook_.join();
}

void ArmedInvestigation::end() {
  if (child_ == 0) return;
  ::kill(child_, SIGTERM);
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  take_result(status);
}

void ArmedInvestigation::turn() {
  const std::uint64_t now = monotonic_ns();
  if (child_ == 0) {
    if (trigger_.holds(now) && now >= next_ns_) start(now);
    return;
  }
  int status = 0;
  if (::waitpid(child_, &status, WNOHANG) == child_) take_result(status);
}

void ArmedInvestigation::start(std::uint64_t now_ns) {
  next_ns_ = now_ns + pause_ns_;
  const std::string name =
      fmt::format("{}/{}{:%Y%m%dT%H%M%SZ}", options_.folder, kEvidencePrefix, fmt::gmtime(std::time(nullptr)));
  evidence_ = name;
  std::error_code code;
  for (unsigned i = 2; fs::exists(evidence_, code); ++i) evidence_ = fmt::format("{}-{:03}", name, i);
  say("Investigating, because {}\n", trigger_.what_happened());
  std::vector<std::string> words = {"kmemtrace", "investigate", "--for", options_.lasting, "--output", evidence_};
  if (!options_.btf.empty()) words.insert(words.end(), {"--btf", options_.btf});
  try {
    child_ = start_own_program(std::move(words));
  } catch (const Error& error) {
    ++counts_.failed;
    say("{}\n", error.what());
  }
}

void ArmedInvestigation::take_result(int status) {
  child_ = 0;
  const std::string summary = summary_of(evidence_);
  const std::string words = words_of(summary);
  const bool found = WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::found);
  ++(words.empty() ? counts_.failed : found ? counts_.found : counts_.not_found);
  if (words.empty())
    say("The investigation failed; see the messages above\n");
  else
    say("{} Evidence: {}\n", printable(words), printable(evidence_));
  remove_oldest();
  trigger_.start_again();
  if (options_.webhook.empty() || words.empty()) return;
  if (webhook_.joinable()) webhook_.join();
  webhook_ = start_thread("the thread for --webhook", [url = options_.webhook, summary] {
    if (const std::string why = post_json(url, summary); !why.empty())
      say("The result was not delivered to {}: {}\n", printable(url), printable(why));
  });
}

// Removes the oldest evidence. The names are times, so sorting by name also sorts by time.
void ArmedInvestigation::remove_oldest() const {
  std::vector<std::string> all = names_in(options_.folder);
  std::erase_if(all, [](const std::string& name) { return !is_evidence(name); });
  for (std::size_t i = 0; i + options_.keep < all.size(); ++i) {
    std::error_code code;
    fs::remove_all(options_.folder + "/" + all[i], code);
    if (code) say("Cannot remove {}/{}: {}\n", printable(options_.folder), printable(all[i]), code.message());
  }
}

}  // namespace kmt
