// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/page_writer.hpp"

#include <algorithm>

#include "base/arithmetic/size.hpp"

namespace kmt {

using namespace page_format;

namespace {
constexpr std::uint64_t kMostShortRecord = 28ull * 4;
constexpr std::uint64_t kExtendBytes = 8;
}  // namespace

PageWriter::PageWriter(PageLayout layout, Emit emit) : layout_(layout), emit_(std::move(emit)) {}

bool PageWriter::record(std::uint64_t ticks, Bytes record) {
  const bool is_short = !record.empty() && record.size() <= kMostShortRecord && record.size() % 4 == 0;
  const std::uint64_t length = (record.size() + 3) / 4 * 4;
  const std::uint64_t bytes = (is_short ? 4 : 8) + length;
  const std::uint64_t with_page = layout_.data_offset() + bytes;
  if (with_page > layout_.page_size) return false;
  // A page that follows lost events also stores their number. If the page has no room for both the record and the
  // number, the number is stored on a page without records.
  if (lost_count_ && with_page + layout_.long_bytes > layout_.page_size) begin_page(ticks);
  std::uint64_t delta = ticks - time_;
  bool extend = delta > kDeltaMask;
  const bool extendable = ticks >= time_ && delta >> (kDeltaBits + 32) == 0;
  if (page_.empty() || lost_pending_ || !extendable || !fits(bytes + (extend ? kExtendBytes : 0))) {
    begin_page(ticks);
    delta = 0;
    extend = false;
  }
  if (extend) {
    put_header(kTypeTimeExtend, delta & kDeltaMask);
    put_word(static_cast<std::uint32_t>(delta >> kDeltaBits));
    delta = 0;
  }
  put_header(is_short ? static_cast<unsigned>(length / 4) : 0, delta);
  if (!is_short) put_word(static_cast<std::uint32_t>(length + 4));
  std::copy(record.begin(), record.end(), page_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ += length;
  time_ = ticks;
  return true;
}

void PageWriter::lost(std::optional<std::uint64_t> count) {
  const bool uncounted = lost_pending_ && !lost_count_;
  lost_count_ = uncounted || !count ? std::nullopt : std::optional(lost_count_.value_or(0) + *count);
  lost_pending_ = true;
}

bool PageWriter::fits(std::uint64_t bytes) const {
  const std::uint64_t reserved =
      page_missed_count_ ? layout_.long_bytes : 0;  // room for the number of lost events after the data
  return used_ + bytes + reserved <= layout_.page_size;
}

void PageWriter::begin_page(std::uint64_t ticks) {
  end_page();
  page_.assign(to_size(layout_.page_size), 0);
  used_ = layout_.data_offset();
  store(page_.data(), ticks, layout_.order);
  page_missed_ = lost_pending_;
  page_missed_count_ = lost_count_;
  lost_pending_ = false;
  lost_count_.reset();
  time_ = ticks;
}

// Completes the last page. A loss after the last record needs another page, because a page's header reports the losses
// before the page.
void PageWriter::finish() {
  if (lost_pending_) begin_page(time_);
  end_page();
}

void PageWriter::end_page() {
  if (page_.empty()) return;
  std::uint64_t commit = used_ - layout_.data_offset();
  if (page_missed_) commit |= kMissedEvents;
  if (page_missed_count_) commit |= kMissedStored;
  const auto put_long = [this](std::uint64_t at, std::uint64_t value) {
    if (layout_.long_bytes == 4)
      store(page_.data() + at, static_cast<std::uint32_t>(value), layout_.order);
    else
      store(page_.data() + at, value, layout_.order);
  };
  put_long(8, commit);
  if (page_missed_count_) put_long(used_, *page_missed_count_);
  emit_(page_);
  page_.clear();
}

void PageWriter::put_word(std::uint32_t value) {
  store(page_.data() + used_, value, layout_.order);
  used_ += 4;
}

void PageWriter::put_header(unsigned type_len, std::uint64_t delta) {
  const auto bits = static_cast<std::uint32_t>(delta);
  put_word(layout_.order == ByteOrder::little ? type_len | bits << 5 : type_len << kDeltaBits | bits);
}

}  // namespace kmt
