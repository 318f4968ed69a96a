// SPDX-License-Identifier: GPL-2.0-or-later
// Builds ring buffer pages by hand, record by record. trace/ring_page.hpp describes the layout.
#pragma once

#include <optional>

#include "support/byte_builder.hpp"

namespace kmt::test {

class PageBuilder {
 public:
  PageBuilder(Machine machine, std::uint64_t time) : machine_(machine), time_(time), data_(machine) {}

  // Adds a record of up to 112 bytes whose size is a multiple of 4.
  PageBuilder& record(std::uint32_t delta, const std::vector<std::uint8_t>& payload) {
    header(static_cast<unsigned>(payload.size() / 4), delta);
    data_.bytes(payload);
    return *this;
  }
  PageBuilder& long_record(std::uint32_t delta, const std::vector<std::uint8_t>& payload) {
    header(0, delta);
    data_.u32(static_cast<std::uint32_t>(payload.size() + 4)).bytes(payload);
    return *this;
  }
  PageBuilder& discarded(std::uint32_t delta, std::uint32_t payload_bytes) {
    header(29, delta);
    data_.u32(payload_bytes + 4).bytes(std::vector<std::uint8_t>(payload_bytes, 0xEE));
    return *this;
  }
  PageBuilder& time_extend(std::uint64_t delta) {
    header(30, static_cast<std::uint32_t>(delta & ((1u << 27) - 1)));
    data_.u32(static_cast<std::uint32_t>(delta >> 27));
    return *this;
  }
  PageBuilder& time_stamp(std::uint64_t time) {
    header(31, static_cast<std::uint32_t>(time & ((1u << 27) - 1)));
    data_.u32(static_cast<std::uint32_t>(time >> 27));
    return *this;
  }
  PageBuilder& end_of_page() {
    header(29, 0);
    return *this;
  }
  PageBuilder& header(unsigned type_len, std::uint32_t delta) {
    data_.u32(machine_.order == ByteOrder::little ? type_len | delta << 5 : type_len << 27 | delta);
    return *this;
  }
  PageBuilder& missed_events(std::optional<std::uint64_t> count) {
    missed_ = true;
    missed_count_ = count;
    return *this;
  }

  std::vector<std::uint8_t> build(std::size_t page_size = 4096) const {
    std::uint64_t commit = data_.size();
    if (missed_) commit |= 1u << 31;
    if (missed_count_) commit |= 1u << 30;
    ByteBuilder page(machine_);
    page.u64(time_).word(commit).bytes(data_.get());
    if (missed_count_) page.word(*missed_count_);
    page.pad_to(page_size);
    return page.get();
  }

 private:
  Machine machine_;
  std::uint64_t time_;
  ByteBuilder data_;
  bool missed_ = false;
  std::optional<std::uint64_t> missed_count_;
};

}  // namespace kmt::test
