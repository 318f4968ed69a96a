// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/owners/netlink.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace kmt {

namespace {

constexpr std::size_t kHeader = sizeof(nlmsghdr);

std::size_t aligned(std::size_t size) { return (size + NLMSG_ALIGNTO - 1) & ~std::size_t{NLMSG_ALIGNTO - 1}; }

NetlinkBytes after(NetlinkBytes bytes, std::size_t count) { return bytes.subspan(std::min(bytes.size(), count)); }

}  // namespace

void each_attribute(NetlinkBytes bytes, const std::function<void(unsigned, NetlinkBytes)>& take) {
  while (const auto header = netlink_struct<nlattr>(bytes)) {
    if (header->nla_len < sizeof(nlattr) || header->nla_len > bytes.size()) return;
    take(header->nla_type & NLA_TYPE_MASK, bytes.subspan(sizeof(nlattr), header->nla_len - sizeof(nlattr)));
    bytes = after(bytes, aligned(header->nla_len));
  }
}

std::optional<std::uint64_t> netlink_number(NetlinkBytes bytes) {
  if (bytes.size() == sizeof(std::uint64_t)) return netlink_struct<std::uint64_t>(bytes);
  if (bytes.size() == sizeof(std::uint32_t)) return netlink_struct<std::uint32_t>(bytes);
  return std::nullopt;
}

NetlinkEnd each_message(NetlinkBytes bytes, const std::function<void(NetlinkBytes)>& take) {
  while (const auto header = netlink_struct<nlmsghdr>(bytes)) {
    if (header->nlmsg_len < kHeader || header->nlmsg_len > bytes.size()) return {true, EBADMSG};
    const NetlinkBytes payload = bytes.subspan(kHeader, header->nlmsg_len - kHeader);
    if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) {
      const int error = netlink_struct<int>(payload).value_or(0);  // 0 or a negative errno value
      return {true, error < 0 && error > -4096 ? -error : 0};
    }
    if (header->nlmsg_type >= NLMSG_MIN_TYPE) take(payload);
    bytes = after(bytes, aligned(header->nlmsg_len));
  }
  return {};
}

NetlinkSocket::NetlinkSocket(int protocol)
    : socket_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)), error_(socket_ ? 0 : errno) {
  const timeval most{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
}

int NetlinkSocket::ask(std::uint16_t type, std::uint16_t flags, NetlinkBytes request,
                       const std::function<void(NetlinkBytes)>& take) {
  if (error_ != 0) return error_;
  std::vector<std::uint8_t> message(kHeader + request.size());
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(message.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  std::memcpy(message.data(), &header, kHeader);
  std::ranges::copy(request, message.begin() + kHeader);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(socket_.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&kernel),
               sizeof kernel) < 0)
    return errno;
  std::vector<std::uint8_t> answer(std::size_t{1} << 16);
  for (;;) {
    const ssize_t count = ::recv(socket_.get(), answer.data(), answer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? ETIMEDOUT : errno;
    if (count == 0) return EBADMSG;
    const NetlinkEnd end = each_message({answer.data(), static_cast<std::size_t>(count)}, take);
    if (end.is_done) return end.error;
    if ((flags & NLM_F_DUMP) == 0) return 0;  // an answer that is no list has one message
  }
}

}  // namespace kmt
