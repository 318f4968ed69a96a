// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how facts about the owners of memory are read from the kernel's texts and messages, and how bytes are computed
// from them. tests/live/owners_test.py compares owners on a real kernel.
#include <algorithm>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "analysis/snapshot/owners.hpp"
#include "snapshot/owners/files.hpp"
#include "snapshot/owners/network.hpp"
#include "snapshot/owners/processes.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kPage = 4096;
const HolderProcess kHolder = {7, "a\tb"};

std::vector<MemoryOwner> parsed(const std::string& text, std::uint64_t* unknown = nullptr) {
  KernelMemory memory;
  parse_owners(text, memory);
  if (unknown != nullptr) *unknown = memory.unknown_lines;
  return memory.owners;
}

// Builds a message of netlink.
struct Message {
  std::vector<std::uint8_t> bytes;

  template <typename Struct>
  Message& add(const Struct& value) {
    const NetlinkBytes more = bytes_of_struct(value);
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  template <typename Value>
  Message& attribute(std::uint16_t type, const Value& value) {
    add(static_cast<std::uint16_t>(4 + sizeof value)).add(type).add(value);
    bytes.resize((bytes.size() + 3) / 4 * 4);
    return *this;
  }
};

TEST(Owners, EachKindHasItsBytesAndPlace) {
  const auto owners = parsed(
      "ftrace\tinstance=\tsize_kb=7,1411\tsubbuf_kb=4\n"
      "ftrace\tinstance=x\tsize_kb=8\tsubbuf_kb=16\n"
      "perf\tpid=3\tprocess=perf\tmapped=528384\n"
      "packet_ring\tpid=4\tprocess=tcpdump\tino=9\tinterface=eth0\tblock_size=65536\tblocks=1024\n"
      "io_uring\tpid=5\tprocess=db\tsq_entries=128\tcq_entries=256\tbuffers=8192\n"
      "pipe\tpid=6\tprocess=cat\tino=1\tbytes=4097\tcapacity=65536\n"
      "pipe\tpid=6\tprocess=cat\tino=2\tbytes=1\tcapacity=65536\n"
      "socket\tfamily=unix\treceived=0\tsent=5000\n"
      "bpf_map\tid=1\ttype=27\tname=events\tmemlock=274736\n"
      "bpf_map\tid=2\ttype=1\tname=\tmemlock=1000\n"
      "page_pool\tid=3\tinterface=eth0\tnapi=513\tinflight_mem=1048576\tdetached=0\tof_others=0\n"
      "dma_buf\tsize=65536\texporter=system\tino=4\tname=\n"
      "dma_buf\tsize=65536\texporter=udmabuf\tino=5\tname=\n"
      "gpu\tpid=8\tprocess=X\tdriver=amdgpu\tdevice=0000:01:00.0\tregion=gtt\tbytes=12288\n"
      "gpu\tpid=8\tprocess=X\tdriver=amdgpu\tdevice=0000:01:00.0\tregion=vram\tbytes=99\n");
  std::string all;
  for (const MemoryOwner& owner : owners)
    all += fmt::format("{}; {} {} {}; {}\n", full_name(owner), owner.bytes, owner.count, describe(owner.exactness).id,
                       describe(owner.place).id);
  // 7 kB are 2 pages and 1411 kB are 355, with a page more for each reader; 8 kB are a sub-buffer of 16 KiB
  EXPECT_EQ(all,
            "ftrace buffers: top instance; 1470464 1 exact; unaccounted\n"
            "ftrace buffers: instance x; 32768 1 exact; unaccounted\n"
            "perf buffers: perf (pid 3); 528384 1 estimate; unaccounted\n"
            "packet rings: tcpdump (pid 4) on eth0; 67108864 1 exact; unaccounted\n"
            "io_uring: db (pid 5); 16384 1 estimate; unaccounted\n"
            "io_uring: db (pid 5), registered buffers; 8192 1 exact; user\n"
            "pipes: cat (pid 6); 12288 2 estimate; unaccounted\n"
            "sockets: unix of unknown process; 5000 1 upper_bound; partly_unaccounted\n"
            "BPF map: events (id 1); 274432 1 exact; unaccounted\n"
            "BPF map: map (id 2); 1000 1 estimate; counted_kernel\n"
            "page pool: eth0 (pool 3, NAPI 513); 1048576 1 exact; unaccounted\n"
            "dma-buf: exporter system; 65536 1 exact; unaccounted\n"
            "dma-buf: exporter udmabuf; 65536 1 upper_bound; user\n"
            "GPU buffers: amdgpu gtt of X (pid 8); 12288 1 upper_bound; partly_unaccounted\n"
            "GPU buffers: amdgpu vram of X (pid 8); 99 1 upper_bound; device\n");
  EXPECT_EQ(unaccounted_bytes(owners), 1470464u + 32768 + 528384 + 67108864 + 16384 + 12288 + 274432 + 1048576 + 65536);
}

TEST(Owners, DamagedLinesAreUnknown) {
  std::uint64_t unknown = 0;
  EXPECT_TRUE(parsed("pipe\n"
                     "pipe\tbytes=\n"
                     "pipe\tbytes=-1\n"
                     "pipe\tbytes=99999999999999999999\n"
                     "nothing\tbytes=1\n"
                     "packet_ring\tblock_size=4294967295\tblocks=4398046511104\n"
                     "packet_ring\tblock_size=4096\tblocks=0\n"
                     "ftrace\tinstance=x\tsize_kb=1,\n"
                     "ftrace\n"
                     "xdp\trx=1\ttx=1\tfill=1\n"
                     "=\n",
                     &unknown)
                  .empty());
  EXPECT_EQ(unknown, 11u);
}

TEST(Owners, ValuesCannotBreakLines) {
  OwnerLines lines;
  lines.add_held("pipe", {1, "a\tbytes=9\nb"}, {{"bytes", std::uint64_t{1}}});
  EXPECT_EQ(lines.text, "pipe\tpid=1\tprocess=a?bytes=9?b\tbytes=1\n");
}

TEST(Owners, MappingsOfPerfAreSummed) {
  EXPECT_EQ(perf_bytes("7f0000000000-7f0000081000 rw-s 00000000 00:10 1057       anon_inode:[perf_event]\n"
                       "7f0000100000-7f0000101000 rw-p 00000000 00:00 0 \n"
                       "7f0000200000-7f0000201000 rw-s 00001000 00:10 1057       anon_inode:[perf_event]\n"
                       "7f0000201000-7f0000200000 rw-s 00001000 00:10 1057       anon_inode:[perf_event]\n"
                       "x anon_inode:[perf_event]\n"),
            0x82000u);
}

TEST(Owners, RingsAreReadFromFdinfo) {
  OwnerLines lines;
  add_io_uring(
      "pos:\t0\nino:\t12\nSqMask:\t0x7f\nSqHead:\t0\nCqMask:\t0xff\nUserFiles:\t1\n    0: file\nUserBufs:\t2\n"
      "    0: 0x7f0000000000/4096\n    1: 0x7f0000001000/8192\nPollList:\n  op=1, task_works=0/9\n",
      {5, "db"}, lines);
  EXPECT_EQ(lines.text, "io_uring\tpid=5\tprocess=db\tsq_entries=128\tcq_entries=256\tbuffers=12288\n");
  for (const char* const damaged : {"", "SqMask:\t0x\nCqMask:\t0xff\n", "SqMask:\t0xffffffff\nCqMask:\t0xff\n"})
    add_io_uring(damaged, {5, "db"}, lines);
  EXPECT_EQ(std::ranges::count(lines.text, '\n'), 1);
}

TEST(Owners, GpuClientsAreReadFromFdinfo) {
  const std::string fdinfo =
      "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:01:00.0\ndrm-total-gtt:\t9 MiB\ndrm-memory-gtt:\t12 "
      "KiB\n"
      "drm-resident-vram:\t1 MiB\ndrm-total-cpu:\t0\ndrm-total-bad:\t9 GiB\n";
  EXPECT_EQ(gpu_client(fdinfo), "amdgpu 0000:01:00.0 7");
  EXPECT_EQ(gpu_client("drm-driver:\tamdgpu\n"), "");
  OwnerLines lines;
  add_gpu_client(fdinfo, {8, "X"}, lines);
  EXPECT_EQ(lines.text,
            "gpu\tpid=8\tprocess=X\tdriver=amdgpu\tdevice=0000:01:00.0\tregion=vram\tbytes=1048576\n"
            "gpu\tpid=8\tprocess=X\tdriver=amdgpu\tdevice=0000:01:00.0\tregion=gtt\tbytes=12288\n");
}

TEST(Owners, DmaBufsAreReadFromBufinfo) {
  OwnerLines lines;
  add_dma_bufs(
      "\nDma-buf Objects:\n"
      "size    \tflags   \tmode    \tcount   \texp_name\tino     \tname\n"
      "00065536\t00000002\t00080007\t00000002\tsystem\t00001234\tcamera 1\n"
      "\tAttached Devices:\nTotal 0 devices attached\n\n"
      "123456789\t00000002\t00080007\t00000002\tudmabuf\n"
      "Total 2 objects, 123522325 bytes\n",
      lines);
  EXPECT_EQ(lines.text,
            "dma_buf\tsize=65536\texporter=system\tino=00001234\tname=camera 1\n"
            "dma_buf\tsize=123456789\texporter=udmabuf\tino=\tname=\n");
}

// The layout of struct packet_diag_msg and packet_diag_ring in linux/packet_diag.h.
TEST(Owners, PacketRingsAreReadFromNetlink) {
  HeldObjects held;
  held.sockets[77] = kHolder;
  Message message;
  message.add(std::uint32_t{17}).add(std::uint32_t{77}).add(std::uint64_t{0});
  message.attribute(0, std::array<std::uint32_t, 6>{0});
  message.attribute(2, std::array<std::uint32_t, 7>{65536, 16, 2048, 512});
  message.attribute(6, std::array<std::uint32_t, 9>{300, 0, 20});
  OwnerLines lines;
  add_packet_socket(message.bytes, held, lines);
  EXPECT_EQ(lines.text,
            "socket\tpid=7\tprocess=a?b\tfamily=packet\treceived=300\tsent=20\n"
            "packet_ring\tpid=7\tprocess=a?b\tino=77\tinterface=all\tblock_size=65536\tblocks=16\n");
  // No part of a message makes the program read outside of it.
  for (std::size_t length = 0; length < message.bytes.size(); ++length) {
    OwnerLines some;
    add_packet_socket({message.bytes.data(), length}, held, some);
    EXPECT_LE(some.text.size(), lines.text.size());
  }
}

// The message has the layout of struct xdp_diag_msg, xdp_diag_umem and xdp_diag_ring in linux/xdp_diag.h.
TEST(Owners, XdpRingsAreReadFromNetlink) {
  HeldObjects held;
  held.sockets[77] = kHolder;
  Message message;
  message.add(std::uint32_t{44}).add(std::uint32_t{77}).add(std::uint64_t{0});
  message.attribute(1, std::array<std::uint32_t, 2>{0xfffffff, 3});
  message.attribute(3, std::uint32_t{4096});
  message.attribute(5, std::array<std::uint32_t, 10>{1 << 24, 0, 9, 4096, 4096, 0, 0xfffffff, 3, 0, 2});
  message.attribute(6, std::uint32_t{2048}).attribute(7, std::uint32_t{1024});
  OwnerLines lines;
  ShownXdp shown;
  add_xdp_socket(message.bytes, held, shown, lines);
  EXPECT_EQ(
      lines.text,
      "xdp\tpid=7\tprocess=a?b\tino=77\tinterface=interface 268435455\trx=4096\ttx=0\tfill=2048\tcompletion=1024\t"
      "umem=16777216\n");
  // A second socket shares the umem and the rings of the queue.
  lines.text.clear();
  add_xdp_socket(message.bytes, held, shown, lines);
  EXPECT_EQ(
      lines.text,
      "xdp\tpid=7\tprocess=a?b\tino=77\tinterface=interface 268435455\trx=4096\ttx=0\tfill=0\tcompletion=0\tumem=0\n");
  for (std::size_t length = 0; length < message.bytes.size(); ++length) {
    OwnerLines some;
    ShownXdp none;
    add_xdp_socket({message.bytes.data(), length}, held, none, some);
    EXPECT_LE(std::ranges::count(some.text, '\n'), 1);
  }
}

// The rings count as vmalloc memory only if vmallocinfo has them.
TEST(Owners, XdpRingsAreVmallocMemoryInSomeKernels) {
  constexpr const char* kLine =
      "xdp\tpid=5\tprocess=fw\tino=9\tinterface=eth0\trx=65536\ttx=65536\tfill=2048\tcompletion=2048\tumem=16777216\n";
  const auto owners = [&](std::string function) {
    KernelMemory memory;
    if (!function.empty()) memory.vmalloc.push_back({std::move(function), 4, 4 * kPage, 4});
    parse_owners(kLine, memory);
    std::string all;
    for (const MemoryOwner& owner : memory.owners)
      all += fmt::format("{}; {} {}; {}\n", full_name(owner), owner.bytes, describe(owner.exactness).id,
                         describe(owner.place).id);
    return all;
  };
  constexpr const char* kPackets = "AF_XDP: fw (pid 5), memory for packets; 16777216 exact; user\n";
  // Linux 6.18 showed 257 and 5 pages for rings with these numbers of entries.
  for (const char* const function : {"xskq_create", "xsk_setsockopt"})
    EXPECT_EQ(owners(function),
              fmt::format("AF_XDP: fw (pid 5) on eth0; {} exact; counted_kernel\n{}", 2 * (257 + 5) * kPage, kPackets));
  EXPECT_EQ(owners("kernel_clone"),
            fmt::format("AF_XDP: fw (pid 5) on eth0; {} exact; unaccounted\n{}", 2 * (512 + 8) * kPage, kPackets));
  EXPECT_EQ(owners(""), fmt::format("AF_XDP: fw (pid 5) on eth0; {} upper_bound; partly_unaccounted\n{}",
                                    2 * (512 + 8) * kPage, kPackets));
}

TEST(Owners, PagePoolsAreReadFromNetlink) {
  Message message;
  message.add(std::uint32_t{0});  // struct genlmsghdr
  message.attribute(1, std::uint32_t{12}).attribute(2, std::uint32_t{0xfffffff}).attribute(3, std::uint32_t{513});
  message.attribute(4, std::uint32_t{2}).attribute(5, std::uint64_t{8192}).attribute(6, std::uint64_t{99});
  OwnerLines lines;
  add_page_pool(message.bytes, lines);
  EXPECT_EQ(lines.text,
            "page_pool\tid=12\tinterface=interface 268435455\tnapi=513\tinflight_mem=8192\tdetached=1\tof_others=0\n");
  for (std::size_t length = 0; length < message.bytes.size(); ++length) {
    OwnerLines some;
    add_page_pool({message.bytes.data(), length}, some);
    EXPECT_LE(some.text.size(), lines.text.size());
  }
}

TEST(Owners, MessagesOfNetlinkAreSplit) {
  Message message;
  const auto header = [&](std::uint32_t length, std::uint16_t type) {
    message.add(length).add(type).add(std::uint16_t{0}).add(std::uint64_t{0});
  };
  header(18, 20);
  message.add(std::uint32_t{0xbbaa});  // 2 bytes, and 2 to the next multiple of 4
  header(20, 3);                       // NLMSG_DONE
  message.add(std::int32_t{0});
  std::vector<std::size_t> sizes;
  const auto take = [&](NetlinkBytes bytes) { sizes.push_back(bytes.size()); };
  EXPECT_TRUE(each_message(message.bytes, take).is_done);
  EXPECT_EQ(sizes, std::vector<std::size_t>{2});
  EXPECT_FALSE(each_message({message.bytes.data(), 20}, take).is_done);
  EXPECT_EQ(each_message({message.bytes.data(), 17}, take).error, EBADMSG);
  message.bytes[0] = 0;  // shorter than a header
  EXPECT_EQ(each_message(message.bytes, take).error, EBADMSG);
}

TEST(Owners, GrowthIsByOwner) {
  const auto before = parsed("pipe\tpid=1\tprocess=a\tbytes=1\npipe\tpid=2\tprocess=b\tbytes=9000\n");
  const auto after = parsed(
      "pipe\tpid=1\tprocess=a\tbytes=1\nftrace\tinstance=x\tsize_kb=7\tsubbuf_kb=4\n"
      "pipe\tpid=3\tprocess=c\tbytes=5000\n");
  const std::vector<OwnerGrowth> growth = growth_of_owners(before, after);
  ASSERT_EQ(growth.size(), 3u);
  EXPECT_EQ(growth[0].owner.name, "instance x");
  EXPECT_EQ(growth[0].after - growth[0].before, 3 * kPage);
  EXPECT_EQ(growth[1].owner.name, "c (pid 3)");
  EXPECT_EQ(growth[2].owner.name, "b (pid 2)");
  EXPECT_EQ(growth[2].before, 3 * kPage);
  EXPECT_EQ(growth[2].after, 0u);
}

}  // namespace
}  // namespace kmt
