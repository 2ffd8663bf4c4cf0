// z = a * x + y by hand, for the entries of axpy_program(): axpy_vector takes four elements a thread, axpy_any one.
#pragma once

namespace tenon::runtime {

inline constexpr const char* kAxpyVectorPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry axpy_vector(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
.reqntid 256, 1, 1
{
  .reg .pred %p<2>;
  .reg .f32 %f<13>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.f32 %f0, [a];
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [y];
  ld.param.u64 %rd2, [z];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 256, %r2;
  shl.b32 %r4, %r3, 2;
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 bra DONE;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd0, %rd3;
  add.s64 %rd5, %rd1, %rd3;
  add.s64 %rd6, %rd2, %rd3;
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
  ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd5];
  fma.rn.f32 %f9, %f0, %f1, %f5;
  fma.rn.f32 %f10, %f0, %f2, %f6;
  fma.rn.f32 %f11, %f0, %f3, %f7;
  fma.rn.f32 %f12, %f0, %f4, %f8;
  st.global.v4.f32 [%rd6], {%f9, %f10, %f11, %f12};
DONE:
  ret;
}
)";

inline constexpr const char* kAxpyAnyPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry axpy_any(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
.reqntid 256, 1, 1
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.f32 %f0, [a];
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [y];
  ld.param.u64 %rd2, [z];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 256, %r2;
  setp.ge.u32 %p0, %r3, %r0;
  @%p0 bra DONE;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd0, %rd3;
  add.s64 %rd5, %rd1, %rd3;
  add.s64 %rd6, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [%rd5];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd6], %f3;
DONE:
  ret;
}
)";

}  // namespace tenon::runtime
