// A vector for the short lists that nodes of an IR have: the first elements lie in the node itself, so that a
// list of usual length costs no allocation and no cache line of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <ranges>
#include <type_traits>
#include <utility>

namespace tenon {

// `kInline` elements take no allocation. The interface is that of std::vector, as far as it is used;
// iterators and references are invalidated by moves as well. Elements are copied as bytes.
template <class T, uint32_t kInline>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && kInline > 0);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> items) { append(items.begin(), items.size()); }
  template <std::forward_iterator Iterator>
  SmallVector(Iterator first, Iterator last) {
    insert(end(), first, last);
  }
  // Of a list of the same elements in another form: a std::vector, a std::span.
  template <std::ranges::contiguous_range Range>
    requires(std::is_same_v<std::ranges::range_value_t<Range>, T> &&
             !std::is_same_v<std::remove_cvref_t<Range>, SmallVector>)
  SmallVector(const Range& items) {
    append(std::ranges::data(items), std::ranges::size(items));
  }
  SmallVector(const SmallVector& other) { append(other.data(), other.size()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~SmallVector() { release(); }

  T* data() { return is_inline() ? std::launder(reinterpret_cast<T*>(storage_.items)) : storage_.heap; }
  const T* data() const {
    return is_inline() ? std::launder(reinterpret_cast<const T*>(storage_.items)) : storage_.heap;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t at) { return data()[at]; }
  const T& operator[](size_t at) const { return data()[at]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_t count) {
    if (count > capacity_) grow(count);
  }
  void clear() { size_ = 0; }
  void resize(size_t count, const T& value = T()) {
    if (count > size_) {
      const T filler = value;
      reserve(count);
      std::uninitialized_fill(end(), data() + count, filler);
    }
    size_ = static_cast<uint32_t>(count);
  }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    SmallVector made(first, last);
    *this = std::move(made);
  }
  void push_back(const T& value) {
    const T copy = value;
    if (size_ == capacity_) grow(size_t{size_} + 1);
    new (end()) T(copy);
    ++size_;
  }
  void pop_back() { --size_; }
  T* insert(const T* where, const T& value) {
    const T copy = value;
    return insert(where, &copy, &copy + 1);
  }
  // The elements are not those of this vector.
  template <class Iterator>
  T* insert(const T* where, Iterator first, Iterator last) {
    const size_t at = static_cast<size_t>(where - data());
    const size_t count = static_cast<size_t>(std::distance(first, last));
    reserve(size_ + count);
    T* begin = data() + at;
    std::memmove(static_cast<void*>(begin + count), begin, (size_ - at) * sizeof(T));
    std::uninitialized_copy(first, last, begin);
    size_ += static_cast<uint32_t>(count);
    return begin;
  }
  T* erase(const T* first, const T* last) {
    T* to = data() + (first - data());
    const size_t count = static_cast<size_t>(last - first);
    std::memmove(static_cast<void*>(to), last, static_cast<size_t>(end() - last) * sizeof(T));
    size_ -= static_cast<uint32_t>(count);
    return to;
  }
  T* erase(const T* at) { return erase(at, at + 1); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) { return std::ranges::equal(a, b); }
  friend auto operator<=>(const SmallVector& a, const SmallVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  union Storage {
    T* heap;
    alignas(T) std::byte items[kInline * sizeof(T)];
  };

  bool is_inline() const { return capacity_ == kInline; }

  void append(const T* items, size_t count) {
    reserve(size_ + count);
    if (count > 0) std::memcpy(static_cast<void*>(end()), items, count * sizeof(T));
    size_ += static_cast<uint32_t>(count);
  }

  void grow(size_t count) {
    const size_t capacity = std::max(count, size_t{capacity_} * 2);
    T* heap = std::allocator<T>().allocate(capacity);
    std::memcpy(static_cast<void*>(heap), data(), size_ * sizeof(T));
    release();
    storage_.heap = heap;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  void release() {
    if (!is_inline()) std::allocator<T>().deallocate(storage_.heap, capacity_);
    capacity_ = kInline;
  }

  // Leaves the other one empty.
  void take(SmallVector& other) {
    storage_ = other.storage_;
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInline);
  }

  Storage storage_;
  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
};

template <class T, uint32_t kInline, class Predicate>
size_t erase_if(SmallVector<T, kInline>& list, Predicate predicate) {
  const size_t before = list.size();
  list.erase(std::remove_if(list.begin(), list.end(), predicate), list.end());
  return before - list.size();
}

}  // namespace tenon
