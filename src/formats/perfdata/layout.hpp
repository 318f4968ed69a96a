// SPDX-License-Identifier: GPL-2.0-or-later
// Constants of the perf.data format. Sources: include/uapi/linux/perf_event.h of Linux 7.3,
// tools/lib/perf/include/perf/event.h and tools/perf/Documentation/perf.data-file-format.txt of Linux 6.18.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt::perfdata {

constexpr std::string_view kMagicLittle = "PERFILE2";
constexpr std::string_view kMagicBig = "2ELIFREP";  // the magic number as written on a big-endian machine
constexpr std::uint64_t kFileHeaderBytes = 104;
constexpr std::uint64_t kPipeHeaderBytes = 16;
constexpr std::uint64_t kLeastAttributeBytes = 64;  // PERF_ATTR_SIZE_VER0
constexpr std::uint64_t kRecordHeaderBytes = 8;
constexpr unsigned kFeatureBits = 256;

// Types of records. perf itself writes records with types from kUserTypes on, and the kernel writes the others.
enum RecordType : std::uint32_t {
  kMmap = 1,
  kLost = 2,
  kComm = 3,
  kThrottle = 5,
  kFork = 7,
  kSample = 9,
  kMmap2 = 10,
  kLostSamples = 13,
  kCallchainDeferred = 22,  // since Linux 6.19
  kLastKernelType = kCallchainDeferred,
  kUserTypes = 64,
  kHeaderAttr = 64,
  kHeaderTracingData = 66,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kIdIndex = 69,
  kAuxtrace = 71,
  kEventUpdate = 78,
  kHeaderFeature = 80,
  kCompressed = 81,
  kCompressed2 = 83,  // since Linux 6.16; starts with the size of the data, so that records stay aligned
  kLastUserType = 84,
};
constexpr bool is_known_type(std::uint32_t type) {
  return (type > 0 && type <= kLastKernelType) || (type >= kUserTypes && type <= kLastUserType);
}

// Bit of `misc` in kLostSamples: a filter dropped the samples (PERF_RECORD_MISC_LOST_SAMPLES_BPF).
constexpr std::uint16_t kDroppedByFilter = 1u << 15;

// Bits of perf_event_attr::sample_type. Up to kUserRegisters, they are in the order of a sample's fields.
struct SampleBits {
  static constexpr std::uint64_t kIp = 1u << 0;
  static constexpr std::uint64_t kTid = 1u << 1;
  static constexpr std::uint64_t kTime = 1u << 2;
  static constexpr std::uint64_t kAddr = 1u << 3;
  static constexpr std::uint64_t kRead = 1u << 4;
  static constexpr std::uint64_t kCallchain = 1u << 5;
  static constexpr std::uint64_t kId = 1u << 6;
  static constexpr std::uint64_t kCpu = 1u << 7;
  static constexpr std::uint64_t kPeriod = 1u << 8;
  static constexpr std::uint64_t kStreamId = 1u << 9;
  static constexpr std::uint64_t kRaw = 1u << 10;
  static constexpr std::uint64_t kBranchStack = 1u << 11;
  static constexpr std::uint64_t kUserRegisters = 1u << 12;
  static constexpr std::uint64_t kUserMemory = 1u << 13;
  static constexpr std::uint64_t kIdentifier = 1u << 16;
};

// Bits of perf_event_attr::branch_sample_type. They add fields to the branches of a sample.
struct BranchBits {
  static constexpr std::uint64_t kHardwareIndex = 1u << 17;
  static constexpr std::uint64_t kCounters = 1u << 19;
};

struct ReadBits {
  static constexpr std::uint64_t kTimeEnabled = 1u << 0;
  static constexpr std::uint64_t kTimeRunning = 1u << 1;
  static constexpr std::uint64_t kId = 1u << 2;
  static constexpr std::uint64_t kGroup = 1u << 3;
  static constexpr std::uint64_t kLost = 1u << 4;
};

constexpr std::uint32_t kTypeTracepoint = 2;       // perf_event_attr::type
constexpr std::uint16_t kCpuModeMask = 7;          // bits of a record's `misc` that are the CPU's mode
constexpr std::uint16_t kCpuModeKernel = 1;        // PERF_RECORD_MISC_KERNEL
constexpr std::uint16_t kCpuModeUser = 2;          // PERF_RECORD_MISC_USER
constexpr std::uint16_t kCommExec = 1u << 13;      // PERF_RECORD_MISC_COMM_EXEC
constexpr std::uint16_t kMmapBuildId = 1u << 14;   // PERF_RECORD_MISC_MMAP_BUILD_ID
constexpr std::uint16_t kBuildIdSized = 1u << 15;  // PERF_RECORD_MISC_BUILD_ID_SIZE

// Call chain entries from this value on are markers. A marker says whether kernel or user addresses follow.
constexpr std::uint64_t kFirstMark = ~std::uint64_t{4095} + 1;  // PERF_CONTEXT_MAX
constexpr std::uint64_t kKernelMark = ~std::uint64_t{128} + 1;  // PERF_CONTEXT_KERNEL
constexpr std::uint64_t kUserMark = ~std::uint64_t{512} + 1;    // PERF_CONTEXT_USER
// PERF_CONTEXT_USER_DEFERRED: the next entry is the cookie of the kCallchainDeferred record with the user addresses.
constexpr std::uint64_t kDeferredMark = ~std::uint64_t{640} + 1;

// Numbers of features, which are sections after the data, or kHeaderFeature records.
enum Feature : unsigned {
  kTracingData = 1,
  kBuildId = 2,
  kHostname = 3,
  kOsRelease = 4,
  kPerfVersion = 5,
  kArch = 6,
  kCpuCount = 7,
  kCommandLine = 11,
  kEventDescription = 12,
  kNumaTopology = 14,
  kClockData = 29,
};

}  // namespace kmt::perfdata
