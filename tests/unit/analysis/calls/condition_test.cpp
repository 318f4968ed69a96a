// SPDX-License-Identifier: GPL-2.0-or-later
// Tests conditions on calls: which values satisfy them, depending on the types of arguments and results, and which
// conditions are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/calls/condition.hpp"
#include "support/made_types.hpp"
#include "symbols/call_signatures.hpp"
#include "symbols/call_types.hpp"

namespace kmt {
namespace {

using test::ByteBuilder;
using test::Machine;
using test::MadeFiles;
using test::MadeTypes;

CallAbi abi_of(Machine machine) { return {machine.order, 8 * machine.long_bytes, "x86_64"}; }

// Returns the error and its hint if the condition is refused, otherwise "holds" or "does not hold".
std::string judged(const std::string& text, const CallSignature& signature, const CallValues& values,
                   const std::vector<FlagName>* gfp_flags = nullptr) {
  try {
    CallConditions conditions({parse_call_condition(text)}, gfp_flags);
    conditions.add(3, "function", &signature);
    conditions.check();
    return conditions.hold(3, values) ? "holds" : "does not hold";
  } catch (const Error& error) {
    return std::string(error.what()) + " / " + error.hint();
  }
}

TEST(CallCondition, ComparesByType) {
  const Machine machine;
  const Btf btf(MadeFiles(machine).bytes);
  const std::vector<RecordedFunction> recorded = {
      {"read_file", {{"name", true}, {"file->comm", true}, {"file->path.dentry->d_name.name", true}}}};
  const CallSignature signature = *BtfSignatures(btf, recorded, 64).signature("read_file");
  ByteBuilder bytes(machine);
  bytes.u16(5).text("e\"\n\\c").u16(2).text("sh").u16(0);
  const std::uint64_t registers[] = {0xFFFF888000001000, 0xC0002000, 4096, 0x255, 1, 0xFFFFFFFF};
  const CallValues values = call_values(signature, abi_of(machine), registers, bytes.get());
  for (const char* const text : {"count==4096",
                                 "count == 0x1000",
                                 "count!=5",
                                 "count>4095",
                                 "count>=4096",
                                 "count<=4096",
                                 "count<0x1001",
                                 "count&0x1000",
                                 "flags==0x255",
                                 "flags&0x55",
                                 "sync==true",
                                 "sync==1",
                                 "mode==SLOW",
                                 "mode==-1",
                                 "mode<0",
                                 "mode!=FAST",
                                 "mode&FAST",  // -1 has all bits set
                                 "name==\"e\\\"\\x0a\\\\c\"",
                                 "name!=\"usr\"",
                                 "file->comm==sh",
                                 "file->comm!=\"\"",
                                 "file->path.dentry->d_name.name==\"\"",
                                 "file==0xffff888000001000",
                                 "file!=NULL"})
    EXPECT_EQ(judged(text, signature, values), "holds") << text;
  for (const char* const text : {"count==4097", "count!=4096", "count<4096", "flags&0x2aa", "flags&3", "sync==false",
                                 "mode==FAST", "mode==2147483647", "name==\"et\"", "name==\"\"", "file->comm==\"bash\"",
                                 "file->path.dentry->d_name.name!=\"\"", "file==NULL"})
    EXPECT_EQ(judged(text, signature, values), "does not hold") << text;
}

TEST(CallCondition, ThatIsNeverTrueIsRefused) {
  const Btf btf(MadeFiles(Machine{}).bytes);
  const BtfSignatures signatures(btf, {}, 64);
  const auto why = [&](const char* text, const char* function = "read_file") {
    return judged(text, *signatures.signature(function), {});
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_PRED2(has, why("count==foo"), "count is a number, but \"foo\" is not");
  EXPECT_PRED2(has, why("count==\"4096\""), "\"4096\" is a string");
  EXPECT_PRED2(has, why("count<0"), "never negative");
  EXPECT_PRED2(has, why("count>=-2"), "Write the bits of the value instead: 0xfffffffffffffffe");
  EXPECT_PRED2(has, why("flags>-1"), "Write the bits of the value instead: 0xffffffff");
  EXPECT_PRED2(has, why("flags==-2147483649"), "is out of range");
  EXPECT_PRED2(has, why("flags==0x100000000"), "is a number of 32 bits, and \"0x100000000\" is out of range for it");
  EXPECT_PRED2(has, why("flags&0x100000000"), "is out of range");
  EXPECT_PRED2(has, why("mode==4294967295"), "is out of range for a signed one");
  EXPECT_PRED2(has, why("mode==-2147483649"), "is out of range");
  EXPECT_EQ(why("mode==-2147483648"), "does not hold");
  EXPECT_PRED2(has, why("sync==2"), "true or false, but \"2\" is neither");
  EXPECT_PRED2(has, why("count==true"), "count is a number, but \"true\" is not");
  EXPECT_PRED2(has, why("count==NULL"), "but \"NULL\" is not");
  EXPECT_PRED2(has, why("ret==EEXIST"), "but \"EEXIST\" is not / Errors are negative: -EEXIST");
  EXPECT_PRED2(has, why("mode==FSAT"),
               "a value of an enumeration, but \"FSAT\" is not / Write a number, or SLOW, FAST");
  EXPECT_PRED2(has, why("file==etc"), "file is a pointer, but \"etc\" is not");
  EXPECT_PRED2(has, why("sync==maybe"), "true or false, but \"maybe\" is not");
  EXPECT_PRED2(has, why("name&1"), "name is a string, and & needs an integer");
  EXPECT_PRED2(has, why("name==\"etc\""), "the text of name is not in this trace / kmemtrace graph");
  EXPECT_PRED2(has, why("count&0"), "so & would test no bits / Write ==");
  EXPECT_PRED2(has, why("cuont==1"), "Their types are function(file, name, count, flags, sync, mode)");
  EXPECT_PRED2(has, why("ret==0", "forget"), "the result is nothing");
  EXPECT_PRED2(has, why("id==1", "forget"), "id is a structure");
  for (const char* const text : {"count", "", "==5", "count==", "name==\"etc", "file->comm", "count=5", "count!5",
                                 "name==\"a\"b\"", "name==\"\\q\"", "name==\"\\x1\""})
    EXPECT_THROW(parse_call_condition(text), Error) << text;
}

TEST(CallCondition, OneOfSeveralFunctionsIsEnough) {
  const Btf btf(MadeFiles(Machine{}).bytes);
  const BtfSignatures signatures(btf, {}, 64);
  const auto forget = signatures.signature("forget"), read = signatures.signature("read_file");
  CallConditions conditions({parse_call_condition("mode==FAST")}, nullptr);
  EXPECT_NO_THROW(conditions.check());  // no function was added yet
  conditions.add(0, "forget", &*forget);
  conditions.add(7, "untyped", nullptr);
  EXPECT_THROW(conditions.check(), Error);
  conditions.add(1, "read_file", &*read);
  EXPECT_NO_THROW(conditions.check());
  EXPECT_TRUE(conditions.knows(7));
  EXPECT_FALSE(conditions.knows(2));
  EXPECT_FALSE(conditions.hold(0, CallValues{}));
  EXPECT_FALSE(conditions.hold(7, CallValues{}));
}

TEST(CallCondition, ConditionsOnArgumentsAndResultsAreSeparate) {
  const Machine machine;
  const Btf btf(MadeFiles(machine).bytes);
  const BtfSignatures signatures(btf, {}, 64);
  const auto read = signatures.signature("read_file"), try_it = signatures.signature("try_it");
  CallConditions conditions({parse_call_condition("count>=8"), parse_call_condition("ret<0")}, nullptr);
  conditions.add(0, "read_file", &*read);
  conditions.add(1, "try_it", &*try_it);  // without an argument "count", only the condition on the result applies
  conditions.check();
  const std::uint64_t registers[] = {0, 0, 8, 0, 0, 0};
  EXPECT_TRUE(conditions.hold(0, call_values(*read, abi_of(machine), registers, {})));
  EXPECT_TRUE(conditions.hold(1, *result_value(try_it->result, abi_of(machine), ~std::uint64_t{1})));
  EXPECT_FALSE(conditions.hold(1, *result_value(try_it->result, abi_of(machine), 1)));
  EXPECT_FALSE(conditions.hold(1, call_values(*try_it, abi_of(machine), registers, {})));

  MadeTypes types(machine);
  types.function("drop", 0, {{"count", types.integer("int", 4)}});
  const Btf made(types.bytes());
  const auto drop = BtfSignatures(made, {}, 64).signature("drop");
  CallConditions of_void({parse_call_condition("count==8"), parse_call_condition("ret<0")}, nullptr);
  of_void.add(0, "drop", &*drop);
  const std::uint64_t eight[] = {8};
  EXPECT_TRUE(of_void.hold(0, call_values(*drop, abi_of(machine), eight, {}))) << "a function called by it may fail";
}

TEST(CallCondition, ExplainsTheRefusalByAFunctionWithAResult) {
  const Machine machine;
  MadeTypes types(machine);
  const int whole = types.integer("int", 4);
  types.function("drop", 0, {{"count", whole}});
  types.function("open", whole, {{"count", whole}});
  const Btf btf(types.bytes());
  const BtfSignatures signatures(btf, {}, 64, "x86_64");
  const auto drop = signatures.signature("drop"), opened = signatures.signature("open");
  for (const bool void_first : {true, false}) {
    CallConditions conditions({parse_call_condition("ret==EFAULT")}, nullptr);
    conditions.add(0, "first", void_first ? &*drop : &*opened);
    conditions.add(1, "second", void_first ? &*opened : &*drop);
    try {
      conditions.check();
      ADD_FAILURE() << "EFAULT is no value";
    } catch (const Error& error) {
      EXPECT_EQ(error.hint(), "Errors are negative: -EFAULT");
    }
  }
}

TEST(CallCondition, AcceptsNamesOfFlags) {
  const Machine machine;
  MadeTypes types(machine);
  const int whole = types.integer("unsigned int", 4);
  const int word = types.integer("long unsigned int", 8);
  const int gfp = btf__add_typedef(types.get(), "gfp_t", whole);
  types.function("handle_mm_fault", whole, {{"address", word}, {"flags", whole}});
  types.function("vm_mmap_pgoff", word, {{"prot", word}, {"gfp", gfp}});
  const Btf btf(types.bytes());
  const BtfSignatures signatures(btf, {}, 64, "x86_64");
  const std::vector<FlagName> gfp_flags = {{0xCC0, "GFP_KERNEL"}, {0x100, "__GFP_ZERO"}};
  const auto of = [&](const char* function, std::vector<std::uint64_t> registers, const char* text) {
    const CallSignature signature = *signatures.signature(function);
    return judged(text, signature, call_values(signature, abi_of(machine), registers, {}), &gfp_flags);
  };
  for (const char* const text : {"flags&WRITE", "flags&FAULT_FLAG_WRITE", "flags&WRITE|USER", "flags==WRITE|USER|0x14",
                                 "flags!=WRITE", "address==0x7f1234"})
    EXPECT_EQ(of("handle_mm_fault", {0x7F1234, 0x55}, text), "holds") << text;
  for (const char* const text : {"flags==WRITE", "flags&REMOTE", "flags&WRITE|REMOTE"})
    EXPECT_EQ(of("handle_mm_fault", {0x7F1234, 0x55}, text), "does not hold") << text;
  EXPECT_EQ(of("vm_mmap_pgoff", {1, 0xDC0}, "prot==PROT_READ"), "holds");
  EXPECT_EQ(of("vm_mmap_pgoff", {0, 0xDC0}, "prot==PROT_NONE"), "holds");
  EXPECT_EQ(of("vm_mmap_pgoff", {3, 0xDC0}, "prot==PROT_READ"), "does not hold");
  EXPECT_EQ(of("vm_mmap_pgoff", {3, 0xDC0}, "gfp==GFP_KERNEL|__GFP_ZERO"), "holds");
  EXPECT_EQ(of("vm_mmap_pgoff", {3, 0xCC0}, "gfp&GFP_KERNEL"), "holds");
  EXPECT_EQ(of("vm_mmap_pgoff", {3, 0xCC0}, "gfp&__GFP_ZERO"), "does not hold");
  EXPECT_NE(of("vm_mmap_pgoff", {3, 0xCC0}, "gfp&GFP_KERNL").find("GFP_KERNEL, __GFP_ZERO"), std::string::npos);
  EXPECT_NE(of("vm_mmap_pgoff", {3, 0xCC0}, "prot&READ").find("PROT_READ, PROT_WRITE"), std::string::npos);
}

TEST(CallCondition, AcceptsAllNotationsOfNumbers) {
  const Machine machine;
  MadeTypes types(machine);
  const int whole = types.integer("int", 4, BTF_INT_SIGNED);
  const int natural = types.integer("unsigned int", 4);
  const int word = types.integer("long unsigned int", 8);
  types.function("map", word, {{"address", word}, {"fd", natural}, {"dfd", whole}, {"small", natural}});
  const Btf btf(types.bytes());
  const CallSignature signature = *BtfSignatures(btf, {}, 64, "x86_64").signature("map");
  const std::uint64_t registers[] = {0, 0xFFFFFFFF, 0xFFFFFF9C, 7};
  const CallValues values = call_values(signature, abi_of(machine), registers, {});
  for (const char* const text :
       {"fd==-1", "fd!=-2", "fd&-1", "small!=-1", "address==NULL", "address!=-1", "dfd==AT_FDCWD", "dfd==-100"})
    EXPECT_EQ(judged(text, signature, values), "holds") << text;
  for (const char* const text : {"fd!=-1", "fd==-2", "small==-1", "small&-1", "address!=NULL", "dfd!=AT_FDCWD"})
    EXPECT_EQ(judged(text, signature, values), "does not hold") << text;
  CallConditions conditions({parse_call_condition("ret==NULL")}, nullptr);
  conditions.add(0, "map", &signature);
  conditions.check();
  EXPECT_TRUE(conditions.hold(0, *result_value(signature.result, abi_of(machine), 0)));
  EXPECT_FALSE(conditions.hold(0, *result_value(signature.result, abi_of(machine), 4096)));
}

TEST(CallCondition, ResultsMayBeErrors) {
  const Machine machine;
  const Btf btf(MadeFiles(machine).bytes);
  const BtfSignatures signatures(btf, {}, 64);
  const auto meets = [&](const char* function, std::int64_t returned, const char* text) {
    const CallSignature signature = *signatures.signature(function);
    CallConditions conditions({parse_call_condition(text)}, nullptr);
    conditions.add(0, function, &signature);
    conditions.check();
    return conditions.hold(0, *result_value(signature.result, abi_of(machine), static_cast<std::uint64_t>(returned)));
  };
  for (const char* const function : {"read_file", "find_file", "map", "try_it"}) {
    EXPECT_TRUE(meets(function, -2, "ret==-ENOENT")) << function;
    EXPECT_TRUE(meets(function, -2, "ret<0")) << function;
    EXPECT_TRUE(meets(function, -2, "ret!=-EINVAL")) << function;
    EXPECT_TRUE(meets(function, 8, "ret>=0")) << function;
    EXPECT_FALSE(meets(function, 8, "ret<0")) << function;
    EXPECT_FALSE(meets(function, -2, "ret==-EINVAL")) << function;
  }
  EXPECT_TRUE(meets("find_file", 0, "ret==NULL"));
  EXPECT_FALSE(meets("find_file", static_cast<std::int64_t>(0xFFFF888000001000), "ret<0"));
  EXPECT_TRUE(meets("is_ready", 1, "ret==true"));
  EXPECT_THROW(meets("count", 1, "ret<0"), Error);  // the result is unsigned, so it is never negative
  EXPECT_THROW(meets("try_it", 1, "ret==-ENOSUCH"), Error);
}

}  // namespace
}  // namespace kmt
