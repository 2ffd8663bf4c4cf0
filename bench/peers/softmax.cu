// Softmax over rows of N elements. A block of 256 threads a row, the row in registers, read once; EXP is the
// exponential function to take.
// Launch: M blocks of 256 threads; N is a multiple of 1024.
#ifndef EXP
#define EXP expf
#endif

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kVectors = N / (4 * kThreads);

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Every thread gets the result. `slots` is written once a launch.
template <class Combine>
__device__ inline float block_reduce(float value, float (&slots)[kWarps], Combine combine) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(~0u, value, lane));
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  float result = slots[0];
#pragma unroll
  for (int warp = 1; warp < kWarps; ++warp) result = combine(result, slots[warp]);
  return result;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ __align__(16) float max_slots[kWarps];
  __shared__ __align__(16) float sum_slots[kWarps];
  const float4* from = reinterpret_cast<const float4*>(x) + blockIdx.x * (N / 4) + threadIdx.x;
  float4* to = reinterpret_cast<float4*>(y) + blockIdx.x * (N / 4) + threadIdx.x;
  float4 v[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) v[i] = from[i * kThreads];

  float m = v[0].x;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) m = fmaxf(m, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
  m = block_reduce(m, max_slots, Max());

  float s = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    v[i] = {EXP(v[i].x - m), EXP(v[i].y - m), EXP(v[i].z - m), EXP(v[i].w - m)};
    s += (v[i].x + v[i].y) + (v[i].z + v[i].w);
  }
  const float scale = 1.0f / block_reduce(s, sum_slots, Sum());

#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    to[i * kThreads] = {v[i].x * scale, v[i].y * scale, v[i].z * scale, v[i].w * scale};
}
