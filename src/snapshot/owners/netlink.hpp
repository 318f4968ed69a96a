// SPDX-License-Identifier: GPL-2.0-or-later
// Requests over netlink, which the kernel answers with a list of messages.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/file.hpp"

namespace kmt {

using NetlinkBytes = std::span<const std::uint8_t>;

// Returns the struct at the start of the bytes, or nothing if there are too few bytes.
template <typename Struct>
std::optional<Struct> netlink_struct(NetlinkBytes bytes) {
  Struct value;
  if (bytes.size() < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
template <typename Struct>
NetlinkBytes bytes_of_struct(const Struct& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

// Calls take(type, bytes) for each attribute. Stops at an attribute that is longer than the rest of the bytes.
void each_attribute(NetlinkBytes bytes, const std::function<void(unsigned, NetlinkBytes)>& take);
// Returns the value of an attribute with an unsigned number of 4 or 8 bytes.
std::optional<std::uint64_t> netlink_number(NetlinkBytes bytes);

// The end of a list of messages.
struct NetlinkEnd {
  bool is_done = false;
  int error = 0;  // errno value
};
// Calls take(bytes) for each message in what the kernel sent in one piece.
NetlinkEnd each_message(NetlinkBytes bytes, const std::function<void(NetlinkBytes)>& take);

class NetlinkSocket {
 public:
  explicit NetlinkSocket(int protocol);
  // Sends a request with these flags in addition to NLM_F_REQUEST, and passes each answer to `take`. Returns 0, or the
  // errno value of a failure. ETIMEDOUT: the kernel did not answer in time.
  int ask(std::uint16_t type, std::uint16_t flags, NetlinkBytes request, const std::function<void(NetlinkBytes)>& take);

 private:
  FileDescriptor socket_;
  int error_ = 0;
};

}  // namespace kmt
