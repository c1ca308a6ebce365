// SPDX-License-Identifier: MIT
#include "db/file_system.h"

#include <sys/vfs.h>

#include <array>
#include <string_view>
#include <utility>

namespace hone {
namespace {

// linux/magic.h and the file systems' own sources; some are missing from Debian's header.
constexpr std::array<std::pair<uint64_t, std::string_view>, 12> kNetworkFileSystems = {{
    {0x00006969, "NFS"},
    {0x0000517b, "SMB"},
    {0xff534d42, "CIFS"},
    {0xfe534d42, "SMB2"},
    {0x65735546, "FUSE"},  // also virtiofs and sshfs
    {0x01021997, "9p"},
    {0x0bd00bd0, "Lustre"},
    {0x00c36400, "Ceph"},
    {0x5346414f, "AFS"},
    {0x47504653, "GPFS"},
    {0x01161970, "GFS2"},
    {0x786f4256, "VirtualBox shared folder"},
}};

}  // namespace

std::string network_file_system(uint64_t statfs_type) {
  for (const auto& [magic, name] : kNetworkFileSystems) {
    if (magic == statfs_type) return std::string(name);
  }
  return {};
}

std::string network_file_system_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  struct statfs status {};
  if (statfs(folder.c_str(), &status) != 0) return {};
  return network_file_system(static_cast<uint32_t>(status.f_type));  // f_type is signed on some architectures
}

}  // namespace hone
