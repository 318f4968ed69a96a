// SPDX-License-Identifier: GPL-2.0-or-later
// Loads of the kernel that need no other program.
//   kernel_loads maps ROUNDS       creates BPF hash maps, and inserts and deletes elements
//   kernel_loads loopback ROUNDS   sends data over TCP connections and UDP sockets of the loopback device
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kElements = 200;
constexpr int kMessages = 20;

long checked(long result, const char* action) {
  if (result >= 0) return result;
  std::perror(action);
  std::exit(1);
}

long bpf(bpf_cmd command, bpf_attr& attributes) { return ::syscall(__NR_bpf, command, &attributes, sizeof attributes); }

void use_map(std::uint32_t flags) {
  bpf_attr create{};
  create.map_type = BPF_MAP_TYPE_HASH;
  create.key_size = create.value_size = 8;
  create.max_entries = kElements;
  create.map_flags = flags;
  const auto map = static_cast<int>(checked(bpf(BPF_MAP_CREATE, create), "BPF_MAP_CREATE"));
  for (std::uint64_t key = 0; key < kElements; ++key) {
    bpf_attr element{};
    element.map_fd = static_cast<std::uint32_t>(map);
    element.key = element.value = reinterpret_cast<std::uint64_t>(&key);
    checked(bpf(BPF_MAP_UPDATE_ELEM, element), "BPF_MAP_UPDATE_ELEM");
    element.value = 0;
    if (key % 2 == 0) checked(bpf(BPF_MAP_DELETE_ELEM, element), "BPF_MAP_DELETE_ELEM");
  }
  ::close(map);
}

sockaddr_in bound(int socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  checked(::bind(socket, reinterpret_cast<sockaddr*>(&address), bytes), "bind");
  checked(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes), "getsockname");
  return address;
}

int connected(int type, const sockaddr_in& to) {
  const auto client = static_cast<int>(checked(::socket(AF_INET, type, 0), "socket"));
  checked(::connect(client, reinterpret_cast<const sockaddr*>(&to), sizeof to), "connect");
  return client;
}

void send_messages(int from, int to) {
  std::array<char, 3000> data{};
  for (int message = 0; message < kMessages; ++message) {
    checked(::send(from, data.data(), data.size(), 0), "send");
    checked(::recv(to, data.data(), data.size(), 0), "recv");
  }
}

void use_loopback() {
  const auto server = static_cast<int>(checked(::socket(AF_INET, SOCK_STREAM, 0), "socket"));
  const sockaddr_in address = bound(server);
  checked(::listen(server, 1), "listen");
  const int client = connected(SOCK_STREAM, address);
  const auto accepted = static_cast<int>(checked(::accept(server, nullptr, nullptr), "accept"));
  send_messages(client, accepted);
  const auto receiver = static_cast<int>(checked(::socket(AF_INET, SOCK_DGRAM, 0), "socket"));
  const int sender = connected(SOCK_DGRAM, bound(receiver));
  send_messages(sender, receiver);
  for (const int socket : {client, accepted, server, sender, receiver}) ::close(socket);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const bool maps = std::strcmp(arguments[1], "maps") == 0;
  if (!maps && std::strcmp(arguments[1], "loopback") != 0) return 2;
  for (long round = std::atol(arguments[2]); round > 0; --round) {
    if (!maps)
      use_loopback();
    else
      use_map(round % 2 == 0 ? static_cast<std::uint32_t>(BPF_F_NO_PREALLOC) : 0);
  }
}
