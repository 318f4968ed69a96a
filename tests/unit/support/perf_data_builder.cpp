// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/perf_data_builder.hpp"

#include <algorithm>

#include <zstd.h>

namespace kmt::test {

namespace {

constexpr std::size_t kHeaderBytes = 104, kAttributeBytes = 128, kSectionBytes = 16;
constexpr unsigned kTracingData = 1;

}  // namespace

void PerfData::append_record(ByteBuilder& out, std::uint32_t type, std::uint16_t misc, const Octets& payload) {
  out.u32(type).u16(misc).u16(static_cast<std::uint16_t>(8 + payload.size())).bytes(payload);
}

PerfData& PerfData::record(std::uint32_t type, std::uint16_t misc, const Octets& payload) {
  ByteBuilder out = bytes();
  append_record(out, type, misc, payload);
  return append(out.get());
}

PerfData& PerfData::append(const Octets& more) {
  records_.insert(records_.end(), more.begin(), more.end());
  return *this;
}

PerfData& PerfData::sample(const PerfSample& sample, const PerfAttribute& attribute) {
  const auto has = [&attribute](std::uint64_t bit) { return (attribute.sample_type & bit) != 0; };
  ByteBuilder out = bytes();
  if (has(kIdentifier)) out.u64(sample.id);
  if (has(kIp)) out.u64(0x1111);
  if (has(kTid)) out.u32(7).u32(8);
  if (has(kTime)) out.u64(sample.time);
  if (has(kAddr)) out.u64(0x2222);
  if (has(kId)) out.u64(sample.id);
  if (has(kStreamId)) out.u64(0x3333);
  if (has(kCpu)) out.u32(sample.cpu).u32(0);
  if (has(kPeriod)) out.u64(1);
  if (has(kRead))
    for (const std::uint64_t value : sample.values) out.u64(value);
  if (has(kCallchain)) {
    out.u64(sample.chain.size());
    for (const std::uint64_t address : sample.chain) out.u64(address);
  }
  if (has(kRaw)) {
    const std::size_t padded = (sample.raw.size() + 4 + 7) / 8 * 8 - 4;
    out.u32(static_cast<std::uint32_t>(padded)).bytes(sample.raw).align(8);
  }
  for (const std::uint64_t number : sample.after_raw) out.u64(number);
  return record(9, 1, out.get());
}

PerfData& PerfData::kernel_record(std::uint32_t type, const Octets& payload, std::uint64_t time, std::uint32_t cpu,
                                  std::uint64_t id, std::uint16_t misc) {
  const std::uint64_t has = attributes.front().sample_type;
  ByteBuilder out = bytes();
  out.bytes(payload);
  if ((has & kTid) != 0) out.u32(7).u32(8);
  if ((has & kTime) != 0) out.u64(time);
  if ((has & kId) != 0) out.u64(id);
  if ((has & kStreamId) != 0) out.u64(0);
  if ((has & kCpu) != 0) out.u32(cpu).u32(0);
  if ((has & kIdentifier) != 0) out.u64(id);
  return record(type, misc, out.get());
}

PerfData& PerfData::lost(std::uint64_t count, std::uint64_t time, std::uint32_t cpu) {
  return kernel_record(2, bytes().u64(1).u64(count).get(), time, cpu);
}

PerfData& PerfData::comm(std::int32_t process, std::int32_t task, const std::string& name, std::uint64_t time) {
  ByteBuilder out = bytes();
  out.u32(static_cast<std::uint32_t>(process)).u32(static_cast<std::uint32_t>(task)).c_string(name).align(8);
  return kernel_record(3, out.get(), time, 0);
}

PerfData& PerfData::fork(std::int32_t process, std::int32_t task, std::int32_t parent, std::uint64_t time) {
  ByteBuilder out = bytes();
  out.u32(static_cast<std::uint32_t>(process)).u32(static_cast<std::uint32_t>(parent));
  out.u32(static_cast<std::uint32_t>(task)).u32(static_cast<std::uint32_t>(parent)).u64(time);
  return kernel_record(7, out.get(), time, 0);
}

PerfData& PerfData::compress(std::size_t piece, std::uint32_t type) {
  Octets packed(ZSTD_compressBound(records_.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), records_.data(), records_.size(), 1));
  records_.clear();
  for (std::size_t at = 0; at < packed.size(); at += piece) {
    const auto end = std::min(packed.size(), at + piece);
    const Octets part(packed.begin() + static_cast<std::ptrdiff_t>(at),
                      packed.begin() + static_cast<std::ptrdiff_t>(end));
    ByteBuilder payload = bytes();
    if (type == 83) payload.u64(part.size());
    payload.bytes(part);
    if (type == 83) payload.align(8);
    record(type, 0, payload.get());
  }
  return *this;
}

Octets PerfData::attribute_bytes(const PerfAttribute& attribute) const {
  std::uint64_t flags = 0;
  for (const unsigned bit : attribute.flags)
    flags |= std::uint64_t{1} << (machine_.order == ByteOrder::little ? bit : 63 - bit);
  ByteBuilder out = bytes();
  out.u32(attribute.type).u32(kAttributeBytes).u64(attribute.config).u64(attribute.period);
  out.u64(attribute.sample_type).u64(attribute.read_format).u64(flags);
  out.pad_to(72).u64(attribute.branch_type).u64(attribute.user_registers);
  return out.pad_to(92).u32(static_cast<std::uint32_t>(attribute.clock)).pad_to(kAttributeBytes).get();
}

// Returns the start of a version 6 trace.dat, without the name of the format. The rest of that file follows; a reader
// must ignore it.
Octets PerfData::tracing_data() const {
  TraceDat dat;
  dat.machine = machine_;
  dat.formats = kmem_formats(machine_);
  dat.kallsyms.clear();
  const Octets whole = dat.version_6();
  const std::string magic = "\x17\x08\x44tracing";
  ByteBuilder out = bytes();
  out.text(magic).c_string("0.6");
  return out.bytes(Octets(whole.begin() + static_cast<std::ptrdiff_t>(magic.size() + 2), whole.end())).get();
}

Octets PerfData::text(const std::string& value) const {
  ByteBuilder padded = bytes();
  padded.c_string(value).align(64);
  return bytes().u32(static_cast<std::uint32_t>(padded.size())).bytes(padded.get()).get();
}

std::size_t PerfData::data_offset() const {
  std::size_t ids = 0;
  for (const PerfAttribute& attribute : attributes) ids += attribute.ids.size();
  return kHeaderBytes + attributes.size() * (kAttributeBytes + kSectionBytes) + 8 * ids;
}

Octets PerfData::file() const {
  std::vector<std::pair<unsigned, Octets>> sections = features;
  if (with_tracing_data) sections.insert(sections.begin(), {kTracingData, tracing_data()});
  std::uint64_t words[4] = {};
  for (const auto& [number, contents] : sections) words[number / 64] |= std::uint64_t{1} << number % 64;

  ByteBuilder out = bytes();
  out.text(machine_.order == ByteOrder::little ? "PERFILE2" : "2ELIFREP").u64(kHeaderBytes);
  out.u64(kAttributeBytes + kSectionBytes).u64(kHeaderBytes).u64(attributes.size() * (kAttributeBytes + kSectionBytes));
  out.u64(data_offset()).u64(records_.size()).u64(0).u64(0);
  for (const std::uint64_t word : words) {
    if (machine_.long_bytes == 8)
      out.u64(word);
    else
      out.u32(static_cast<std::uint32_t>(word)).u32(static_cast<std::uint32_t>(word >> 32));
  }
  std::size_t ids_at = kHeaderBytes + attributes.size() * (kAttributeBytes + kSectionBytes);
  for (const PerfAttribute& attribute : attributes) {
    out.bytes(attribute_bytes(attribute)).u64(ids_at).u64(8 * attribute.ids.size());
    ids_at += 8 * attribute.ids.size();
  }
  for (const PerfAttribute& attribute : attributes)
    for (const std::uint64_t id : attribute.ids) out.u64(id);
  out.bytes(records_);
  std::size_t at = out.size() + kSectionBytes * sections.size();
  for (const auto& [number, contents] : sections) {
    out.u64(at).u64(contents.size());
    at += contents.size();
  }
  for (const auto& [number, contents] : sections) out.bytes(contents);
  return out.get();
}

Octets PerfData::pipe() const {
  ByteBuilder out = bytes();
  out.text(machine_.order == ByteOrder::little ? "PERFILE2" : "2ELIFREP").u64(16);
  for (const PerfAttribute& attribute : attributes) {
    ByteBuilder payload = bytes();
    payload.bytes(attribute_bytes(attribute));
    for (const std::uint64_t id : attribute.ids) payload.u64(id);
    append_record(out, 64, 0, payload.get());
  }
  for (const auto& [number, contents] : features)
    append_record(out, 80, 0, bytes().u64(number).bytes(contents).align(8).get());
  if (with_tracing_data) {
    const Octets tracing = tracing_data();
    append_record(out, 66, 0, bytes().u32(static_cast<std::uint32_t>(tracing.size())).get());
    ByteBuilder padded = bytes();
    out.bytes(padded.bytes(tracing).align(8).get());
  }
  return out.bytes(records_).get();
}

}  // namespace kmt::test
