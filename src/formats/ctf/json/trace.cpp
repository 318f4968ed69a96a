// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/json/trace.hpp"

#include <algorithm>
#include <filesystem>
#include <new>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/ctf/json/stream.hpp"

namespace kmt::ctf {

namespace {

namespace fs = std::filesystem;

std::string metadata_path(const std::string& folder) { return (fs::path(folder) / "metadata").string(); }

// Reads the longest metadata of a trace. A rotated trace has metadata in each folder, and only the longest describes
// all events.
JsonMetadata read_metadata(const std::vector<std::string>& folders) {
  const std::string path = metadata_path(*std::ranges::max_element(
      folders, {}, [](const std::string& folder) { return fs::file_size(metadata_path(folder)); }));
  try {
    return parse_json_metadata(MappedFile(path).bytes());
  } catch (Error& error) {
    throw error.at({path, {}, {}});
  }
}

using ComponentClassRef = std::unique_ptr<const bt_component_class_source,
                                          PutObject<bt_component_class_source, bt_component_class_source_put_ref>>;
using IteratorClassRef = std::unique_ptr<const bt_message_iterator_class,
                                         PutObject<bt_message_iterator_class, bt_message_iterator_class_put_ref>>;
using StreamRef = std::unique_ptr<bt_stream, PutObject<bt_stream, bt_stream_put_ref>>;

}  // namespace

struct JsonTrace::State {
  // An output port of the source, for one stream.
  struct Port {
    State* trace = nullptr;
    const StreamFiles* files = nullptr;
    const StreamClassObjects* objects = nullptr;
    StreamRef stream;
  };

  explicit State(const std::vector<std::string>& folders)
      : metadata(read_metadata(folders)), streams(streams_in(metadata, folders)) {}

  void add_ports(bt_self_component_source* source);
  static bt_component_class_initialize_method_status initialize(bt_self_component_source* source,
                                                                bt_self_component_source_configuration*,
                                                                const bt_value*, void* state);
  static bt_message_iterator_class_initialize_method_status begin(bt_self_message_iterator* iterator,
                                                                  bt_self_message_iterator_configuration*,
                                                                  bt_self_component_port_output* port);
  static void end(bt_self_message_iterator* iterator);
  static bt_message_iterator_class_next_method_status next(bt_self_message_iterator* iterator,
                                                           bt_message_array_const messages, std::uint64_t capacity,
                                                           std::uint64_t* count);

  JsonMetadata metadata;
  std::vector<StreamFiles> streams;
  TraceObjects objects;
  std::vector<std::unique_ptr<Port>> ports;
};

void JsonTrace::State::add_ports(bt_self_component_source* source) {
  objects = make_trace(metadata, bt_self_component_source_as_self_component(source));
  for (const StreamFiles& files : streams) {
    auto port = std::make_unique<Port>();
    port->trace = this;
    port->files = &files;
    if (files.stream_class != nullptr) {
      port->objects = &objects.streams.at(files.stream_class_id);
      port->stream.reset(bt_stream_create(port->objects->stream_class, objects.trace.get()));
      if (!port->stream) throw std::bad_alloc();
    }
    if (bt_self_component_source_add_output_port(source, fmt::format("stream {}", ports.size()).c_str(), port.get(),
                                                 nullptr) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
      throw std::bad_alloc();
    ports.push_back(std::move(port));
  }
}

// Exceptions must not pass through the library, which is written in C.
bt_component_class_initialize_method_status JsonTrace::State::initialize(bt_self_component_source* source,
                                                                         bt_self_component_source_configuration*,
                                                                         const bt_value*, void* state) {
  try {
    static_cast<State*>(state)->add_ports(source);
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
  } catch (const std::exception&) {
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
  }
}

bt_message_iterator_class_initialize_method_status JsonTrace::State::begin(bt_self_message_iterator* iterator,
                                                                           bt_self_message_iterator_configuration*,
                                                                           bt_self_component_port_output* output) {
  const auto* const port = static_cast<const Port*>(
      bt_self_component_port_get_data(bt_self_component_port_output_as_self_component_port(output)));
  try {
    auto stream =
        std::make_unique<JsonStream>(port->trace->metadata, *port->files, port->objects, port->stream.get(), iterator);
    bt_self_message_iterator_set_data(iterator, stream.release());
    return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
  } catch (const std::exception&) {
    return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
  }
}

void JsonTrace::State::end(bt_self_message_iterator* iterator) {
  delete static_cast<JsonStream*>(bt_self_message_iterator_get_data(iterator));
}

bt_message_iterator_class_next_method_status JsonTrace::State::next(bt_self_message_iterator* iterator,
                                                                    bt_message_array_const messages,
                                                                    std::uint64_t capacity, std::uint64_t* count) {
  try {
    *count = static_cast<JsonStream*>(bt_self_message_iterator_get_data(iterator))->next(messages, capacity);
    return *count > 0 ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
                      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
  } catch (const Error& error) {
    (void)BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(iterator, "%s", error.what());
    return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
  } catch (const std::exception&) {
    return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
  }
}

bool is_json_trace(const std::string& folder) {
  const std::string path = metadata_path(folder);
  std::error_code code;
  return fs::is_regular_file(path, code) && is_json_metadata(MappedFile(path).bytes());
}

JsonTrace::JsonTrace(const std::vector<std::string>& folders) : state_(std::make_unique<State>(folders)) {}
JsonTrace::~JsonTrace() = default;

std::optional<TimeRange> JsonTrace::time_range() const { return time_range_of(state_->metadata, state_->streams); }

const bt_component_source* JsonTrace::add_to(bt_graph* graph, const std::string& name) {
  bt_message_iterator_class* const iterators = bt_message_iterator_class_create(State::next);
  if (iterators == nullptr) throw std::bad_alloc();
  const IteratorClassRef iterator_class(iterators);
  bt_component_class_source* const sources = bt_component_class_source_create("ctf2", iterators);
  if (sources == nullptr) throw std::bad_alloc();
  const ComponentClassRef component_class(sources);
  const bt_component_source* source = nullptr;
  if (bt_message_iterator_class_set_initialize_method(iterators, State::begin) !=
          BT_MESSAGE_ITERATOR_CLASS_SET_METHOD_STATUS_OK ||
      bt_message_iterator_class_set_finalize_method(iterators, State::end) !=
          BT_MESSAGE_ITERATOR_CLASS_SET_METHOD_STATUS_OK ||
      bt_component_class_source_set_initialize_method(sources, State::initialize) !=
          BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK)
    throw std::bad_alloc();
  if (bt_graph_add_source_component_with_initialize_method_data(graph, sources, name.c_str(), nullptr, state_.get(),
                                                                BT_LOGGING_LEVEL_NONE,
                                                                &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
    throw babeltrace_error("Cannot read the CTF trace");
  return source;
}

}  // namespace kmt::ctf
