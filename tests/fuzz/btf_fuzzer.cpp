// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as the types of a kernel. Signatures of functions, values reached by paths, and names of types must
// not crash, hang or use excessive memory. Input that is not BTF is read as an ELF file, which may contain BTF.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "memory_file.hpp"
#include "symbols/call_signatures.hpp"
#include "symbols/value_paths.hpp"

namespace {

// Maximum number of functions that are looked up in an input. Each look-up takes time.
constexpr std::size_t kMostFunctions = 64;
constexpr std::uint32_t kMostTypes = 256;

void resolve(const kmt::Btf& btf, const std::string& function, const std::string& text) {
  try {
    (void)kmt::resolve_value(btf, kmt::CallAbi{}, function, text);
  } catch (const kmt::Error&) {
    // expected: the function or type lacks the named value
  }
}

// Resolves an argument and its direct members.
void follow(const kmt::Btf& btf, const std::string& function, const kmt::CallSignature& signature) {
  for (const kmt::Parameter& parameter : signature.parameters) {
    resolve(btf, function, parameter.name);
    resolve(btf, function, parameter.name + "->?");  // the error message lists the members
    resolve(btf, function, parameter.name + "[2]");
    if (!parameter.type.members) continue;
    for (const kmt::StructureMember& member : *parameter.type.members)
      resolve(btf, function, parameter.name + "." + member.name);
  }
}

void read(const kmt::Btf& btf, unsigned word_bits) {
  std::vector<std::string> functions = btf.functions();
  functions.resize(std::min(functions.size(), kMostFunctions));
  std::vector<kmt::RecordedFunction> recorded;
  for (std::uint32_t id = 1; const std::string& function : functions)
    recorded.push_back({function, {{"a", false, id++, 3, 2}, {"b", true, 0, 0, 0}}});
  const kmt::BtfSignatures signatures(btf, recorded, word_bits, word_bits == 64 ? "x86_64" : "");
  for (const std::string& function : functions)
    if (const auto signature = signatures.signature(function)) follow(btf, function, *signature);
  for (std::uint32_t id = 0; id < kMostTypes; ++id) (void)signatures.value_type(id);
  for (std::uint32_t id = 0; id < kMostTypes; ++id) {
    (void)kmt::type_text(btf, id);
    (void)btf.size_of(id);
    (void)btf.is_character(id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const unsigned word_bits = size % 2 == 0 ? 64 : 32;
  try {
    read(kmt::Btf({data, size}), word_bits);
    return 0;
  } catch (const kmt::Error&) {
    // expected: the input is not BTF
  }
  try {
    const kmt::MemoryFile file(data, size);
    read(kmt::Btf(file.path()), word_bits);
  } catch (const kmt::Error&) {
    // expected: the file has no BTF
  }
  return 0;
}
