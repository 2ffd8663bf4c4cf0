// A zeroed block of bytes aligned for the widest vector registers.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tenon::emulator {

class AlignedBytes {
 public:
  static constexpr size_t kAlignment = 64;

  AlignedBytes() = default;
  explicit AlignedBytes(size_t size) { resize(size); }

  std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

  // The old contents are lost.
  void resize(size_t size) {
    size_ = (size + kAlignment - 1) / kAlignment * kAlignment;
    bytes_.reset(size_ == 0 ? nullptr : static_cast<std::byte*>(std::aligned_alloc(kAlignment, size_)));
    clear();
  }
  void clear() {
    if (size_ != 0) std::memset(bytes_.get(), 0, size_);
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  size_t size_ = 0;
};

}  // namespace tenon::emulator
