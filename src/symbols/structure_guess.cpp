// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/structure_guess.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_set>

#include "symbols/btf_members.hpp"

namespace kmt {

namespace {

using Kind = MemberEvidence::Kind;

// How well a member of a structure matches the evidence.
struct Fit {
  double points = 0;         // negative: contradicts
  bool is_specific = false;  // few structures have such a member
};

class Matcher {
 public:
  Matcher(const Btf& btf, const GuessedCache& cache, std::span<const MemberEvidence> evidence)
      : btf_(btf), cache_(cache), evidence_(evidence) {}

  struct Score {
    double points = 0;
    unsigned specific = 0;
    unsigned contradictions = 0;
    std::string name;
  };
  std::optional<Score> score(const btf_type& structure) const;

 private:
  Fit fit(const MemberEvidence& evidence, std::uint32_t type) const;
  Fit fit_pointer(const MemberEvidence& evidence, const btf_type* target, std::uint32_t target_id) const;
  Fit fit_table(const MemberEvidence& evidence, const btf_type& table) const;
  Fit fit_object(const MemberEvidence& evidence, const btf_type& target) const;
  bool is_prototype_of(const std::string& function, std::uint32_t prototype) const;

  const Btf& btf_;
  const GuessedCache& cache_;
  std::span<const MemberEvidence> evidence_;
};

// The prototypes of a function and of a pointer to it are different types, because their parameters may have other
// names.
bool Matcher::is_prototype_of(const std::string& function, std::uint32_t prototype) const {
  const btf_type* const own = btf_.prototype(function);
  const btf_type* const other = btf_.type(prototype);
  if (own == nullptr || other == nullptr || btf_vlen(own) != btf_vlen(other)) return false;
  const auto is_equal = [this](std::uint32_t a, std::uint32_t b) {
    return a == b || type_text(btf_, a) == type_text(btf_, b);
  };
  bool equal = is_equal(own->type, other->type);
  for (std::uint32_t i = 0; equal && i < btf_vlen(own); ++i)
    equal = is_equal(btf_params(own)[i].type, btf_params(other)[i].type);
  return equal;
}

Fit Matcher::fit_table(const MemberEvidence& evidence, const btf_type& table) const {
  std::map<std::uint64_t, std::uint32_t> prototypes;  // by offset in the table
  for_each_leaf(btf_, table, [&](std::uint64_t offset, std::uint32_t type) {
    const auto member = btf_.strip(type);
    if (member.type != nullptr && btf_is_ptr(member.type)) prototypes[offset] = btf_.strip(member.type->type).id;
  });
  unsigned equal = 0;
  for (const auto& [offset, function] : evidence.functions) {
    if (offset >= table.size) continue;  // the next table in memory
    const auto found = prototypes.find(offset);
    if (found == prototypes.end()) return {-3};
    if (is_prototype_of(function, found->second))
      ++equal;
    else if (btf_.prototype(function) != nullptr)
      return {-3};
  }
  return equal > 0 ? Fit{5.0 + std::min(equal, 4u), true} : Fit{0.5};
}

Fit Matcher::fit_object(const MemberEvidence& evidence, const btf_type& target) const {
  const bool is_general = evidence.cache.starts_with("kmalloc-") || evidence.target_offset != 0;
  if (is_general) return {target.size <= evidence.cache_object_size ? 0.5 : -1};
  if (is_cache_of(evidence.cache, btf_.name_of(target))) return {4, true};
  if (target.size == evidence.cache_object_size) return {3, true};
  return {target.size < evidence.cache_object_size ? 0.0 : -2.0};
}

Fit Matcher::fit_pointer(const MemberEvidence& evidence, const btf_type* target, std::uint32_t target_id) const {
  if (target == nullptr) return {0};  // void *
  const bool is_function = btf_is_func_proto(target);
  if (evidence.kind == Kind::function) {
    if (!is_function) return {-3};
    if (is_prototype_of(evidence.symbol, target_id)) return {6, true};
    return {btf_.prototype(evidence.symbol) != nullptr ? -3.0 : 1.0};
  }
  if (is_function) return {-3};
  if (!is_structure(target)) return {0};
  if (evidence.kind == Kind::table) return fit_table(evidence, *target);
  if (evidence.kind == Kind::object) return fit_object(evidence, *target);
  return {0.5};
}

Fit Matcher::fit(const MemberEvidence& evidence, std::uint32_t id) const {
  const btf_type* const type = btf_.strip(id).type;
  if (type == nullptr) return {0};
  if (is_structure(type))  // only list_head is a member of its own
    return evidence.kind == Kind::list ? Fit{2} : Fit{evidence.kind == Kind::number ? -2.0 : -0.5};
  if (btf_is_ptr(type)) {
    if (evidence.kind == Kind::number) return {-2};
    if (evidence.kind == Kind::list) return {-0.5};
    const auto target = btf_.strip(type->type);
    return fit_pointer(evidence, target.type, target.id);
  }
  if (evidence.kind == Kind::number) return {0.5};
  // Some kernels keep pointers in integers of the same size, with flags in the low bits.
  return {btf_.size_of(id) == sizeof(std::uint64_t) ? -0.5 : -2.0};
}

std::optional<Matcher::Score> Matcher::score(const btf_type& structure) const {
  std::map<std::uint64_t, std::vector<std::uint32_t>> leaves;  // types by offset; members of unions share one
  for_each_leaf(btf_, structure, [&](std::uint64_t offset, std::uint32_t type) {
    leaves[offset / sizeof(std::uint64_t) * sizeof(std::uint64_t)].push_back(type);
  });
  Score score;
  score.name = btf_.name_of(structure);
  for (const MemberEvidence& one : evidence_) {
    if (one.offset >= structure.size) {
      if (one.kind != Kind::number) score.points -= 1;  // the object has more than the structure
      continue;
    }
    const auto found = leaves.find(one.offset);
    if (found == leaves.end()) continue;
    Fit best{-100};
    for (const std::uint32_t type : found->second)
      if (const Fit here = fit(one, type); here.points > best.points) best = here;
    score.points += best.points;
    if (best.is_specific) ++score.specific;
    if (best.points <= -2) ++score.contradictions;
  }
  bool is_named = is_cache_of(cache_.name, score.name);
  for (const std::string& alias : cache_.aliases) is_named = is_named || is_cache_of(alias, score.name);
  if (is_named) {
    score.points += 4;
    ++score.specific;
  }
  if (structure.size < cache_.smallest) score.points -= 2;  // possible if other data follows the structure
  if (score.specific == 0 || score.points <= 0 || score.contradictions > evidence_.size() / 8) return std::nullopt;
  return score;
}

std::string_view without_end(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kEnds = {"_cachep", "_cache", "_struct", "_info", "_slab", "_s"};
  for (const std::string_view end : kEnds)
    if (name.size() > end.size() && name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

}  // namespace

bool is_cache_of(std::string_view cache, std::string_view structure) {
  if (structure.empty()) return false;
  if (cache == "filp") return structure == "file";
  return cache == structure || without_end(cache) == without_end(structure);
}

StructureGuess guess_structure(const Btf& btf, const GuessedCache& cache, std::span<const MemberEvidence> evidence) {
  const Matcher matcher(btf, cache, evidence);
  std::vector<Matcher::Score> scores;
  std::unordered_set<std::string_view> seen;
  // A structure that is much smaller than the object would match anything.
  const std::uint64_t least = cache.smallest / 2;
  for (std::uint32_t id = 1, end = btf__type_cnt(btf.handle()); id < end; ++id) {
    const btf_type* const type = btf.type(id);
    if (type == nullptr || !btf_is_struct(type) || btf.name_of(*type).empty()) continue;
    if (type->size > cache.largest || type->size < least || !seen.insert(btf.name_of(*type)).second) continue;
    if (auto score = matcher.score(*type)) scores.push_back(std::move(*score));
  }
  std::ranges::stable_sort(scores, std::ranges::greater(), &Matcher::Score::points);
  if (scores.empty()) return {};
  const double lead = scores.size() > 1 ? scores[0].points - scores[1].points : scores[0].points;
  if (lead < 0.5) return {};
  StructureGuess guess{scores[0].name, Confidence::low};
  if (lead >= 1 && scores[0].points >= 4) guess.confidence = Confidence::medium;
  if (lead >= 2 && scores[0].points >= 6 && scores[0].specific >= 2) guess.confidence = Confidence::high;
  return guess;
}

}  // namespace kmt
