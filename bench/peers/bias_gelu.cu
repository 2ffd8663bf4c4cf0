// y = gelu(x + bias) for M x N elements, one bias a column. A thread owns four columns: it reads their bias once and
// walks kRows rows, all of whose loads are in flight before the first is used.
// Launch: M * N / (4 * kRows * 256) blocks of 256 threads; N is a multiple of 1024, M of kRows.
constexpr int kRows = 4;
constexpr int kThreads = 256;

__device__ inline float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.707106781186547524f)); }

extern "C" __global__ void __launch_bounds__(kThreads)
    bias_gelu(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y) {
  constexpr unsigned kColumnBlocks = N / (4 * kThreads);
  const unsigned column = (blockIdx.x % kColumnBlocks) * kThreads + threadIdx.x;
  const unsigned row = (blockIdx.x / kColumnBlocks) * kRows;
  const float4* from = reinterpret_cast<const float4*>(x) + row * (N / 4) + column;
  float4* to = reinterpret_cast<float4*>(y) + row * (N / 4) + column;
  const float4 b = reinterpret_cast<const float4*>(bias)[column];
  float4 values[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) values[r] = from[r * (N / 4)];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float4 v = values[r];
    to[r * (N / 4)] = {gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w)};
  }
}
