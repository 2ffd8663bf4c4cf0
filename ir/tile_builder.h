// Builds tile IR: appends operations to a region and infers the axes of their results.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/tile.h"

namespace tenon::ir {

class TileBuilder {
 public:
  TileBuilder(TileModule& module, RegionId region) : module_(module), region_(region) {}

  TileModule& module() { return module_; }
  IndexPool& index() { return module_.index; }
  RegionId region() const { return region_; }
  // Where operations built from now on come from: of the places of a fused operation the first few.
  static constexpr size_t kMostSpans = 4;
  void set_places(std::span<const Span> spans);
  void set_places(PlacesId places) { places_ = places; }

  TileValueId constant(Constant constant);
  // The value of an index expression; its axes are the tile axes that the expression mentions.
  TileValueId index_value(IndexId index);
  // An elementwise op; `type` is the result's element type.
  TileValueId elementwise(Opcode op, ElementType type, std::span<const TileValueId> operands,
                          bool approx = false);
  TileValueId elementwise(Opcode op, ElementType type, std::initializer_list<TileValueId> operands,
                          bool approx = false) {
    return elementwise(op, type, std::span(operands.begin(), operands.size()), approx);
  }
  // Body `body` with its arguments replaced; gives the values asked for.
  std::vector<TileValueId> inline_body(const Body& body, std::span<const TileValueId> arguments,
                                       std::span<const ValueId> wanted);
  // Without `otherwise` any value will do where the mask is false.
  TileValueId load(TensorId tensor, IndexList subscripts, TileValueId mask = {}, TileValueId otherwise = {});
  TileValueId load(BufferId buffer, IndexList subscripts, ElementType element);
  void store(TensorId tensor, IndexList subscripts, TileValueId value, TileValueId mask = {});
  void store(BufferId buffer, IndexList subscripts, TileValueId value, TileValueId mask = {});
  std::vector<TileValueId> reduce(const SharedMonoid& monoid, std::span<const TileValueId> state,
                                  AxisList axes);
  TileValueId mma(TileValueId a, TileValueId b, TileValueId accumulator);
  // A loop over `axis`; `body` gets a builder of its region and the carried values and returns what it
  // yields. What `body` appends to the region around the loop runs before it.
  using LoopBody = std::function<std::vector<TileValueId>(TileBuilder&, std::span<const TileValueId>)>;
  std::vector<TileValueId> loop(AxisId axis, std::span<const TileValueId> initial, const LoopBody& body);
  void barrier();
  void copy_commit();
  void copy_wait(uint64_t groups_under_way);
  void yield(std::span<const TileValueId> values);

  AxisId tile_axis(std::string name, int64_t extent);
  AxisId loop_axis(std::string name, IndexId count);
  AxisId grid_axis(std::string name, IndexId count);

  // The tile axes that an expression mentions, directly or through the values in it; ascending.
  AxisList tile_axes(IndexId index) const;

  TileOpId append(TileOp op);
  TileValueId result(TileOpId op, ElementType element, AxisList axes);

 private:
  AxisList union_axes(std::span<const TileValueId> values) const;

  TileModule& module_;
  RegionId region_;
  PlacesId places_;
};

}  // namespace tenon::ir
