// y[j, i] = x[i, j] for M x N elements. A tile of 32 x 32 through shared memory, its rows padded so that columns meet no
// bank twice.
// Launch: M / 32 * N / 32 blocks of 256 threads; M and N are multiples of 32.
constexpr int kTile = 32;
constexpr int kThreadRows = 8;

extern "C" __global__ void __launch_bounds__(kTile* kThreadRows)
    transpose(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float tile[kTile][kTile + 1];
  const unsigned row = blockIdx.x / (N / kTile) * kTile;
  const unsigned column = blockIdx.x % (N / kTile) * kTile;
  const unsigned lane = threadIdx.x % kTile;
  const unsigned warp = threadIdx.x / kTile;
  const float* from = x + (row + warp) * N + column + lane;
  float* to = y + (column + warp) * M + row + lane;
#pragma unroll
  for (int i = 0; i < kTile; i += kThreadRows) tile[warp + i][lane] = from[i * N];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kTile; i += kThreadRows) to[i * M] = tile[lane][warp + i];
}
