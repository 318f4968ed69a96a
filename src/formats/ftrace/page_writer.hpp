// SPDX-License-Identifier: GPL-2.0-or-later
// Writes records into ring-buffer pages. The reader is in page.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "trace/ring_page.hpp"

namespace kmt {

class PageWriter {
 public:
  using Emit = std::function<void(const std::vector<std::uint8_t>& page)>;

  // `emit` is called with every page. Each has layout.page_size bytes.
  PageWriter(PageLayout layout, Emit emit);

  // Returns false, and writes nothing, if the record is larger than a page.
  bool record(std::uint64_t ticks, Bytes record);
  void lost(std::optional<std::uint64_t> count);
  void finish();  // emits the last page, and an empty one for a loss after the last record

 private:
  bool fits(std::uint64_t bytes) const;
  void begin_page(std::uint64_t ticks);
  void end_page();
  void put_word(std::uint32_t value);
  void put_header(unsigned type_len, std::uint64_t delta);

  PageLayout layout_;
  Emit emit_;
  std::vector<std::uint8_t> page_;  // the current page; empty if none was started
  std::uint64_t used_ = 0;
  std::uint64_t time_ = 0;
  bool lost_pending_ = false;
  std::optional<std::uint64_t> lost_count_;
  bool page_missed_ = false;
  std::optional<std::uint64_t> page_missed_count_;
};

}  // namespace kmt
