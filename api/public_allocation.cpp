// Strings and vectors that are made here are freed by the host, and the library has a C++ runtime of its own
// inside. So its operator new and delete are the host's, where the host has any.
#include <dlfcn.h>

#include <cstdlib>
#include <new>

namespace {

struct Allocation {
  void* (*allocate)(std::size_t, const std::nothrow_t&);
  void (*release)(void*);
};

void* allocate_plainly(std::size_t bytes, const std::nothrow_t&) { return std::malloc(bytes); }

Allocation find_allocation() {
  // operator new(size_t, const nothrow_t&) and operator delete(void*), by the Itanium C++ ABI.
  void* allocate = dlsym(RTLD_DEFAULT, "_ZnwmRKSt9nothrow_t");
  void* release = dlsym(RTLD_DEFAULT, "_ZdlPv");
  if (allocate == nullptr || release == nullptr) return {allocate_plainly, std::free};
  return {reinterpret_cast<decltype(Allocation::allocate)>(allocate),
          reinterpret_cast<decltype(Allocation::release)>(release)};
}

const Allocation& allocation() {
  static const Allocation found = find_allocation();
  return found;
}

}  // namespace

// The other forms come down to these two. A failure must be thrown from here, since an exception that the
// host's runtime throws cannot be relied on to pass.
void* operator new(std::size_t bytes) {
  void* memory = allocation().allocate(bytes == 0 ? 1 : bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { allocation().release(memory); }
