// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/owners/network.hpp"

#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <linux/xdp_diag.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/confinement/privileges.hpp"
#include "base/file.hpp"
#include "base/thread.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

// Names of linux/netdev.h of Linux 6.8 and later.
constexpr std::uint8_t kPagePoolGet = 5;
enum PagePoolAttribute : unsigned {
  kPoolId = 1,
  kPoolInterface = 2,
  kPoolNapi = 3,
  kPoolBytes = 5,
  kPoolDetached = 6,
  kPoolDmaBuf = 7,
  kPoolIoUring = 8,
};

const HolderProcess& holder_of(std::uint64_t inode, const HeldObjects& held) {
  static const HolderProcess kUnknown;
  const auto found = held.sockets.find(inode);
  return found != held.sockets.end() ? found->second : kUnknown;
}

std::string interface_name(std::uint64_t index) {
  if (index == 0) return "all";
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(index);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::ioctl(socket.get(), SIOCGIFNAME, &request) != 0) return fmt::format("interface {}", index);
  return {request.ifr_name, ::strnlen(request.ifr_name, IFNAMSIZ)};
}

// Adds the memory of the queues of a socket. TCP counts what it sends in another field.
void add_queues(std::string_view family, std::uint64_t inode, NetlinkBytes meminfo, const HeldObjects& held,
                OwnerLines& lines) {
  const auto numbers = netlink_struct<std::array<std::uint32_t, SK_MEMINFO_WMEM_QUEUED + 1>>(meminfo);
  if (!numbers) return;
  const std::uint64_t received = (*numbers)[SK_MEMINFO_RMEM_ALLOC];
  const std::uint64_t sent = family == "tcp" ? (*numbers)[SK_MEMINFO_WMEM_QUEUED] : (*numbers)[SK_MEMINFO_WMEM_ALLOC];
  if (received + sent == 0) return;
  lines.add_held("socket", holder_of(inode, held),
                 {{"family", std::string(family)}, {"received", received}, {"sent", sent}});
}

template <typename Message>
void add_socket(NetlinkBytes message, std::uint32_t Message::*inode, unsigned meminfo, std::string_view family,
                const HeldObjects& held, OwnerLines& lines) {
  const auto header = netlink_struct<Message>(message);
  if (!header) return;
  each_attribute(message.subspan(sizeof(Message)), [&](unsigned type, NetlinkBytes bytes) {
    if (type == meminfo) add_queues(family, (*header).*inode, bytes, held, lines);
  });
}

// True if the namespace of this thread has sockets of AF_XDP.
bool has_xdp_sockets() {
  bool found = false;
  each_line(try_read_file("/proc/thread-self/net/protocols").value_or(""), [&found](std::string_view line) {
    Words fields(line);  // protocol, size, sockets
    const bool is_xdp = fields.next() == "XDP";
    fields.next();
    found = found || (is_xdp && whole_number(fields.next()).value_or(0) != 0);
  });
  return found;
}

// Reads the sockets of one namespace after the other.
class SocketReader {
 public:
  SocketReader(const HeldObjects& held, OwnerLines& lines) : held_(held), lines_(lines) {}

  // Reads the namespace in which the thread is.
  void read() {
    NetlinkSocket socket(NETLINK_SOCK_DIAG);
    packet_diag_req packet{};
    packet.sdiag_family = AF_PACKET;
    packet.pdiag_show = PACKET_SHOW_INFO | PACKET_SHOW_RING_CFG | PACKET_SHOW_MEMINFO;
    ask(socket, "packet", packet, [this](NetlinkBytes message) { add_packet_socket(message, held_, lines_); });
    unix_diag_req local{};
    local.sdiag_family = AF_UNIX;
    local.udiag_states = ~0u;
    local.udiag_show = UDIAG_SHOW_MEMINFO;
    ask(socket, "unix", local, [this](NetlinkBytes message) { add_unix_socket(message, held_, lines_); });
    netlink_diag_req netlink{};
    netlink.sdiag_family = AF_NETLINK;
    netlink.sdiag_protocol = NDIAG_PROTO_ALL;
    netlink.ndiag_show = NDIAG_SHOW_MEMINFO;
    ask(socket, "netlink", netlink, [this](NetlinkBytes message) { add_netlink_socket(message, held_, lines_); });
    if (has_xdp_sockets()) {
      xdp_diag_req xdp{};
      xdp.sdiag_family = AF_XDP;
      xdp.xdiag_show = XDP_SHOW_INFO | XDP_SHOW_RING_CFG | XDP_SHOW_UMEM;
      ask(socket, "xsk", xdp, [this](NetlinkBytes message) { add_xdp_socket(message, held_, shown_, lines_); });
    }
    for (const auto family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}})
      for (const auto protocol : {std::uint8_t{IPPROTO_TCP}, std::uint8_t{IPPROTO_UDP}})
        read_inet(socket, family, protocol);
  }

  void note_failures() {
    for (const auto& [error, kinds] : failures_) {
      const std::string names = fmt::format("{}", fmt::join(kinds, ", "));
      if (error == ENOENT)
        lines_.missing.push_back({"sockets", fmt::format("the kernel does not list sockets of {}", names),
                                  fmt::format("load the kernel's modules: {}_diag", fmt::join(kinds, "_diag, "))});
      else
        lines_.missing.push_back(
            {"owners",
             fmt::format("sockets of {} could not be read: {}", names, std::generic_category().message(error)),
             advice_for_more_privileges()});
    }
  }

 private:
  template <typename Request>
  void ask(NetlinkSocket& socket, const char* kind, const Request& request,
           const std::function<void(NetlinkBytes)>& take) {
    if (const int error = socket.ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, bytes_of_struct(request), take); error != 0)
      failures_[error].insert(kind);
  }

  void read_inet(NetlinkSocket& socket, std::uint8_t family, std::uint8_t protocol) {
    inet_diag_req_v2 request{};
    request.sdiag_family = family;
    request.sdiag_protocol = protocol;
    request.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
    request.idiag_states = ~0u;
    const char* const kind = protocol == IPPROTO_TCP ? "tcp" : "udp";
    ask(socket, kind, request, [&](NetlinkBytes message) { add_inet_socket(message, kind, held_, lines_); });
  }

  const HeldObjects& held_;
  OwnerLines& lines_;
  ShownXdp shown_;
  std::map<int, std::set<std::string>> failures_;  // kinds of sockets by errno value
};

// Returns the number of a family of generic netlink. 0 if the kernel has no such family.
std::uint16_t generic_family(NetlinkSocket& socket, std::string_view name) {
  std::vector<std::uint8_t> request(sizeof(genlmsghdr) + sizeof(nlattr) + (name.size() + 4) / 4 * 4);
  const genlmsghdr header{CTRL_CMD_GETFAMILY, 1, 0};
  const nlattr attribute{static_cast<std::uint16_t>(sizeof(nlattr) + name.size() + 1), CTRL_ATTR_FAMILY_NAME};
  std::memcpy(request.data(), &header, sizeof header);
  std::memcpy(request.data() + sizeof header, &attribute, sizeof attribute);
  std::memcpy(request.data() + sizeof header + sizeof attribute, name.data(), name.size());
  std::uint16_t family = 0;
  socket.ask(GENL_ID_CTRL, 0, request, [&](NetlinkBytes message) {
    if (message.size() < sizeof(genlmsghdr)) return;
    each_attribute(message.subspan(sizeof(genlmsghdr)), [&](unsigned type, NetlinkBytes bytes) {
      if (type == CTRL_ATTR_FAMILY_ID) family = netlink_struct<std::uint16_t>(bytes).value_or(0);
    });
  });
  return family;
}

// Returns false if the kernel does not list page pools.
bool read_page_pools(OwnerLines& lines) {
  NetlinkSocket socket(NETLINK_GENERIC);
  const std::uint16_t family = generic_family(socket, "netdev");
  if (family == 0) return false;
  const genlmsghdr header{kPagePoolGet, 1, 0};
  const int error = socket.ask(family, NLM_F_DUMP, bytes_of_struct(header),
                               [&](NetlinkBytes message) { add_page_pool(message, lines); });
  return error == 0;
}

}  // namespace

void add_packet_socket(NetlinkBytes message, const HeldObjects& held, OwnerLines& lines) {
  const auto header = netlink_struct<packet_diag_msg>(message);
  if (!header) return;
  std::string interface = "?";
  std::vector<packet_diag_ring> rings;
  each_attribute(message.subspan(sizeof(packet_diag_msg)), [&](unsigned type, NetlinkBytes bytes) {
    if (type == PACKET_DIAG_MEMINFO) add_queues("packet", header->pdiag_ino, bytes, held, lines);
    if (type == PACKET_DIAG_INFO)
      if (const auto info = netlink_struct<packet_diag_info>(bytes)) interface = interface_name(info->pdi_index);
    if (type == PACKET_DIAG_RX_RING || type == PACKET_DIAG_TX_RING)
      if (const auto ring = netlink_struct<packet_diag_ring>(bytes)) rings.push_back(*ring);
  });
  for (const packet_diag_ring& ring : rings)
    lines.add_held("packet_ring", holder_of(header->pdiag_ino, held),
                   {{"ino", header->pdiag_ino},
                    {"interface", interface},
                    {"block_size", ring.pdr_block_size},
                    {"blocks", ring.pdr_block_nr}});
}

void add_xdp_socket(NetlinkBytes message, const HeldObjects& held, ShownXdp& shown, OwnerLines& lines) {
  const auto header = netlink_struct<xdp_diag_msg>(message);
  if (!header) return;
  xdp_diag_info info{};
  xdp_diag_umem umem{};
  std::array<std::uint64_t, XDP_DIAG_UMEM_COMPLETION_RING + 1> entries{};
  each_attribute(message.subspan(sizeof(xdp_diag_msg)), [&](unsigned type, NetlinkBytes bytes) {
    if (type == XDP_DIAG_INFO) info = netlink_struct<xdp_diag_info>(bytes).value_or(info);
    if (type == XDP_DIAG_UMEM) umem = netlink_struct<xdp_diag_umem>(bytes).value_or(umem);
    if (type == XDP_DIAG_RX_RING || type == XDP_DIAG_TX_RING || type == XDP_DIAG_UMEM_FILL_RING ||
        type == XDP_DIAG_UMEM_COMPLETION_RING)
      if (const auto ring = netlink_struct<xdp_diag_ring>(bytes)) entries[type] = ring->entries;
  });
  // Several sockets may share a umem, and the fill and completion rings of a queue.
  const bool is_new_umem = umem.size != 0 && shown.umems.insert(umem.id).second;
  const bool is_new_queue = umem.size != 0 && shown.queues.insert({umem.id, info.ifindex, info.queue_id}).second;
  const auto of_queue = [&](unsigned type) { return is_new_queue ? entries[type] : 0; };
  lines.add_held("xdp", holder_of(header->xdiag_ino, held),
                 {{"ino", header->xdiag_ino},
                  {"interface", info.ifindex == 0 ? "no interface" : interface_name(info.ifindex)},
                  {"rx", entries[XDP_DIAG_RX_RING]},
                  {"tx", entries[XDP_DIAG_TX_RING]},
                  {"fill", of_queue(XDP_DIAG_UMEM_FILL_RING)},
                  {"completion", of_queue(XDP_DIAG_UMEM_COMPLETION_RING)},
                  {"umem", is_new_umem ? umem.size : 0}});
}

void add_unix_socket(NetlinkBytes message, const HeldObjects& held, OwnerLines& lines) {
  add_socket(message, &unix_diag_msg::udiag_ino, UNIX_DIAG_MEMINFO, "unix", held, lines);
}

void add_netlink_socket(NetlinkBytes message, const HeldObjects& held, OwnerLines& lines) {
  add_socket(message, &netlink_diag_msg::ndiag_ino, NETLINK_DIAG_MEMINFO, "netlink", held, lines);
}

void add_inet_socket(NetlinkBytes message, std::string_view protocol, const HeldObjects& held, OwnerLines& lines) {
  add_socket(message, &inet_diag_msg::idiag_inode, INET_DIAG_SKMEMINFO, protocol, held, lines);
}

void add_page_pool(NetlinkBytes message, OwnerLines& lines) {
  if (message.size() < sizeof(genlmsghdr)) return;
  std::array<std::uint64_t, kPoolIoUring + 1> values{};
  std::array<bool, kPoolIoUring + 1> has{};
  each_attribute(message.subspan(sizeof(genlmsghdr)), [&](unsigned type, NetlinkBytes bytes) {
    if (type >= has.size()) return;
    has[type] = true;
    values[type] = netlink_number(bytes).value_or(0);
  });
  if (!has[kPoolId] || values[kPoolBytes] == 0) return;
  lines.add("page_pool",
            {{"id", values[kPoolId]},
             {"interface", has[kPoolInterface] ? interface_name(values[kPoolInterface]) : "removed device"},
             {"napi", values[kPoolNapi]},
             {"inflight_mem", values[kPoolBytes]},
             {"detached", std::uint64_t{has[kPoolDetached]}},
             {"of_others", std::uint64_t{has[kPoolDmaBuf] || has[kPoolIoUring]}}});
}

void read_network(const HeldObjects& held, OwnerLines& lines) {
  bool has_pools = true;
  std::size_t skipped = 0;
  SocketReader sockets(held, lines);
  // Only a separate thread may enter other namespaces, because it cannot always return.
  std::thread reader = start_thread("the thread that reads network namespaces", [&] {
    for (const std::uint64_t pid : held.namespaces) {
      if (lines.is_late()) {
        ++skipped;
        continue;
      }
      if (pid != 0) {
        const FileDescriptor file(::open(fmt::format("/proc/{}/ns/net", pid).c_str(), O_RDONLY | O_CLOEXEC));
        if (!file || ::setns(file.get(), CLONE_NEWNET) != 0) {
          if (errno != ENOENT && errno != ESRCH) ++skipped;
          continue;
        }
      }
      sockets.read();
      has_pools = read_page_pools(lines) && has_pools;
    }
  });
  reader.join();
  sockets.note_failures();
  if (!has_pools)
    lines.missing.push_back(
        {"page_pools", "this kernel does not list the page pools of network devices", "use Linux 6.8 or later"});
  if (skipped > 0)
    lines.missing.push_back({"owners", fmt::format("the sockets of {} network namespaces were not read", skipped),
                             advice_for_more_privileges()});
}

}  // namespace kmt
