#include "shrink.h"

#include <utility>
#include <vector>

namespace tenon::fuzz {
namespace {

class Shrinker {
 public:
  Shrinker(Program& program, const std::function<bool(const Program&)>& fails)
      : program_(program), fails_(fails) {}

  void run() {
    for (bool changed = true; changed && tries_ < kMostTries;) {
      changed = false;
      for (size_t i = program_.statements.size(); i-- > 0;) changed |= drop_statement(i);
      changed |= drop_from(&Program::clauses);
      changed |= drop_from(&Program::generics);
      changed |= drop_from(&Program::functions);
      changed |= drop_from(&Program::parameters);
      changed |= try_change([&] { program_.attribute.clear(); });
      changed |= !program_.tensor_functions.empty() && try_change([&] { program_.tensor_functions.clear(); });
      for (size_t i = 0; i < program_.statements.size(); ++i)
        changed |= shrink_node(program_.statements[i].value);
    }
  }

 private:
  static constexpr int kMostTries = 400;

  template <class Change>
  bool try_change(Change change) {
    if (tries_ >= kMostTries) return false;
    const Program before = program_;
    change();
    if (program_.to_text() == before.to_text()) return false;
    ++tries_;
    if (fails_(program_)) return true;
    program_ = before;
    return false;
  }

  template <class List>
  bool drop_from(List Program::* list) {
    bool changed = false;
    for (size_t i = (program_.*list).size(); i-- > 0;)
      changed |=
          try_change([&] { (program_.*list).erase((program_.*list).begin() + static_cast<ptrdiff_t>(i)); });
    return changed;
  }

  // With the result that it defines.
  bool drop_statement(size_t i) {
    return try_change([&] {
      const std::string& target = program_.statements[i].target;
      const std::string name = target.substr(0, target.find('['));
      std::erase_if(program_.results,
                    [&](const std::string& result) { return result.starts_with(name + ":"); });
      program_.statements.erase(program_.statements.begin() + static_cast<ptrdiff_t>(i));
    });
  }

  // The node, which lies in program_, becomes one of its parts, or a literal; then its parts become smaller.
  bool shrink_node(Node& node) {
    std::vector<Node> candidates = node.parts;
    for (const char* literal : {"1", "x0", "true"}) candidates.push_back({literal});
    for (Node& candidate : candidates) {
      if (tries_ >= kMostTries) return false;
      if (node.parts.empty()) break;
      Node before = std::exchange(node, candidate);
      ++tries_;
      if (fails_(program_)) {
        shrink_node(node);
        return true;
      }
      node = std::move(before);
    }
    bool changed = false;
    for (Node& part : node.parts) changed |= shrink_node(part);
    return changed;
  }

  Program& program_;
  const std::function<bool(const Program&)>& fails_;
  int tries_ = 0;
};

}  // namespace

void make_smaller(Program& program, const std::function<bool(const Program&)>& fails) {
  Shrinker(program, fails).run();
}

}  // namespace tenon::fuzz
