#include "support/npz.h"

// The part of the ZIP format that .npz files use: no encryption, one disk, members stored or deflated, ZIP64
// on reading. Members are found through the central directory at the end, as the format asks.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "support/file.h"
#include "support/npy.h"

namespace tenon {
namespace {

constexpr uint64_t kMostFileBytes = uint64_t{1} << 40;
// A deflated member may claim any size; more than this needs an archive that is large itself.
constexpr uint64_t kMostExpansion = 1100;
constexpr uint64_t kLeastAllowance = uint64_t{1} << 20;

constexpr uint32_t kLocalSignature = 0x04034B50;
constexpr uint32_t kCentralSignature = 0x02014B50;
constexpr uint32_t kEndSignature = 0x06054B50;
constexpr uint32_t kEnd64Signature = 0x06064B50;
constexpr uint32_t kLocator64Signature = 0x07064B50;
constexpr size_t kLocalBytes = 30;
constexpr size_t kCentralBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kLocator64Bytes = 20;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint32_t kIn64 = UINT32_MAX;
// 1980-01-01, the earliest date that the format knows: archives do not depend on the clock.
constexpr uint16_t kDate = 0x0021;

struct Member {
  std::string name;
  uint16_t method = kStored;
  uint16_t flags = 0;
  uint32_t crc = 0;
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};

// Little-endian fields of an archive; reading beyond its end gives 0 and is remembered.
class Reader {
 public:
  explicit Reader(std::string_view content) : content_(content) {}

  uint16_t u16(uint64_t at) { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(uint64_t at) { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(uint64_t at) { return number(at, 8); }
  std::string_view bytes(uint64_t at, uint64_t size) {
    if (at > content_.size() || size > content_.size() - at) {
      failed_ = true;
      return {};
    }
    return content_.substr(at, size);
  }
  size_t size() const { return content_.size(); }
  bool failed() const { return failed_; }

 private:
  uint64_t number(uint64_t at, unsigned size) {
    uint64_t value = 0;
    std::string_view field = bytes(at, size);
    if (!field.empty()) std::memcpy(&value, field.data(), size);
    return value;
  }

  std::string_view content_;
  bool failed_ = false;
};

struct Directory {
  uint64_t members = 0;
  uint64_t offset = 0;
};

// The end record lies before a comment of at most 65535 bytes.
std::optional<Directory> find_directory(Reader& reader) {
  if (reader.size() < kEndBytes) return std::nullopt;
  uint64_t last = reader.size() - kEndBytes;
  uint64_t first = last > UINT16_MAX ? last - UINT16_MAX : 0;
  for (uint64_t at = last + 1; at-- > first;) {
    if (reader.u32(at) != kEndSignature) continue;
    Directory directory{reader.u16(at + 10), reader.u32(at + 16)};
    if (directory.offset != kIn64 && directory.members != UINT16_MAX) return directory;
    if (at < kLocator64Bytes || reader.u32(at - kLocator64Bytes) != kLocator64Signature) return directory;
    uint64_t end64 = reader.u64(at - kLocator64Bytes + 8);
    if (reader.u32(end64) != kEnd64Signature) return std::nullopt;
    return Directory{reader.u64(end64 + 32), reader.u64(end64 + 48)};
  }
  return std::nullopt;
}

// Sizes and offsets that do not fit 32 bits stand in the extra field 1, those alone, in this order.
void read_extra64(Reader& reader, uint64_t at, uint64_t end, Member& member) {
  while (at + 4 <= end && !reader.failed()) {
    uint64_t next = at + 4 + reader.u16(at + 2);
    if (reader.u16(at) == 1) {
      at += 4;
      for (uint64_t* field : {&member.bytes, &member.packed_bytes, &member.offset}) {
        if (*field != kIn64) continue;
        *field = reader.u64(at);
        at += 8;
      }
      return;
    }
    at = next;
  }
}

// The member whose central record is at `at`; moves `at` behind it.
Member read_central(Reader& reader, uint64_t& at) {
  Member member;
  member.flags = reader.u16(at + 8);
  member.method = reader.u16(at + 10);
  member.crc = reader.u32(at + 16);
  member.packed_bytes = reader.u32(at + 20);
  member.bytes = reader.u32(at + 24);
  uint64_t name_bytes = reader.u16(at + 28);
  uint64_t extra_bytes = reader.u16(at + 30);
  uint64_t comment_bytes = reader.u16(at + 32);
  member.offset = reader.u32(at + 42);
  member.name = reader.bytes(at + kCentralBytes, name_bytes);
  uint64_t extra = at + kCentralBytes + name_bytes;
  read_extra64(reader, extra, extra + extra_bytes, member);
  at = extra + extra_bytes + comment_bytes;
  return member;
}

// Empty on success, else what is wrong.
std::string inflate_into(std::string_view packed, std::string& to) {
  z_stream stream{};
  // Negative: no zlib header, as in ZIP.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return "zlib does not start";
  int status = Z_OK;
  size_t in = 0;
  size_t out = 0;
  while (status == Z_OK) {
    constexpr size_t kMostAtOnce = size_t{1} << 30;
    size_t give = std::min(packed.size() - in, kMostAtOnce);
    size_t room = std::min(to.size() - out, kMostAtOnce);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + out);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    in += give - stream.avail_in;
    out += room - stream.avail_out;
  }
  inflateEnd(&stream);
  bool whole = status == Z_STREAM_END && out == to.size() && in == packed.size();
  return whole ? "" : "its compressed data is damaged";
}

uint32_t checksum(std::string_view content) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

// Empty on success, else what is wrong.
std::string unpack(Reader& reader, const Member& member, std::string& to) {
  if ((member.flags & 1) != 0) return "it is encrypted";
  if (reader.u32(member.offset) != kLocalSignature) return "its local header is damaged";
  uint64_t skip = kLocalBytes + reader.u16(member.offset + 26) + reader.u16(member.offset + 28);
  std::string_view packed = reader.bytes(member.offset + skip, member.packed_bytes);
  if (reader.failed()) return "it reaches beyond the end of the file";
  if (member.method == kStored) {
    to = packed;
    if (member.bytes != member.packed_bytes) return "its two sizes differ";
  } else if (member.method == kDeflated) {
    if (member.bytes > kLeastAllowance && member.bytes / kMostExpansion > member.packed_bytes)
      return "its compressed data cannot have the size that it claims";
    to.resize(member.bytes);
    if (std::string problem = inflate_into(packed, to); !problem.empty()) return problem;
  } else {
    return fmt::format("its compression method {} is not known", member.method);
  }
  return checksum(to) == member.crc ? "" : "its checksum is wrong";
}

class Writer {
 public:
  explicit Writer(std::string& to) : to_(to) {}
  Writer& u16(uint64_t value) { return number(value, 2); }
  Writer& u32(uint64_t value) { return number(value, 4); }

 private:
  Writer& number(uint64_t value, unsigned size) {
    to_.append(reinterpret_cast<const char*>(&value), size);
    return *this;
  }
  std::string& to_;
};

// The fields that the local and the central record of a member share.
void write_common(std::string& to, const Member& member) {
  // Version 2.0 of the format; no flags.
  Writer(to).u16(20).u16(0).u16(member.method).u16(0).u16(kDate).u32(member.crc).u32(member.packed_bytes);
  Writer(to).u32(member.bytes).u16(member.name.size()).u16(0);
}

void write_central(std::string& to, const Member& member) {
  Writer(to).u32(kCentralSignature).u16(20);
  write_common(to, member);
  Writer(to).u16(0).u16(0).u16(0).u32(0).u32(member.offset);
  to += member.name;
}

}  // namespace

Result<NamedArrays> read_npz(const std::string& path) {
  constexpr std::string_view kSignature = "PK";
  // What is no archive is not read to its end.
  TENON_TRY_ASSIGN(std::string content, read_beginning(path, [&](std::string_view beginning) {
                     const bool archive = kSignature.starts_with(beginning.substr(0, kSignature.size()));
                     return archive ? kMostFileBytes : 0;
                   }));
  Reader reader(content);
  std::optional<Directory> directory = find_directory(reader);
  if (!directory || reader.failed())
    return fail(ErrorKind::kFile, fmt::format("cannot read {}: it is no ZIP archive", path));
  NamedArrays arrays;
  uint64_t at = directory->offset;
  for (uint64_t i = 0; i < directory->members; ++i) {
    bool known = reader.u32(at) == kCentralSignature;
    Member member = read_central(reader, at);
    if (!known || reader.failed())
      return fail(ErrorKind::kFile, fmt::format("cannot read {}: its directory is damaged", path));
    std::string data;
    if (std::string problem = unpack(reader, member, data); !problem.empty())
      return fail(ErrorKind::kFile, fmt::format("cannot read {} in {}: {}", member.name, path, problem));
    TENON_TRY_ASSIGN(Array array, parse_npy(data, fmt::format("{} in {}", member.name, path)));
    if (member.name.ends_with(".npy")) member.name.resize(member.name.size() - 4);
    arrays.emplace_back(std::move(member.name), std::move(array));
  }
  return arrays;
}

Result<void> write_npz(const std::string& path, const NamedArrays& arrays) {
  std::string content;
  std::string central;
  for (const auto& [name, array] : arrays) {
    std::string data = npy_content(array);
    Member member{.name = name + ".npy",
                  .crc = checksum(data),
                  .packed_bytes = data.size(),
                  .bytes = data.size(),
                  .offset = content.size()};
    if (content.size() + data.size() >= kIn64 || arrays.size() >= UINT16_MAX)
      return fail(ErrorKind::kFile,
                  fmt::format("cannot write {}: an .npz beyond 4 GiB is not supported", path));
    Writer(content).u32(kLocalSignature);
    write_common(content, member);
    content += member.name;
    content += data;
    write_central(central, member);
  }
  Writer end(content);
  uint64_t offset = content.size();
  content += central;
  end.u32(kEndSignature)
      .u16(0)
      .u16(0)
      .u16(arrays.size())
      .u16(arrays.size())
      .u32(central.size())
      .u32(offset)
      .u16(0);
  return write_file(path, content);
}

}  // namespace tenon
