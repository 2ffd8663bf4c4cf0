// c = a b for a: M x K and b: K x N in f32. A block of 256 threads computes 128 x 128 results, 8 x 8 a thread in two by two
// quarters; slices of 8 of K go through shared memory (a transposed), the next one travels in registers meanwhile.
// Launch: M / 128 * N / 128 blocks of 256 threads; M and N are multiples of 128, K of 8.
constexpr int kTile = 128;
constexpr int kSlice = 8;
constexpr int kThreads = 256;
// Keeps rows on 16 bytes and the transposed writes of a on different banks.
constexpr int kPadded = kTile + 4;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ __align__(16) float a_slice[2][kSlice][kPadded];
  __shared__ __align__(16) float b_slice[2][kSlice][kTile];
  const unsigned thread = threadIdx.x;
  const unsigned row = blockIdx.x / (N / kTile) * kTile;
  const unsigned column = blockIdx.x % (N / kTile) * kTile;

  // What a thread copies: four elements of a row of a, and of b.
  const unsigned a_row = thread / 2;
  const unsigned a_k = thread % 2 * 4;
  const unsigned b_k = thread / 32;
  const unsigned b_column = thread % 32 * 4;
  const float* from_a = a + (row + a_row) * K + a_k;
  const float* from_b = b + b_k * N + column + b_column;

  // Where its results lie: rows m .. m+3 and m+64 .. m+67, columns likewise. A warp covers 4 x 8 threads.
  const unsigned warp = thread / 32;
  const unsigned lane = thread % 32;
  const unsigned m = (warp / 2 * 4 + lane / 8) * 4;
  const unsigned n = (warp % 2 * 8 + lane % 8) * 4;

  auto store_slices = [&](int buffer, float4 next_a, float4 next_b) {
    a_slice[buffer][a_k + 0][a_row] = next_a.x;
    a_slice[buffer][a_k + 1][a_row] = next_a.y;
    a_slice[buffer][a_k + 2][a_row] = next_a.z;
    a_slice[buffer][a_k + 3][a_row] = next_a.w;
    *reinterpret_cast<float4*>(&b_slice[buffer][b_k][b_column]) = next_b;
  };

  float sums[8][8] = {};
  auto multiply = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < kSlice; ++k) {
      float x[8];
      float y[8];
      *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(&a_slice[buffer][k][m]);
      *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<const float4*>(&a_slice[buffer][k][m + 64]);
      *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(&b_slice[buffer][k][n]);
      *reinterpret_cast<float4*>(y + 4) = *reinterpret_cast<const float4*>(&b_slice[buffer][k][n + 64]);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] += x[i] * y[j];
    }
  };

  store_slices(0, *reinterpret_cast<const float4*>(from_a), *reinterpret_cast<const float4*>(from_b));
  __syncthreads();
  int buffer = 0;
#pragma unroll 1
  for (int k = kSlice; k < K; k += kSlice) {
    from_a += kSlice;
    from_b += kSlice * N;
    const float4 next_a = *reinterpret_cast<const float4*>(from_a);
    const float4 next_b = *reinterpret_cast<const float4*>(from_b);
    multiply(buffer);
    buffer ^= 1;
    store_slices(buffer, next_a, next_b);
    __syncthreads();
  }
  multiply(buffer);

  float* to = c + (row + m) * N + column + n;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float* to_row = to + (i % 4 + i / 4 * 64) * N;
    *reinterpret_cast<float4*>(to_row) = {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
    *reinterpret_cast<float4*>(to_row + 64) = {sums[i][4], sums[i][5], sums[i][6], sums[i][7]};
  }
}
