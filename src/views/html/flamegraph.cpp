// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/html/flamegraph.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "views/common/flame_tree.hpp"
#include "views/common/xml.hpp"
#include "views/html/flamegraph_script.hpp"

namespace kmt {

namespace {

constexpr double kMargin = 10;
constexpr double kWidth = 1200;  // width of the root frame in pixels
constexpr double kRow = 17;
constexpr double kTop = 58;     // height of the title and the remarks, in pixels
constexpr double kBottom = 24;  // height of the line about the frame under the pointer, in pixels
// maximum number of frames drawn; a browser can zoom a graph of this size in 0.2 s
constexpr std::size_t kMostFrames = 10'000;
constexpr double kLetter = 6.6;  // average width of a letter in pixels
constexpr unsigned kDeepest =
    512;  // Maximum number of levels drawn. A stack of a trace has at most 256 frames, plus inlined functions.

// Shortens the text to the width in pixels. Never cuts within a UTF-8 character.
std::string fitting(std::string_view text, double width) {
  const auto columns = static_cast<std::size_t>(std::max(0.0, (width - 6) / kLetter));
  if (columns_of(text) <= columns) return std::string(text);
  if (columns < 3) return {};
  std::size_t end = 0;
  for (std::size_t column = 0; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && column++ == columns - 2) break;
  return std::string(text.substr(0, end)) + "..";
}

struct Colour {
  int red;
  int green;
  int blue;
};

// Returns the colour of a function. The same name always gets the same colour. Kernel functions have warm colours, with
// one hue per allocator. Functions of programs are blue.
Colour colour_of(std::string_view function, Allocator allocator, bool of_user) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : function) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  const int a = static_cast<int>(hash % 40);
  const int b = static_cast<int>(hash / 64 % 30);
  if (of_user) return {110 + 2 * b, 165 + a, 215 + b};
  switch (allocator) {
    case Allocator::slab: return {215 + a, 110 + 2 * b, 60 + b};
    case Allocator::pages: return {225 + b, 175 + a, 55 + b};
    case Allocator::percpu: return {215 + b, 125 + b, 130 + a};
    case Allocator::vmap: return {195 + b, 145 + b, 105 + a};
  }
  return {200, 200, 200};
}

// Returns red for growth and green for shrinkage. The larger the change is compared with the frame's value, the deeper
// is the colour.
Colour colour_of_change(std::uint64_t value, std::uint64_t base) {
  const double most = static_cast<double>(std::max(value, base));
  const double change = most == 0 ? 0 : (static_cast<double>(value) - static_cast<double>(base)) / most;
  const int fade = static_cast<int>(std::lround(205 * std::pow(std::abs(change), 0.7)));
  if (change > 0) return {245, 245 - fade, 240 - fade};
  return change < 0 ? Colour{240 - fade, 235 - fade / 4, 240 - fade} : Colour{238, 238, 236};
}

class Drawing {
 public:
  Drawing(const FlameNode& root, const FlamegraphOptions& options, bool compares)
      : root_(root), options_(options), metric_(info_of(options.metric)), compares_(compares) {}

  Flamegraph draw(const StackProfile& profile, const StackProfile* base);

 private:
  void choose_frames();
  bool is_drawn(const FlameNode& node, unsigned level) const { return node.own.value > omitted_ && level <= kDeepest; }
  unsigned depth_of(const FlameNode& node, unsigned level) const;
  void frames_of_root();
  void frame(const std::string& name, const FlameNode& node, std::uint64_t before, unsigned level);
  void draw_frame(const std::string& name, const FlameNode& node, std::uint64_t before, unsigned level,
                  const std::string& tooltip);
  std::string amount(std::uint64_t value) const {
    return metric_.bytes ? fmt::format("{} ({} bytes)", humane_bytes(value), humane_count(value)) : humane_count(value);
  }
  double pixels(std::uint64_t value) const {
    if (root_.own.value == 0) return 0;
    return kWidth * std::min(1.0, static_cast<double>(value) / static_cast<double>(root_.own.value));
  }
  std::string amount(const FlameSum& sum) const {
    return (!metric_.adds_up && sum.samples > 1 ? "at most " : "") + amount(sum.value);
  }
  std::string tooltip(const std::string& name, const FlameNode& node) const;
  std::string heading(const StackProfile& profile, const StackProfile* base) const;

  const FlameNode& root_;
  const FlamegraphOptions& options_;
  const StackMetricInfo& metric_;
  bool compares_;
  const FlameNode* allocator_ = nullptr;  // allocator of the frames being drawn
  std::uint64_t omitted_ = 0;             // the largest value that is not drawn
  double height_ = 0;
  std::string frames_;
  Flamegraph result_;
};

void add_values(const FlameNode& node, std::vector<std::uint64_t>& values) {
  if (node.own.value == 0) return;
  values.push_back(node.own.value);
  for (const auto& [name, child] : node.children) add_values(child, values);
}

// Chooses the largest frames. A parent is at least as large as each of its children, so the parents of chosen frames
// are also chosen.
void Drawing::choose_frames() {
  std::vector<std::uint64_t> values;
  add_values(root_, values);
  result_.omitted = values.size();  // draw_frame() decrements this number for each drawn frame
  if (values.size() <= kMostFrames) return;
  const auto first_left_out = values.begin() + kMostFrames;
  std::ranges::nth_element(values, first_left_out, std::greater<>());
  omitted_ = *first_left_out;
}

unsigned Drawing::depth_of(const FlameNode& node, unsigned level) const {
  unsigned deepest = level;
  for (const auto& [name, child] : node.children)
    if (is_drawn(child, level + 1)) deepest = std::max(deepest, depth_of(child, level + 1));
  return deepest;
}

std::string Drawing::tooltip(const std::string& name, const FlameNode& node) const {
  std::string text = fmt::format("{}: {}", name, amount(node.own));
  if (metric_.adds_up)
    text += fmt::format(", {:.2f} % of {}",
                        100.0 * static_cast<double>(node.own.value) / static_cast<double>(allocator_->own.value),
                        name_of(node.allocator));
  if (!compares_) return text;
  text += fmt::format("; before: {}", amount(node.base));
  if (!metric_.adds_up) return text;
  const bool grew = node.own.value >= node.base.value;
  return text + fmt::format(", {}{}", grew ? "+" : "-",
                            amount(grew ? node.own.value - node.base.value : node.base.value - node.own.value));
}

// Adds the root frame. The root has no value, because bytes of several allocators must not be added.
void Drawing::frames_of_root() {
  std::string text;
  for (const auto& [name, node] : root_.children)
    if (node.own.value > 0)
      text += fmt::format("{}{} {}", text.empty() ? "all: " : ", ", name_of(node.allocator), amount(node.own));
  const auto drawn =
      std::ranges::count_if(root_.children, [](const auto& child) { return child.second.own.value > 0; });
  if (drawn > 1) text += "; do not add these values: slabs are made of pages";
  FlameNode neutral;
  neutral.own = root_.own;
  neutral.base = root_.own;
  draw_frame("all", neutral, 0, 0, text);
  std::uint64_t before = 0;
  for (const auto& [name, node] : root_.children) {
    allocator_ = &node;
    if (node.own.value > 0) frame(name, node, before, 1);
    before += node.own.value;
  }
}

void Drawing::frame(const std::string& name, const FlameNode& node, std::uint64_t before, unsigned level) {
  if (!is_drawn(node, level)) return;
  draw_frame(name, node, before, level, tooltip(name, node));
  for (const auto& [child_name, child] : node.children) {
    if (child.own.value > 0) frame(child_name, child, before, level + 1);
    before += child.own.value;
  }
}

void Drawing::draw_frame(const std::string& name, const FlameNode& node, std::uint64_t before, unsigned level,
                         const std::string& tooltip) {
  ++result_.frames;
  --result_.omitted;
  const double width = pixels(node.own.value);
  const double x = kMargin + pixels(before);
  const double y = options_.callers_first ? kTop + level * kRow : height_ - kBottom - (level + 1) * kRow;
  const Colour colour =
      compares_ ? colour_of_change(node.own.value, node.base.value) : colour_of(name, node.allocator, node.of_user);
  // The script needs this attribute to show search results as shares of each allocator.
  const std::string of =
      metric_.adds_up && level == 1 ? fmt::format(" data-allocator=\"{}\"", name_of(node.allocator)) : std::string();
  fmt::format_to(std::back_inserter(frames_),
                 "<g class=\"f\" data-name=\"{}\"{}><title>{}</title><rect x=\"{:.6f}\" y=\"{:.0f}\" "
                 "width=\"{:.6f}\" height=\"{:.0f}\" "
                 "fill=\"rgb({},{},{})\" rx=\"1\"/><text x=\"{:.3f}\" y=\"{:.0f}\">{}</text></g>\n",
                 xml_text(name), of, xml_text(tooltip), x, y, width, kRow - 1, colour.red, colour.green, colour.blue,
                 x + 3, y + 12, xml_text(fitting(name, width)));
}

std::string Drawing::heading(const StackProfile& profile, const StackProfile* base) const {
  std::string title = options_.title.empty() ? printable(profile.trace.path) : printable(options_.title);
  std::string about = fmt::format("{}: {}", metric_.name, metric_.meaning);
  if (base != nullptr) about += fmt::format("; red grew and green shrank since {}", printable(base->trace.path));
  std::string remarks;
  if (result_.omitted > 0)
    remarks =
        fmt::format("The {} smallest frames are not drawn; gaps show their place. ", humane_count(result_.omitted));
  if (options_.lacks_stacks_of_one) remarks += "Shown by call site: only one of the traces has stacks. ";
  if (profile.trace.lost_events > 0)
    remarks += fmt::format("{} events were lost. ", humane_count(profile.trace.lost_events));
  if (!profile.trace.complete) remarks += "Reading was interrupted: the graph shows only a part of the trace. ";
  if (root_.own.value == 0) remarks += "There is nothing to draw.";
  return fmt::format(
      "<text class=\"t\" x=\"{0}\" y=\"20\">{1}</text>\n<text x=\"{0}\" y=\"37\">{2}</text>\n<text x=\"{0}\" "
      "y=\"51\">{3}</text>\n",
      kMargin, xml_text(title), xml_text(about), xml_text(remarks));
}

Flamegraph Drawing::draw(const StackProfile& profile, const StackProfile* base) {
  choose_frames();
  height_ = kTop + kBottom + (depth_of(root_, 0) + 1) * kRow;
  if (root_.own.value > 0) frames_of_root();
  const double width = kWidth + 2 * kMargin;
  result_.svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<style>\ntext {{ font: 11px monospace; fill: #222; "
      "pointer-events: none }}\n.t {{ font: bold 14px sans-serif }}\n.f rect {{ stroke: #fff; stroke-width: .4 }}\n"
      ".f:hover rect {{ stroke: #000 }}\n.f:focus {{ outline: none }}\n.f:focus rect {{ stroke: #000; stroke-width: 2 "
      "}}\n"
      ".button {{ cursor: pointer; pointer-events: all; text-decoration: underline }}"
      "\n</style>\n<rect id=\"paper\" width=\"{0}\" height=\"{1}\" fill=\"#fffdf8\"/>\n{2}<g "
      "id=\"frames\">\n{3}</g>\n<text "
      "id=\"said\" role=\"status\" x=\"{4}\" y=\"{5}\"></text>\n<script><![CDATA[{6}]]></script>\n</svg>\n",
      width, height_, heading(profile, base), frames_, kMargin, height_ - 8, kFlamegraphScript);
  return std::move(result_);
}

}  // namespace

Flamegraph flamegraph(const StackProfile& profile, const StackProfile* base, const FlamegraphOptions& options) {
  FlameNode root;
  add_to_tree(root, profile, options.metric, options.callers_first, false);
  if (base != nullptr) add_to_tree(root, *base, options.metric, options.callers_first, true);
  return Drawing(root, options, base != nullptr).draw(profile, base);
}

}  // namespace kmt
