// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/watched_samples.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kFirstMeanBytes = 32 << 10;
constexpr std::uint64_t kFewestMeanBytes = 4 << 10;
// Maximum distance between samples, in bytes. Without it, a burst during the first measurement could make samples too
// rare.
constexpr std::uint64_t kMostBytesApart = 128 << 10;
constexpr double kProbeSeconds = 1;  // duration of the first measurement of the rate of samples
// duration of the second measurement, which shows whether there was a burst during the first one
constexpr double kSecondProbeSeconds = 2;
constexpr double kFarFiner = 3;                // if samples can be denser by this factor, a restart is worthwhile
constexpr double kMostSamplesPerSecond = 5e3;  // the ring buffer must hold all samples taken while a recording starts
// fraction of the samples' CPU budget for taking samples; the rest is for runs of the BPF programs that take no sample
constexpr double kPartForDrawing = 0.5;
// Maximum CPU time for reading samples, as a fraction of one CPU. The same thread needs time for the kernel's counters.
constexpr double kMostOfReader = 0.25;

}  // namespace

void WatchedSamples::begin() { begin(kFirstMeanBytes, true); }

void WatchedSamples::begin(std::uint64_t mean_bytes, bool pages) {
  sampler_.reset();
  costs_.pause();
  mean_bytes_ = mean_bytes;
  have_pages_ = pages;
  try {
    sampler_ = std::make_unique<InvestigationSamples>(mean_bytes, pages, kernel_, seconds_left_());
  } catch (const Error& error) {
    unseen_.push_back({"samples of all slab allocations", error.what(), error.hint()});
  }
}

void WatchedSamples::drain() {
  const std::uint64_t begin_ns = own_cpu_ns();
  sampler_->drain();
  reading_seconds_ += static_cast<double>(own_cpu_ns() - begin_ns) / 1e9;
}

void WatchedSamples::tune(double cpu_left, bool recorded, const InvestigationPlan& plan) {
  const double sampled = static_cast<double>(monotonic_ns() - sampler_->begin_ns()) / 1e9;
  // Sampling is not restarted during a recording, because loading the programs would delay the end of the recording.
  if (tuned_ == 2 || (tuned_ == 1 && recorded) || sampled < (tuned_ == 0 ? kProbeSeconds : kSecondProbeSeconds)) return;
  const bool is_first = tuned_++ == 0;
  const bool pages = is_first ? can_sample_pages(costs_.per_s(), cpu_left, plan) : have_pages_;
  const auto drawn = static_cast<double>(sampler_->samples());
  const double read = std::max(drawn + static_cast<double>(earlier_), 1.0);
  const double left = std::max(cpu_left, 0.0) / std::max(seconds_left_(), kProbeSeconds);
  const double affordable = kPartForDrawing * left / (kSecondsOfASample + reading_seconds_ / read);
  const double readable = kMostOfReader * read / std::max(reading_seconds_, 1e-6);
  const double allowed = std::max(std::min({affordable, kMostSamplesPerSecond, readable}), 1.0);
  const auto mean = static_cast<double>(mean_bytes_);
  const double wanted = std::clamp(mean * drawn / sampled / allowed, static_cast<double>(kFewestMeanBytes),
                                   static_cast<double>(kMostBytesApart));
  if (is_first ? pages && wanted > mean / 2 && wanted < mean * 3 / 2 : wanted > mean / kFarFiner) return;
  earlier_ += sampler_->samples();
  begin(static_cast<std::uint64_t>(wanted), pages);
  if (is_first && !pages)
    unseen_.push_back({"callers that use the page allocator directly",
                       "sampling their pages would exceed the CPU budget", "raise --cpu"});
}

void WatchedSamples::look() {
  seen_ = sampler_->seen();
  begin_ns_ = sampler_->begin_ns();
  const double seconds = static_cast<double>(monotonic_ns() - begin_ns_) / 1e9;
  allocations_per_s_ = sampler_->growth().allocations();
  for (auto& [cache, count] : allocations_per_s_) count /= std::max(seconds, 0.1);
}

void WatchedSamples::end(const std::string& folder) {
  write_profile(folder + "/profile.kmt", sampler_->forms(), kernel_.symbols());
  const std::vector<UnseenSource> lost = sampler_->unseen();
  unseen_.insert(unseen_.end(), lost.begin(), lost.end());
  earlier_ += sampler_->samples();
  costs_.end();
  sampler_.reset();
}

double WatchedSamples::kernel_seconds() const {
  if (costs_.is_measured()) return costs_.seconds();
  return static_cast<double>(earlier_ + (sampler_ ? sampler_->samples() : 0)) * kSecondsOfASample;
}

}  // namespace kmt
