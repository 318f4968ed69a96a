// SPDX-License-Identifier: GPL-2.0-or-later
// Opens, loads and attaches BPF objects (skeletons from bpftool). Error messages name the missing requirement and give
// advice. Nothing is pinned: the kernel detaches and frees everything when the process ends.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/features/types_file.hpp"

namespace kmt {

// Throws Error (unsupported) if the system lacks a requirement of BPF programs (features/bpf_support).
void require_bpf();

// Returns the text of an error number of the kernel or libbpf. The C library does not know some of these numbers.
std::string bpf_error_text(int error);

// Throws the error of a libbpf call and includes libbpf's last message.
[[noreturn]] void throw_bpf_error(const std::string& action, int error);

// Keeps libbpf's messages for throw_bpf_error() instead of printing them. Call it before any other libbpf function.
void keep_libbpf_messages();

// Returns how often the kernel skipped a program because it was already running on the same CPU.
std::uint64_t missed_runs(int program);
std::uint64_t missed_runs(const bpf_program* program);

// Before Linux 6.1, programs attached to probes must not allocate elements of a hash table. On these kernels, makes the
// map allocate all its elements in advance and returns true. Call it before the map is created.
bool allocate_before_where_needed(bpf_map* map);

// Returns how many bytes of kernel memory a loaded object's maps use.
std::uint64_t memory_of_maps(const bpf_object* object);

// `WithoutBtf` returns the bytes of the same programs for kernels that do not describe their types themselves. libbpf
// refuses to load programs with kernel functions (kfuncs) there.
template <typename Skeleton, int (*Create)(Skeleton*), int (*Load)(Skeleton*), void (*Destroy)(Skeleton*),
          const void* (*WithoutBtf)(std::size_t*) = nullptr>
class BpfSkeleton {
 public:
  BpfSkeleton() {
    require_bpf();
    keep_libbpf_messages();
    skeleton_.reset(static_cast<Skeleton*>(std::calloc(1, sizeof(Skeleton))));
    int error = skeleton_ ? Create(skeleton_.get()) : -ENOMEM;
    if (error == 0) error = open();
    if (error != 0) throw_bpf_error("Cannot open the BPF object", -error);
  }

  void load() {
    if (const int error = Load(skeleton_.get())) throw_bpf_error("The kernel refuses the BPF programs", -error);
  }

  // Does nothing for a program whose autoload is off.
  void attach(const bpf_program* program) {
    bpf_link* const link = bpf_program__attach(program);
    if (!link) throw_bpf_error(std::string("Cannot attach the BPF program ") + bpf_program__name(program), errno);
    links_.emplace_back(link);
  }

  // Attaches to a trace event, which passes the kernel's own record to the program.
  void attach(const bpf_program* program, const std::string& system, const std::string& event, std::uint64_t cookie) {
    LIBBPF_OPTS(bpf_tracepoint_opts, options, .bpf_cookie = cookie);
    bpf_link* const link = bpf_program__attach_tracepoint_opts(program, system.c_str(), event.c_str(), &options);
    if (!link) throw_bpf_error("Cannot attach a BPF program to " + system + ":" + event, errno);
    links_.emplace_back(link);
  }

  // Attaches to the entry of all these functions, or to their exit if `at_return` is true. Each function has its own
  // cookie. Returns the link's descriptor, which this object owns. Throws Error.
  int attach(const bpf_program* program, const std::vector<unsigned long>& functions, const std::vector<__u64>& cookies,
             bool at_return) {
    LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .addrs = functions.data(), .cookies = cookies.data(),
                .cnt = functions.size(), .retprobe = at_return);
    bpf_link* const link = bpf_program__attach_kprobe_multi_opts(program, nullptr, &options);
    if (!link)
      throw_bpf_error("Cannot attach a BPF program to " + std::to_string(functions.size()) + " functions", errno);
    links_.emplace_back(link);
    return bpf_link__fd(link);
  }

  void detach() { links_.clear(); }

  Skeleton* operator->() { return skeleton_.get(); }
  const Skeleton* operator->() const { return skeleton_.get(); }

 private:
  int open() {
    LIBBPF_OPTS(bpf_object_open_opts, options);
    const std::string& types = types_file();
    if (!types.empty()) {
      options.btf_custom_path = types.c_str();
      if constexpr (WithoutBtf != nullptr)
        skeleton_->skeleton->data = const_cast<void*>(WithoutBtf(&skeleton_->skeleton->data_sz));
    }
    return bpf_object__open_skeleton(skeleton_->skeleton, &options);
  }

  struct DestroySkeleton {
    void operator()(Skeleton* skeleton) const { Destroy(skeleton); }
  };
  struct DestroyLink {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };

  std::unique_ptr<Skeleton, DestroySkeleton> skeleton_;
  std::vector<std::unique_ptr<bpf_link, DestroyLink>> links_;  // destroyed before `skeleton_`
};

}  // namespace kmt
