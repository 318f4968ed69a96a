// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/graph.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/ctf/json/trace.hpp"
#include "formats/ctf/library_call.hpp"

namespace kmt::ctf {

namespace {

template <typename T, void (*put)(const T*)>
struct Put {
  void operator()(const T* object) const { put(object); }
};
using PluginRef = std::unique_ptr<const bt_plugin, Put<bt_plugin, bt_plugin_put_ref>>;
using ValueRef = std::unique_ptr<const bt_value, Put<bt_value, bt_value_put_ref>>;
using SinkClassRef =
    std::unique_ptr<const bt_component_class_sink, Put<bt_component_class_sink, bt_component_class_sink_put_ref>>;
using GraphRef = std::unique_ptr<const bt_graph, Put<bt_graph, bt_graph_put_ref>>;
using IteratorRef = std::unique_ptr<const bt_message_iterator, Put<bt_message_iterator, bt_message_iterator_put_ref>>;

using QueryRef = std::unique_ptr<const bt_query_executor, Put<bt_query_executor, bt_query_executor_put_ref>>;

// Clears an error that the library's plugin may leave after a successful call. The library aborts if a later call finds
// that error.
void clear_left_error() { bt_current_thread_clear_error(); }

// Loads only the installed plugin, never code from the user's folders or from paths in the environment.
PluginRef ctf_plugin() {
  clear_left_error();
  const bt_plugin* plugin = nullptr;
  if (bt_plugin_find("ctf", BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) != BT_PLUGIN_FIND_STATUS_OK) {
    Error error = babeltrace_error("Cannot read CTF traces: libbabeltrace2 does not find its plugin ctf");
    throw error.hint("Install babeltrace2 completely: its plugins are installed next to its library");
  }
  return PluginRef(plugin);
}

const bt_component_class_source* source_class_of(const PluginRef& plugin) {
  const auto* const found = bt_plugin_borrow_source_component_class_by_name_const(plugin.get(), "fs");
  if (found == nullptr) throw Error("libbabeltrace2 has no source.ctf.fs", ExitCode::unsupported);
  return found;
}

ValueRef inputs_of(const std::vector<std::string>& folders) {
  ValueRef parameters(bt_value_map_create());
  bt_value* inputs = nullptr;
  if (!parameters || bt_value_map_insert_empty_array_entry(const_cast<bt_value*>(parameters.get()), "inputs",
                                                           &inputs) != BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
    throw std::bad_alloc();
  for (const std::string& folder : folders)
    if (bt_value_array_append_string_element(inputs, folder.c_str()) != BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK)
      throw std::bad_alloc();
  return parameters;
}

}  // namespace

Error babeltrace_error(const std::string& what) {
  const bt_error* const raised = bt_current_thread_take_error();
  if (raised == nullptr) return Error(what);
  // The library lists causes innermost first. Causes that it added itself are skipped, because they only name its
  // functions.
  std::vector<std::string> causes;
  for (std::uint64_t i = 0; i < bt_error_get_cause_count(raised); ++i) {
    const bt_error_cause* const cause = bt_error_borrow_cause_by_index(raised, i);
    if (bt_error_cause_get_actor_type(cause) == BT_ERROR_CAUSE_ACTOR_TYPE_UNKNOWN) continue;
    causes.push_back(printable(bt_error_cause_get_message(cause)));
  }
  bt_error_release(raised);
  Error error(causes.empty() ? what : what + ": " + causes.front());
  for (std::size_t i = 1; i < causes.size(); ++i) error.context("libbabeltrace2: " + causes[i]);
  return error;
}

std::optional<TimeRange> time_range(const std::vector<std::string>& folders) {
  if (is_json_trace(folders.front())) return JsonTrace(folders).time_range();
  const LibraryCall call;
  const PluginRef plugin = ctf_plugin();
  const ValueRef parameters = inputs_of(folders);
  const QueryRef query(
      bt_query_executor_create(bt_component_class_source_as_component_class_const(source_class_of(plugin)),
                               "babeltrace.trace-infos", parameters.get()));
  const bt_value* answer = nullptr;
  if (!query || bt_query_executor_query(const_cast<bt_query_executor*>(query.get()), &answer) !=
                    BT_QUERY_EXECUTOR_QUERY_STATUS_OK) {
    clear_left_error();
    return std::nullopt;
  }
  clear_left_error();
  const ValueRef traces(answer);
  std::optional<TimeRange> all;
  for (std::uint64_t i = 0; i < bt_value_array_get_length(traces.get()); ++i) {
    const bt_value* const streams = bt_value_map_borrow_entry_value_const(
        bt_value_array_borrow_element_by_index_const(traces.get(), i), "stream-infos");
    for (std::uint64_t j = 0; streams != nullptr && j < bt_value_array_get_length(streams); ++j) {
      const bt_value* const range =
          bt_value_map_borrow_entry_value_const(bt_value_array_borrow_element_by_index_const(streams, j), "range-ns");
      if (range == nullptr) continue;
      const auto time = [range](const char* key) {
        return bt_value_integer_signed_get(bt_value_map_borrow_entry_value_const(range, key));
      };
      const TimeRange found{time("begin"), time("end")};
      all = all ? TimeRange{std::min(all->begin_ns, found.begin_ns), std::max(all->end_ns, found.end_ns)} : found;
    }
  }
  return all;
}

void Messages::reset() {
  for (const bt_message* const message : messages_) bt_message_put_ref(message);
  messages_.clear();
  next_ = 0;
}

void Messages::assign(bt_message_array_const messages, std::size_t count) {
  reset();
  messages_.assign(messages, messages + count);
}

struct Graph::State {
  PluginRef plugin;
  std::vector<std::unique_ptr<JsonTrace>> json_traces;  // must be destroyed after the graph
  SinkClassRef sink_class;
  std::size_t sources = 0;
  std::vector<const bt_port_output*> outputs;
  std::vector<std::size_t> empty;  // indices of the sources that have no streams
  GraphRef graph;
  std::vector<IteratorRef> iterators;  // in the order of `outputs`; must be destroyed before the graph

  // The stream that consume() reads, and the results of consume().
  std::size_t wanted = 0;
  Messages* messages = nullptr;
  bool ended = false;
  std::optional<Error> failure;

  bt_graph* mutable_graph() const { return const_cast<bt_graph*>(graph.get()); }
  void create_sink_class();
  void add_source(const std::vector<std::string>& folders);
  const bt_component_source* add_plugin_source(const std::vector<std::string>& folders, const std::string& name);
  void add_sink();

  static State& of(bt_self_component_sink* sink) {
    return *static_cast<State*>(bt_self_component_get_data(bt_self_component_sink_as_self_component(sink)));
  }
  static bt_component_class_initialize_method_status add_inputs(bt_self_component_sink* sink,
                                                                bt_self_component_sink_configuration*, const bt_value*,
                                                                void* state);
  static bt_component_class_sink_graph_is_configured_method_status create_iterators(bt_self_component_sink* sink);
  static bt_component_class_sink_consume_method_status consume(bt_self_component_sink* sink);
};

void Graph::State::create_sink_class() {
  bt_component_class_sink* const made = bt_component_class_sink_create("streams", consume);
  if (made == nullptr) throw std::bad_alloc();
  sink_class.reset(made);
  if (bt_component_class_sink_set_initialize_method(made, add_inputs) != BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK ||
      bt_component_class_sink_set_graph_is_configured_method(made, create_iterators) !=
          BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK)
    throw std::bad_alloc();
}

const bt_component_source* Graph::State::add_plugin_source(const std::vector<std::string>& folders,
                                                           const std::string& name) {
  if (!plugin) plugin = ctf_plugin();
  const ValueRef parameters = inputs_of(folders);
  const bt_component_source* source = nullptr;
  if (bt_graph_add_source_component(mutable_graph(), source_class_of(plugin), name.c_str(), parameters.get(),
                                    BT_LOGGING_LEVEL_NONE, &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
    throw babeltrace_error("Cannot read the CTF trace").at({folders.front(), {}, {}});
  return source;
}

void Graph::State::add_source(const std::vector<std::string>& folders) {
  const std::string name = fmt::format("trace {}", sources);  // names must be unique in the graph
  const bt_component_source* source = nullptr;
  if (is_json_trace(folders.front()))
    source = json_traces.emplace_back(std::make_unique<JsonTrace>(folders))->add_to(mutable_graph(), name);
  else
    source = add_plugin_source(folders, name);
  const std::uint64_t count = bt_component_source_get_output_port_count(source);
  if (count == 0) empty.push_back(sources);
  ++sources;
  for (std::uint64_t i = 0; i < count; ++i)
    outputs.push_back(bt_component_source_borrow_output_port_by_index_const(source, i));
}

void Graph::State::add_sink() {
  const bt_component_sink* sink = nullptr;
  if (bt_graph_add_sink_component_with_initialize_method_data(mutable_graph(), sink_class.get(), "reader", nullptr,
                                                              this, BT_LOGGING_LEVEL_NONE,
                                                              &sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
    throw babeltrace_error("Cannot set up libbabeltrace2");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bt_port_input* const input = bt_component_sink_borrow_input_port_by_index_const(sink, i);
    if (bt_graph_connect_ports(mutable_graph(), outputs[i], input, nullptr) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
      throw babeltrace_error("Cannot set up libbabeltrace2");
  }
}

bt_component_class_initialize_method_status Graph::State::add_inputs(bt_self_component_sink* sink,
                                                                     bt_self_component_sink_configuration*,
                                                                     const bt_value*, void* state) {
  bt_self_component_set_data(bt_self_component_sink_as_self_component(sink), state);
  const std::size_t count = static_cast<State*>(state)->outputs.size();
  for (std::size_t i = 0; i < count; ++i)
    if (bt_self_component_sink_add_input_port(sink, fmt::format("in{}", i).c_str(), nullptr, nullptr) !=
        BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
      return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
  return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_sink_graph_is_configured_method_status Graph::State::create_iterators(bt_self_component_sink* sink) {
  State& state = of(sink);
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    bt_self_component_port_input* const port = bt_self_component_sink_borrow_input_port_by_index(sink, i);
    bt_message_iterator* iterator = nullptr;
    if (bt_message_iterator_create_from_sink_component(sink, port, &iterator) !=
        BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
      return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
    state.iterators.emplace_back(iterator);
  }
  return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

// Returns OK to the library even if a stream fails, because the graph could not read the other streams otherwise.
bt_component_class_sink_consume_method_status Graph::State::consume(bt_self_component_sink* sink) {
  State& state = of(sink);
  bt_message_array_const messages = nullptr;
  std::uint64_t count = 0;
  auto* const iterator = const_cast<bt_message_iterator*>(state.iterators[state.wanted].get());
  switch (bt_message_iterator_next(iterator, &messages, &count)) {
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK: state.messages->assign(messages, count); break;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_END: state.ended = true; break;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN: break;
    default: state.failure = babeltrace_error("The stream cannot be read any further");
  }
  return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

Graph::Graph(const std::vector<std::vector<std::string>>& traces) : state_(std::make_unique<State>()) {
  const LibraryCall call;
  // The library must not print messages, because its failures are thrown as Error.
  bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
  clear_left_error();
  state_->create_sink_class();
  state_->graph.reset(bt_graph_create(0));
  if (!state_->graph) throw std::bad_alloc();
  for (const std::vector<std::string>& folders : traces) {
    state_->add_source(folders);
    clear_left_error();
  }
  state_->add_sink();
}

Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;

std::size_t Graph::streams() const { return state_->outputs.size(); }
const std::vector<std::size_t>& Graph::empty_traces() const { return state_->empty; }

bool Graph::read(std::size_t stream, Messages& messages) {
  const LibraryCall call;
  messages.reset();
  state_->wanted = stream;
  state_->messages = &messages;
  state_->ended = false;
  clear_left_error();
  const bt_graph_run_once_status status = bt_graph_run_once(state_->mutable_graph());
  if (status != BT_GRAPH_RUN_ONCE_STATUS_OK) throw babeltrace_error("Cannot read the CTF trace");
  if (state_->failure) {
    const Error failure = std::move(*state_->failure);
    state_->failure.reset();
    throw failure;
  }
  clear_left_error();
  return !state_->ended;
}

}  // namespace kmt::ctf
