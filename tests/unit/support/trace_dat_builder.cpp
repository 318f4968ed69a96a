// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/trace_dat_builder.hpp"

#include <fmt/format.h>

namespace kmt::test {

namespace {

// Builds the text of a format file field by field, with the offsets that a C compiler for the machine would choose.
class FormatText {
 public:
  FormatText(Machine machine, std::string name, unsigned id) : machine_(machine) {
    text_ = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
    field("unsigned short common_type", 2, false);
    field("unsigned char common_flags", 1, false);
    field("unsigned char common_preempt_count", 1, false);
    field("int common_pid", 4, true);
    text_ += "\n";
  }
  FormatText& field(const std::string& declaration, unsigned size, bool is_signed) {
    offset_ = (offset_ + size - 1) / size * size;
    text_ += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{:d};\n", declaration, offset_, size, is_signed);
    offset_ += size;
    return *this;
  }
  FormatText& word(const std::string& declaration) { return field(declaration, machine_.long_bytes, false); }
  std::string text() const { return text_ + "\nprint fmt: \"%lx\", REC->call_site\n"; }

 private:
  Machine machine_;
  std::string text_;
  unsigned offset_ = 0;
};

ByteBuilder common(Machine machine, std::uint16_t id, std::int32_t pid, std::uint8_t flags) {
  ByteBuilder record(machine);
  record.u16(id).u8(flags).u8(0).u32(static_cast<std::uint32_t>(pid));
  return record;
}

std::string header_page(Machine machine, std::uint32_t page_size) {
  const unsigned data = 8 + machine.long_bytes;
  return fmt::format(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:{};\tsize:{};\tsigned:1;\n",
      machine.long_bytes, data, page_size - data);
}

ByteBuilder header_info(const TraceDat& dat) {
  const std::string page = header_page(dat.machine, dat.page_size);
  const std::string event = "# compressed entry header\n";
  ByteBuilder out(dat.machine);
  out.c_string("header_page").u64(page.size()).text(page).c_string("header_event").u64(event.size()).text(event);
  return out;
}

ByteBuilder event_formats(const TraceDat& dat) {
  ByteBuilder out(dat.machine);
  out.u32(static_cast<std::uint32_t>(dat.formats.size()));
  for (const auto& [system, text] : dat.formats) out.c_string(system).u32(1).u64(text.size()).text(text);
  return out;
}

ByteBuilder initial(const TraceDat& dat, const char* version) {
  ByteBuilder out(dat.machine);
  out.text("\x17\x08\x44tracing").c_string(version);
  out.u8(dat.machine.order == ByteOrder::big ? 1 : 0).u8(static_cast<std::uint8_t>(dat.machine.long_bytes));
  out.u32(dat.page_size);
  return out;
}

std::vector<std::uint8_t> joined(const std::vector<Page>& pages) {
  std::vector<std::uint8_t> bytes;
  for (const Page& page : pages) bytes.insert(bytes.end(), page.begin(), page.end());
  return bytes;
}

// Writes the tag, the offset and size of each CPU's data, then the data, aligned to pages.
void append_flyrecord(ByteBuilder& out, const TraceDat& dat, const std::vector<std::vector<Page>>& cpus) {
  out.c_string("flyrecord");
  std::size_t offset = out.size() + 16 * cpus.size();
  for (const std::vector<Page>& pages : cpus) {
    offset = (offset + dat.page_size - 1) / dat.page_size * dat.page_size;
    const std::size_t size = joined(pages).size();
    out.u64(offset).u64(size);
    offset += size;
  }
  for (const std::vector<Page>& pages : cpus) out.align(dat.page_size).bytes(joined(pages));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> kmem_formats(Machine machine) {
  FormatText kmalloc(machine, "kmalloc", kKmallocId);
  kmalloc.word("unsigned long call_site").word("const void * ptr").word("size_t bytes_req").word("size_t bytes_alloc");
  kmalloc.word("unsigned long gfp_flags").field("int node", 4, true);
  FormatText kfree(machine, "kfree", kKfreeId);
  kfree.word("unsigned long call_site").word("const void * ptr");
  FormatText cache_free(machine, "kmem_cache_free", kCacheFreeId);
  cache_free.word("unsigned long call_site").word("const void * ptr").field("__data_loc char[] name", 4, true);
  FormatText page_alloc(machine, "mm_page_alloc", kPageAllocId);
  page_alloc.word("unsigned long pfn").field("unsigned int order", 4, false);
  page_alloc.word("unsigned long gfp_flags").field("int migratetype", 4, true);
  FormatText page_free(machine, "mm_page_free", kPageFreeId);
  page_free.word("unsigned long pfn").field("unsigned int order", 4, false);
  return {{"kmem", kmalloc.text()},
          {"kmem", kfree.text()},
          {"kmem", cache_free.text()},
          {"kmem", page_alloc.text()},
          {"kmem", page_free.text()}};
}

Page kmalloc_record(Machine machine, std::uint64_t call_site, std::uint64_t ptr, std::uint64_t requested,
                    std::uint64_t allocated, std::int32_t pid, std::uint8_t flags) {
  ByteBuilder record = common(machine, kKmallocId, pid, flags);
  record.word(call_site).word(ptr).word(requested).word(allocated).word(0xdc0).u32(static_cast<std::uint32_t>(-1));
  return record.align(4).get();
}

Page kfree_record(Machine machine, std::uint64_t call_site, std::uint64_t ptr, std::int32_t pid) {
  return common(machine, kKfreeId, pid, 0).word(call_site).word(ptr).get();
}

Page cache_free_record(Machine machine, std::uint64_t call_site, std::uint64_t ptr, const std::string& name) {
  ByteBuilder record = common(machine, kCacheFreeId, 7, 0);
  record.word(call_site).word(ptr);
  const auto offset = static_cast<std::uint32_t>(record.size() + 4);
  const auto length = static_cast<std::uint32_t>(name.size() + 1);
  return record.u32(length << 16 | offset).c_string(name).align(4).get();
}

Page page_alloc_record(Machine machine, std::uint64_t pfn, std::uint32_t order) {
  ByteBuilder record = common(machine, kPageAllocId, 7, 0);
  record.word(pfn).u32(order);
  record.align(machine.long_bytes).word(0xdc0).u32(0);
  return record.align(4).get();
}

Page page_free_record(Machine machine, std::uint64_t pfn, std::uint32_t order) {
  return common(machine, kPageFreeId, 7, 0).word(pfn).u32(order).get();
}

std::vector<std::uint8_t> TraceDat::version_6() const {
  ByteBuilder out = initial(*this, "6");
  out.bytes(header_info(*this).get());
  out.u32(0);  // ftrace formats
  out.bytes(event_formats(*this).get());
  out.u32(static_cast<std::uint32_t>(kallsyms.size())).text(kallsyms);
  const std::string comms = "7 worker\n";
  out.u32(0);  // printk formats
  out.u64(comms.size()).text(comms);
  out.u32(static_cast<std::uint32_t>(cpus.size()));

  // The data of instances is at the end of the file, but options before it contain its offset. So the front part is
  // built twice.
  const auto with_options = [this, &out](const std::vector<std::uint64_t>& places) {
    ByteBuilder whole = out;
    whole.c_string("options  ");
    for (const auto& [id, value] : options) whole.u16(id).u32(static_cast<std::uint32_t>(value.size())).text(value);
    for (std::size_t i = 0; i < instances.size(); ++i)
      whole.u16(3)
          .u32(static_cast<std::uint32_t>(8 + instances[i].first.size() + 1))
          .u64(places[i])
          .c_string(instances[i].first);
    whole.u16(0);
    append_flyrecord(whole, *this, cpus);
    return whole;
  };
  std::vector<std::uint64_t> places(instances.size());
  ByteBuilder whole = with_options(places);
  for (std::size_t i = 0; i < instances.size(); ++i) {
    places[i] = whole.size();
    append_flyrecord(whole, *this, instances[i].second);
  }
  ByteBuilder result = with_options(places);
  for (const auto& [name, instance_cpus] : instances) append_flyrecord(result, *this, instance_cpus);
  return result.get();
}

std::vector<std::uint8_t> TraceDat::version_7() const {
  ByteBuilder out = initial(*this, "7");
  out.c_string("none").c_string("");
  const std::size_t options_place = out.size();
  out.u64(0);

  std::vector<std::pair<std::uint16_t, std::uint64_t>> sections;
  const auto section = [&](std::uint16_t id, const ByteBuilder& body) {
    sections.emplace_back(id, out.size());
    out.u16(id).u16(0).u32(0).u64(body.size()).bytes(body.get());
  };
  section(16, header_info(*this));
  section(18, event_formats(*this));
  ByteBuilder symbols(machine);
  section(19, symbols.u32(static_cast<std::uint32_t>(kallsyms.size())).text(kallsyms));
  ByteBuilder types(machine);
  if (!btf.empty()) section(23, types.u64(btf.size()).bytes(btf));
  ByteBuilder comms(machine);
  section(21, comms.u64(9).text("7 worker\n"));

  // Writes the sections in trace-cmd's order: a first options section, the data, and a second options section with the
  // buffers.
  const std::size_t first_options = out.size();
  ByteBuilder first(machine);
  for (const auto& [id, place] : sections) first.u16(id).u32(8).u64(place);
  for (const auto& [id, value] : options) first.u16(id).u32(static_cast<std::uint32_t>(value.size())).text(value);
  first.u16(8).u32(4).u32(static_cast<std::uint32_t>(cpus.size()));
  first.u16(0).u32(8);
  const std::size_t next_place = first_options + 16 + first.size();
  out.u16(0).u16(0).u32(0).u64(first.size() + 8).bytes(first.get()).u64(0);

  ByteBuilder second(machine);
  const auto buffer = [&](const std::string& name, const std::vector<std::vector<Page>>& buffer_cpus) {
    const std::size_t place = out.size();
    std::size_t data = 0;
    for (const std::vector<Page>& pages : buffer_cpus) data += joined(pages).size();
    out.u16(3).u16(0).u32(0).u64(data);
    ByteBuilder value(machine);
    value.u64(place).c_string(name).c_string("global").u32(page_size).u32(
        static_cast<std::uint32_t>(buffer_cpus.size()));
    for (std::size_t cpu = 0; cpu < buffer_cpus.size(); ++cpu) {
      out.align(page_size);
      const std::vector<std::uint8_t> pages = joined(buffer_cpus[cpu]);
      value.u32(static_cast<std::uint32_t>(cpu)).u64(out.size()).u64(pages.size());
      out.bytes(pages);
    }
    second.u16(3).u32(static_cast<std::uint32_t>(value.size())).bytes(value.get());
  };
  buffer("", cpus);
  for (const auto& [name, instance_cpus] : instances) buffer(name, instance_cpus);
  second.u16(0).u32(8).u64(0);
  const std::size_t second_options = out.size();
  out.u16(0).u16(0).u32(0).u64(second.size()).bytes(second.get());

  std::vector<std::uint8_t> file = out.get();
  store<std::uint64_t>(file.data() + options_place, first_options, machine.order);
  store<std::uint64_t>(file.data() + next_place, second_options, machine.order);
  return file;
}

}  // namespace kmt::test
