// Typed 32-bit ids and the stores that they index. An entity is named by its position in the store of the
// module that owns it, so ids are stable, cheap to copy, and iterate in creation order on every run.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tenon {

// `Tag` is the entity that the id names; it need not be complete.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint32_t index) : index_(index) {}

  constexpr bool valid() const { return index_ != kInvalid; }
  constexpr explicit operator bool() const { return valid(); }
  constexpr uint32_t index() const { return index_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr uint32_t kInvalid = UINT32_MAX;
  uint32_t index_ = kInvalid;
};

// A growing array of T that hands out Id<Tag>. References are invalidated by `add`, ids never.
template <class T, class Tag = T>
class Store {
 public:
  using IdType = Id<Tag>;

  IdType add(T value) {
    items_.push_back(std::move(value));
    return IdType(static_cast<uint32_t>(items_.size() - 1));
  }
  T& operator[](IdType id) { return items_[id.index()]; }
  const T& operator[](IdType id) const { return items_[id.index()]; }
  void reserve(size_t size) { items_.reserve(size); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void clear() { items_.clear(); }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
};

// A side table: a T for every id of a store, default-constructed until set.
template <class Tag, class T>
class SideTable {
 public:
  SideTable() = default;
  explicit SideTable(size_t size, T initial = T{}) : items_(size, initial), initial_(std::move(initial)) {}

  T& operator[](Id<Tag> id) {
    if (id.index() >= items_.size()) items_.resize(id.index() + 1, initial_);
    return items_[id.index()];
  }
  const T& operator[](Id<Tag> id) const { return id.index() < items_.size() ? items_[id.index()] : initial_; }

 private:
  std::vector<T> items_;
  T initial_{};
};

}  // namespace tenon

template <class Tag>
struct std::hash<tenon::Id<Tag>> {
  size_t operator()(tenon::Id<Tag> id) const { return id.index(); }
};
