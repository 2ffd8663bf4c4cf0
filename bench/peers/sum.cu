// The sum of N elements, in an order that is always the same: one partial sum a block, then a second launch of one block.
// Launch: sum_partials with kBlocks blocks of 256 threads, sum_total with one block of 256; N is a multiple of
// 16 * 256 * kBlocks.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kBlocks = 1024;
constexpr int kInFlight = 4;

// The first thread gets the sum.
__device__ inline float block_sum(float value) {
  __shared__ float slots[kWarps];
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  float result = slots[0];
#pragma unroll
  for (int warp = 1; warp < kWarps; ++warp) result += slots[warp];
  return result;
}

__device__ inline void add(float4& sum, float4 value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    sum_partials(const float* __restrict__ x, float* __restrict__ partials) {
  constexpr int kStride = kBlocks * kThreads;
  const float4* from = reinterpret_cast<const float4*>(x) + blockIdx.x * kThreads + threadIdx.x;
  float4 sums[kInFlight] = {};
#pragma unroll 1
  for (int i = 0; i < N / 4; i += kInFlight * kStride, from += kInFlight * kStride) {
    float4 values[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) values[k] = from[k * kStride];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) add(sums[k], values[k]);
  }
#pragma unroll
  for (int k = 1; k < kInFlight; ++k) add(sums[0], sums[k]);
  const float sum = block_sum((sums[0].x + sums[0].y) + (sums[0].z + sums[0].w));
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    sum_total(const float* __restrict__ partials, float* __restrict__ y) {
  float value = 0;
#pragma unroll
  for (int i = 0; i < kBlocks / kThreads; ++i) value += partials[i * kThreads + threadIdx.x];
  const float sum = block_sum(value);
  if (threadIdx.x == 0) *y = sum;
}
