// Finds entities by their content where a store already has them: a hash table that holds ids alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/ids.h"

namespace tenon {

// How to hash an entity, and when two are equal, is said at each call, and always alike. A copy of the set
// goes with a copy of the store.
template <class Tag>
class IdSet {
 public:
  // The entity with this hash for which `is_equal(id)` holds; `id` itself, which is then added, if there is
  // none.
  template <class IsEqual>
  Id<Tag> find_or_add(size_t hash, Id<Tag> id, IsEqual&& is_equal) {
    if (4 * (count_ + 1) > 3 * slots_.size()) grow();
    const uint32_t short_hash = mixed(hash);
    size_t at = short_hash & (slots_.size() - 1);
    for (; slots_[at].id.valid(); at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].hash == short_hash && is_equal(slots_[at].id)) return slots_[at].id;
    slots_[at] = {short_hash, id};
    ++count_;
    return id;
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    Id<Tag> id;
  };
  static constexpr size_t kLeast = 16;

  static uint32_t mixed(size_t hash) { return static_cast<uint32_t>((hash * 0x9e3779b97f4a7c15) >> 32); }

  void grow() {
    std::vector<Slot> old(std::max(kLeast, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (!slot.id.valid()) continue;
      size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].id.valid()) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  // A power of two of them.
  std::vector<Slot> slots_;
  size_t count_ = 0;
};

// A hash of several numbers, one after the other: start with the first.
inline size_t hash_combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
}

}  // namespace tenon
