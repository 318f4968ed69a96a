// SPDX-License-Identifier: GPL-2.0-or-later
// Ring buffers that survive a crash. The kernel makes such an instance at boot, in memory that firmware and kernel
// leave alone during a reboot (parameters reserve_mem= and trace_instance=NAME@PLACE, Linux 6.12;
// Documentation/trace/debugging.rst).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct PersistentInstance {
  std::string name;
  std::string path;
  std::string backup_of;  // for a backup instance (Linux 6.19), the name of the instance whose content it has
};

// Returns the persistent instances of this boot, sorted by name. `arguments` is the text of /proc/cmdline.
std::vector<PersistentInstance> persistent_instances(const std::string& tracefs, std::string_view arguments);

// Returns the instance with this name, or the only one if `name` is empty. Ignores backup instances. Throws Error if
// there is no such instance, or if `name` is empty and there are several.
PersistentInstance choose_persistent(const std::vector<PersistentInstance>& instances, const std::string& name);

// Returns the instance that has the events of the previous boot: the backup of `instance`, if there is one.
PersistentInstance with_previous_events(const std::vector<PersistentInstance>& instances,
                                        const PersistentInstance& instance);

// True if a parameter of this boot made a backup of the instance. The kernel removes a backup instance after all of its
// events were read.
bool has_backup(std::string_view arguments, const std::string& name);

// True if the kernel can have persistent instances. `kallsyms` is the text of /proc/kallsyms.
bool supports_persistent(std::string_view kallsyms);
// Returns the kernel parameters for an instance of this size in bytes.
std::string persistent_parameters(std::uint64_t bytes);
// Returns the kernel parameters for an instance that suits this machine.
std::string parameters_for_this_machine(unsigned cpus);
// Returns a size in bytes that suits a machine: 8 MiB for each CPU, but at most a sixteenth of the memory.
std::uint64_t suitable_persistent_bytes(unsigned cpus, std::uint64_t memory_bytes);

// Return the size in bytes of the buffers of all CPUs, and the number of events in them that were not read.
std::uint64_t buffer_bytes_of(const std::string& instance);
std::uint64_t count_unread(const std::string& instance);
// Returns a text that names the current tracer or an enabled event. Empty if nothing records into the instance.
std::string current_use(const std::string& instance);

// The content of last_boot_info. In Linux 6.12 and 6.13, this file has the distance between the kernel's addresses in
// the two boots. In later kernels, it has addresses of the earlier boot (kernel/trace/trace.c).
struct LastBoot {
  bool is_current = false;                       // true: the events are of this boot
  std::optional<std::uint64_t> text_delta;       // address in this boot minus address in the earlier boot, modulo 2^64
  std::optional<std::uint64_t> kernel_text;      // address of _text in the earlier boot
  std::map<std::string, std::uint64_t> modules;  // start of each module's code in the earlier boot
};
LastBoot parse_last_boot_info(std::string_view text);
// Reads the file of an instance. Throws Error.
LastBoot last_boot_of(const std::string& instance);

// Since Linux 6.15, the kernel restores the clock of the earlier boot. The kernel does so before the other
// CPUs start. A change of the clock empties the buffers of the running CPUs (setup_trace_scratch() in
// kernel/trace/trace.c). So the events of the boot CPU only survive with the clock that an instance has at boot.
constexpr const char* kClockAtBoot = "local";
// True if the kernel restores the clock, so that a recording needs kClockAtBoot. `last` may be from any instance
// of the kernel.
bool restores_clock(const LastBoot& last);

// Returns /proc/kallsyms with the addresses of the earlier boot. `text` and `modules` are the addresses of _text and of
// the modules' code in that boot; `modules_now` is the present text of /proc/modules. Leaves out symbols whose address
// is unknown: data of modules, and modules that are not loaded in both boots. Empty if the kernel's address is unknown.
std::string kallsyms_of_earlier_boot(std::string_view kallsyms, std::uint64_t text,
                                     const std::map<std::string, std::uint64_t>& modules, std::string_view modules_now);

}  // namespace kmt
