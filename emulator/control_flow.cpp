#include "emulator/control_flow.h"

#include <algorithm>
#include <bit>

#include "emulator/block.h"
#include "emulator/warp.h"

namespace tenon::emulator {

void execute_branch(const Record& record, Warp& warp, LaneMask mask) {
  warp.branch(mask, record.extra, record.reconvergence);
}

void execute_branch_indexed(const Record& record, Warp& warp, LaneMask mask) {
  const auto* index = warp.lanes<uint32_t>(record.a);
  uint32_t targets[kLanes] = {};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    if (index[lane] >= record.immediate) return warp.fault(FaultKind::kBranchTarget, record, lane);
    targets[lane] = warp.program->lists[record.extra + index[lane]];
  }
  warp.branch_indexed(mask, targets, record.reconvergence);
}

void execute_call(const Record& record, Warp& warp, LaneMask mask) { warp.call(mask, record.extra); }

void execute_return(const Record& record, Warp& warp, LaneMask mask) { warp.return_lanes(mask); }

void execute_exit(const Record& record, Warp& warp, LaneMask mask) { warp.exit_lanes(mask); }

void execute_trap(const Record& record, Warp& warp, LaneMask mask) {
  warp.fault(FaultKind::kTrap, record, static_cast<unsigned>(std::countr_zero(mask)));
}

void execute_nothing(const Record& record, Warp& warp, LaneMask mask) {}

namespace {

constexpr uint32_t kNone = UINT32_MAX;

struct BasicBlock {
  uint32_t begin = 0;
  uint32_t last = 0;
  std::vector<uint32_t> successors;
  std::vector<uint32_t> predecessors;
};

bool ends_lanes(const Record& record) {
  return record.handler == execute_return || record.handler == execute_exit || record.handler == execute_trap;
}

class Reconvergence {
 public:
  Reconvergence(Program& program, uint32_t begin, uint32_t end)
      : program_(program), begin_(begin), end_(end) {}

  void run() {
    find_blocks();
    connect();
    order();
    solve();
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      const uint32_t parent = immediate_[i];
      const bool meets =
          order_of_[i] != kNone && parent != kNone && parent != i && !only_ends(blocks_[parent]);
      program_.records[blocks_[i].last].reconvergence = meets ? blocks_[parent].begin : kNoReconvergence;
    }
  }

 private:
  // Lanes that have nothing left to do but to end do not wait for others: a barrier may be waiting for them
  // to go.
  bool only_ends(const BasicBlock& block) const {
    const Record& record = program_.records[block.begin];
    return ends_lanes(record) && record.guard == kNoOperand;
  }

  // Where a record may go besides the next one.
  std::vector<uint32_t> targets(const Record& record) const {
    if (record.handler == execute_branch) return {record.extra};
    if (record.handler == execute_branch_indexed) {
      const auto first = program_.lists.begin() + record.extra;
      return {first, first + static_cast<ptrdiff_t>(record.immediate)};
    }
    return {};
  }

  static bool is_branch(const Record& record) {
    return record.handler == execute_branch || record.handler == execute_branch_indexed;
  }

  // Blocks end behind branches and unguarded ends, and before branch targets.
  void find_blocks() {
    std::vector<bool> starts(end_ - begin_ + 1, false);
    starts[0] = true;
    for (uint32_t i = begin_; i < end_; ++i) {
      const Record& record = program_.records[i];
      for (const uint32_t target : targets(record)) starts[target - begin_] = true;
      if (is_branch(record) || ends_lanes(record)) starts[i + 1 - begin_] = true;
    }
    block_of_.resize(end_ - begin_);
    for (uint32_t i = begin_; i < end_; ++i) {
      if (starts[i - begin_]) blocks_.push_back({i, i, {}, {}});
      blocks_.back().last = i;
      block_of_[i - begin_] = static_cast<uint32_t>(blocks_.size() - 1);
    }
  }

  void connect() {
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      const Record& record = program_.records[blocks_[i].last];
      for (const uint32_t target : targets(record)) add_edge(i, block_of_[target - begin_]);
      const bool goes_on = record.guard != kNoOperand || !(is_branch(record) || ends_lanes(record));
      if (goes_on && i + 1 < blocks_.size()) add_edge(i, i + 1);
    }
  }

  void add_edge(uint32_t from, uint32_t to) {
    auto& successors = blocks_[from].successors;
    if (std::find(successors.begin(), successors.end(), to) != successors.end()) return;
    successors.push_back(to);
    blocks_[to].predecessors.push_back(from);
  }

  // The block that counts as the function's end: the last return that the entry reaches.
  uint32_t root() const {
    std::vector<bool> seen(blocks_.size(), false);
    std::vector<uint32_t> work = {0};
    seen[0] = true;
    uint32_t last = kNone;
    while (!work.empty()) {
      const uint32_t block = work.back();
      work.pop_back();
      if (blocks_[block].successors.empty() && (last == kNone || block > last)) {
        const Record& record = program_.records[blocks_[block].last];
        if (record.handler != execute_trap) last = block;
      }
      for (const uint32_t next : blocks_[block].successors) {
        if (!seen[next]) work.push_back(next);
        seen[next] = true;
      }
    }
    return last;
  }

  // Post-order of the reversed graph from the root; blocks that do not reach it have no order.
  void order() {
    order_of_.assign(blocks_.size(), kNone);
    root_ = root();
    if (root_ == kNone) return;
    std::vector<bool> seen(blocks_.size(), false);
    std::vector<std::pair<uint32_t, size_t>> stack = {{root_, 0}};
    seen[root_] = true;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& predecessors = blocks_[block].predecessors;
      if (next < predecessors.size()) {
        const uint32_t predecessor = predecessors[next++];
        if (!seen[predecessor]) {
          seen[predecessor] = true;
          stack.push_back({predecessor, 0});
        }
        continue;
      }
      order_of_[block] = static_cast<uint32_t>(post_order_.size());
      post_order_.push_back(block);
      stack.pop_back();
    }
  }

  uint32_t intersect(uint32_t a, uint32_t b) const {
    while (a != b) {
      while (order_of_[a] < order_of_[b]) a = immediate_[a];
      while (order_of_[b] < order_of_[a]) b = immediate_[b];
    }
    return a;
  }

  // Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the reversed graph.
  void solve() {
    immediate_.assign(blocks_.size(), kNone);
    if (root_ == kNone) return;
    immediate_[root_] = root_;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = post_order_.size(); i-- > 0;) {
        const uint32_t block = post_order_[i];
        if (block == root_) continue;
        uint32_t best = kNone;
        for (const uint32_t next : blocks_[block].successors) {
          if (order_of_[next] == kNone || immediate_[next] == kNone) continue;
          best = best == kNone ? next : intersect(next, best);
        }
        if (best == immediate_[block]) continue;
        immediate_[block] = best;
        changed = true;
      }
    }
  }

  Program& program_;
  uint32_t begin_;
  uint32_t end_;
  std::vector<BasicBlock> blocks_;
  std::vector<uint32_t> block_of_;
  std::vector<uint32_t> order_of_;
  std::vector<uint32_t> post_order_;
  std::vector<uint32_t> immediate_;
  uint32_t root_ = kNone;
};

}  // namespace

void set_reconvergence(Program& program, uint32_t begin, uint32_t end) {
  Reconvergence(program, begin, end).run();
}

}  // namespace tenon::emulator
