#include "frontend/check/scope.h"

namespace tenon::frontend {

void Scope::add(std::string_view name, Entity entity) {
  if (names_.emplace(name, entity).second) order_.push_back(name);
}

void Scope::set(std::string_view name, Entity entity) {
  if (names_.insert_or_assign(name, entity).second) order_.push_back(name);
}

const Entity* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
    auto found = scope->names_.find(name);
    if (found != scope->names_.end()) return &found->second;
  }
  return nullptr;
}

std::vector<std::string_view> Scope::visible_names() const {
  std::vector<std::string_view> names;
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_)
    names.insert(names.end(), scope->order_.begin(), scope->order_.end());
  return names;
}

}  // namespace tenon::frontend
