// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the processed profile format of Firefox Profiler, version 49 (docs-developer/processed-profile-format.md in
// the sources of Firefox Profiler). Later versions of Firefox Profiler convert it to the current format.
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/export_stacks.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

constexpr const char* kCategoryColours[kAllocators] = {"orange", "purple", "brown", "yellow"};  // indexed by Allocator

// Returns a column that has the same value in every row.
Json column(std::size_t length, const Json& value) { return Json(std::vector<Json>(length, value)); }

class Thread {
 public:
  explicit Thread(const StackProfile& profile) : profile_(profile) {
    for (const ProfileFrame& frame : profile.frames) {
      functions_.push_back(text(frame.function));
      files_.push_back(frame.file.empty() ? Json(nullptr) : Json(text(frame.file)));
      lines_.push_back(frame.line == 0 ? Json(nullptr) : Json(frame.line));
      Json& address = addresses_.emplace_back(-1);
      if (frame.address != 0 && frame.address < std::uint64_t{1} << 53) address = frame.address;
    }
  }

  Json make(const std::vector<StackSample>& stacks, const StackMetricInfo& metric, std::size_t number);

 private:
  std::size_t text(const std::string& text) {
    const auto [at, is_new] = texts_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return at->second;
  }
  std::size_t stack(const StackSample& sample);
  void add_tables(Json& thread) const;  // adds the tables of stacks, frames, functions and libraries

  const StackProfile& profile_;
  std::map<std::string, std::size_t> texts_;
  Json strings_ = Json::array();
  std::vector<std::size_t> functions_;
  std::vector<Json> files_;
  std::vector<Json> lines_;
  std::vector<Json> addresses_;
  // key: index of the calling stack (-1: none), and the frame
  std::map<std::pair<std::int64_t, std::uint32_t>, std::size_t> stacks_;
  Json prefixes_ = Json::array();
  std::vector<std::uint32_t> stack_frames_;
  std::vector<unsigned> categories_;
};

std::size_t Thread::stack(const StackSample& sample) {
  std::int64_t prefix = -1;
  for (auto frame = sample.frames.rbegin(); frame != sample.frames.rend(); ++frame) {
    const auto [at, is_new] = stacks_.try_emplace({prefix, *frame}, stack_frames_.size());
    if (is_new) {
      prefixes_.push_back(prefix < 0 ? Json(nullptr) : Json(prefix));
      stack_frames_.push_back(*frame);
      categories_.push_back(static_cast<unsigned>(sample.allocator));
    }
    prefix = static_cast<std::int64_t>(at->second);
  }
  return static_cast<std::size_t>(prefix);
}

void Thread::add_tables(Json& thread) const {
  const std::size_t frames = profile_.frames.size();
  const std::size_t nodes = stack_frames_.size();
  std::vector<std::uint32_t> numbers(frames);
  std::iota(numbers.begin(), numbers.end(), 0U);
  thread["stackTable"] = {{"length", nodes},
                          {"frame", stack_frames_},
                          {"prefix", prefixes_},
                          {"category", categories_},
                          {"subcategory", column(nodes, 0)}};
  thread["frameTable"] = {{"length", frames},
                          {"address", addresses_},
                          {"inlineDepth", column(frames, 0)},
                          {"category", column(frames, nullptr)},
                          {"subcategory", column(frames, nullptr)},
                          {"func", numbers},
                          {"nativeSymbol", column(frames, nullptr)},
                          {"innerWindowID", column(frames, nullptr)},
                          {"implementation", column(frames, nullptr)},
                          {"line", lines_},
                          {"column", column(frames, nullptr)}};
  thread["funcTable"] = {{"length", frames},
                         {"name", functions_},
                         {"isJS", column(frames, false)},
                         {"relevantForJS", column(frames, false)},
                         {"resource", column(frames, -1)},
                         {"fileName", files_},
                         {"lineNumber", column(frames, nullptr)},
                         {"columnNumber", column(frames, nullptr)}};
  thread["resourceTable"] = {
      {"length", 0}, {"lib", Json::array()}, {"name", Json::array()}, {"host", Json::array()}, {"type", Json::array()}};
  thread["nativeSymbols"] = {{"length", 0},
                             {"libIndex", Json::array()},
                             {"address", Json::array()},
                             {"name", Json::array()},
                             {"functionSize", Json::array()}};
}

Json Thread::make(const std::vector<StackSample>& stacks, const StackMetricInfo& metric, std::size_t number) {
  Json sample_stacks = Json::array();
  Json weights = Json::array();
  Json times = Json::array();
  for (const StackSample& sample : stacks) {
    if (sample.value(metric.metric) == 0) continue;
    times.push_back(times.size());
    sample_stacks.push_back(stack(sample));
    weights.push_back(sample.value(metric.metric));
  }
  Json thread = Json::object();
  thread["name"] = metric.name;
  thread["isMainThread"] = number == 0;
  thread["processType"] = "default";
  thread["processName"] = printable(profile_.trace.path);
  thread["processStartupTime"] = 0;
  thread["processShutdownTime"] = nullptr;
  thread["registerTime"] = 0;
  thread["unregisterTime"] = nullptr;
  thread["pausedRanges"] = Json::array();
  thread["showMarkersInTimeline"] = false;
  thread["pid"] = "0";
  thread["tid"] = std::to_string(number);
  thread["samples"] = {{"length", weights.size()},
                       {"weightType", metric.bytes ? "bytes" : "samples"},
                       {"stack", std::move(sample_stacks)},
                       {"time", std::move(times)},
                       {"weight", weights}};
  thread["markers"] = {{"length", 0},           {"category", Json::array()},  {"data", Json::array()},
                       {"name", Json::array()}, {"startTime", Json::array()}, {"endTime", Json::array()},
                       {"phase", Json::array()}};
  add_tables(thread);
  thread["stringArray"] = strings_;
  return thread;
}

}  // namespace

std::string firefox_export(const StackProfile& profile) {
  Json categories = Json::array();
  for (std::size_t i = 0; i < kAllocators; ++i)
    categories.push_back({{"name", name_of(static_cast<Allocator>(i))},
                          {"color", kCategoryColours[i]},
                          {"subcategories", Json::array({"Other"})}});
  const std::vector<StackSample> stacks = merged_stacks(profile);
  Json threads = Json::array();
  for (const StackMetricInfo& metric : stack_metrics())
    if (metric.adds_up) threads.push_back(Thread(profile).make(stacks, metric, threads.size()));
  const Json document = {
      {"meta",
       {{"version", 24},
        {"preprocessedProfileVersion", 49},
        {"product", "kmemtrace"},
        {"processType", 0},
        {"interval", 1},
        {"startTime", 0},
        {"stackwalk", 0},
        {"debug", false},
        {"symbolicated", true},
        {"pausedRanges", Json::array()},
        {"categories", std::move(categories)},
        {"markerSchema", Json::array()},
        {"extensions", {{"length", 0}, {"id", Json::array()}, {"name", Json::array()}, {"baseURL", Json::array()}}},
        {"sampleUnits", {{"time", "ms"}, {"eventDelay", "ms"}, {"threadCPUDelta", "µs"}}},
        {"oscpu", printable(profile.trace.kernel + " " + profile.trace.arch)},
        {"usesOnlyOneStackType", true},
        {"doesNotUseFrameImplementation", true},
        {"sourceCodeIsNotOnSearchfox", true}}},
      {"libs", Json::array()},
      {"pages", Json::array()},
      {"profilerOverhead", Json::array()},
      {"counters", Json::array()},
      {"threads", std::move(threads)}};
  return document.dump() + "\n";
}

}  // namespace kmt
