// Layer normalisation of rows of N elements: mean, then the mean of the centred squares, both from registers. A block of
// 256 threads a row, read once.
// Launch: M blocks of 256 threads; N is a multiple of 1024.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kVectors = N / (4 * kThreads);

// Every thread gets the sum. `slots` is written once a launch.
__device__ inline float block_sum(float value, float (&slots)[kWarps]) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  float result = slots[0];
#pragma unroll
  for (int warp = 1; warp < kWarps; ++warp) result += slots[warp];
  return result;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    layernorm(const float* __restrict__ x, const float* __restrict__ gain, const float* __restrict__ bias, float eps,
              float* __restrict__ y) {
  __shared__ __align__(16) float mean_slots[kWarps];
  __shared__ __align__(16) float square_slots[kWarps];
  const float4* from = reinterpret_cast<const float4*>(x) + blockIdx.x * (N / 4) + threadIdx.x;
  const float4* gains = reinterpret_cast<const float4*>(gain) + threadIdx.x;
  const float4* biases = reinterpret_cast<const float4*>(bias) + threadIdx.x;
  float4* to = reinterpret_cast<float4*>(y) + blockIdx.x * (N / 4) + threadIdx.x;
  float4 v[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) v[i] = from[i * kThreads];

  float s = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) s += (v[i].x + v[i].y) + (v[i].z + v[i].w);
  const float mean = block_sum(s, mean_slots) * (1.0f / N);

  float q = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    v[i] = {v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean};
    q += v[i].x * v[i].x;
    q += v[i].y * v[i].y;
    q += v[i].z * v[i].z;
    q += v[i].w * v[i].w;
  }
  const float scale = rsqrtf(block_sum(q, square_slots) * (1.0f / N) + eps);

#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float4 g = gains[i * kThreads];
    const float4 b = biases[i * kThreads];
    to[i * kThreads] = {v[i].x * scale * g.x + b.x, v[i].y * scale * g.y + b.y, v[i].z * scale * g.z + b.z,
                        v[i].w * scale * g.w + b.w};
  }
}
