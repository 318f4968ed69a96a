// SPDX-License-Identifier: GPL-2.0-or-later
// Reads one stream of a CTF 2 trace and converts it to messages of libbabeltrace2.
#pragma once

#include <deque>
#include <exception>
#include <optional>

#include <babeltrace2/babeltrace.h>

#include "formats/ctf/json/classes.hpp"
#include "formats/ctf/json/packets.hpp"

namespace kmt::ctf {

class JsonStream {
 public:
  // `objects` is null if the first packet is damaged. The first call of next() then throws Error.
  JsonStream(const JsonMetadata& metadata, const StreamFiles& files, const StreamClassObjects* objects,
             bt_stream* stream, bt_self_message_iterator* iterator);
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;
  ~JsonStream();

  // Stores messages and returns their number, or 0 at the end of the stream. If the stream is damaged, the messages
  // before the damage are returned first, and the next call throws Error.
  std::uint64_t next(bt_message_array_const messages, std::uint64_t capacity);

 private:
  // Values of the last packet, which are compared with those of the next packet to find losses.
  struct LastPacket {
    std::optional<std::uint64_t> begin, end, discarded, sequence;
  };

  void advance();
  bool find_data();
  void begin_packet();
  void drop_packet();
  void end_packet();
  void read_event();
  bool is_repeated() const;
  void give_losses();
  void give_lost_packets();
  void give(bt_message* message);

  const JsonMetadata& metadata_;
  const StreamFiles& files_;
  const StreamClassObjects* objects_;
  bt_stream* stream_;
  bt_self_message_iterator* iterator_;
  FieldDecoder decoder_;
  std::deque<const bt_message*> ready_;
  std::exception_ptr failure_;

  std::size_t file_ = 0;
  std::uint64_t at_ = 0;  // offset of the current packet in the file, in bytes
  bt_packet* packet_ = nullptr;
  PacketStart start_;
  LastPacket last_;
  std::optional<std::uint64_t> first_sequence_;  // sequence number of the first packet
  std::optional<ReadOnce> part_read_;
  bool has_begun_ = false, has_ended_ = false;
};

}  // namespace kmt::ctf
