// SPDX-License-Identifier: GPL-2.0-or-later
// Reads sockets, rings of packet and AF_XDP sockets, and page pools of network devices, from netlink.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "snapshot/owners/lines.hpp"
#include "snapshot/owners/netlink.hpp"
#include "snapshot/owners/processes.hpp"

namespace kmt {

// Reads all network namespaces in `held`. Stops when the time of `lines` is over, and notes what was not read.
void read_network(const HeldObjects& held, OwnerLines& lines);

// Add lines for one message of the kernel.
void add_packet_socket(NetlinkBytes message, const HeldObjects& held, OwnerLines& lines);
// Memory that several AF_XDP sockets may share, and that a line already has. Only the line of the first socket has it.
struct ShownXdp {
  std::set<std::uint32_t> umems;                                             // by id
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> queues;  // by umem, interface and queue
};
void add_xdp_socket(NetlinkBytes message, const HeldObjects& held, ShownXdp& shown, OwnerLines& lines);
void add_unix_socket(NetlinkBytes message, const HeldObjects& held, OwnerLines& lines);
void add_netlink_socket(NetlinkBytes message, const HeldObjects& held, OwnerLines& lines);
void add_inet_socket(NetlinkBytes message, std::string_view protocol, const HeldObjects& held, OwnerLines& lines);
// The message starts with the header of generic netlink.
void add_page_pool(NetlinkBytes message, OwnerLines& lines);

}  // namespace kmt
