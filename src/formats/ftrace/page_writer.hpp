// SPDX-License-Identifier: GPL-2.0-or-later
// Records into ring-buffer pages, the counterpart of page.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "formats/ftrace/page.hpp"

namespace kmt {

class PageWriter {
 public:
  using Emit = std::function<void(const std::vector<std::uint8_t>& page)>;

  // `emit` gets every page of layout.page_size bytes.
  PageWriter(PageLayout layout, Emit emit);

  // False when the record does not fit into a page: it is left out.
  bool record(std::uint64_t ticks, Bytes record);
  void lost(std::optional<std::uint64_t> count);
  void finish();  // the page that is not full, and a loss behind the last record

 private:
  bool fits(std::uint64_t bytes) const;
  void begin_page(std::uint64_t ticks);
  void end_page();
  void put_word(std::uint32_t value);
  void put_header(unsigned type_len, std::uint64_t delta);

  PageLayout layout_;
  Emit emit_;
  std::vector<std::uint8_t> page_;  // empty: none begun
  std::uint64_t used_ = 0;
  std::uint64_t time_ = 0;
  bool lost_pending_ = false;
  std::optional<std::uint64_t> lost_count_;
  bool page_missed_ = false;
  std::optional<std::uint64_t> page_missed_count_;
};

}  // namespace kmt
