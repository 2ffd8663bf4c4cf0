// y[j, i] = x[i, j] for M x N elements. A tile of 128 rows by 32 columns through shared memory in 16-byte pieces, swizzled
// so that rows and columns of the tile meet every bank once; 8 threads move 128 bytes of a row, on either side.
// Launch: M / 128 * N / 32 blocks of 256 threads; M is a multiple of 128, N of 32.
extern "C" __global__ void __launch_bounds__(256) transpose(const float* __restrict__ x, float* __restrict__ y) {
  constexpr unsigned kRows = 128;
  constexpr unsigned kColumns = 32;
  // Rows of the tile that the block's threads cover at once.
  constexpr unsigned kPass = 32;
  __shared__ __align__(16) float tile[kRows * kColumns];
  const unsigned row = blockIdx.x / (N / kColumns) * kRows;
  const unsigned column = blockIdx.x % (N / kColumns) * kColumns;
  const unsigned piece = threadIdx.x % 8;
  const unsigned line = threadIdx.x / 8;

  // Piece p of row r lies at p ^ (r / 4 % 8), which is the same for all of a thread's rows.
  const float* from = x + (row + line) * N + column + piece * 4;
  float* in = tile + line * kColumns + (piece ^ line / 4) * 4;
  float4 values[kRows / kPass];
#pragma unroll
  for (unsigned i = 0; i < kRows / kPass; ++i) values[i] = *reinterpret_cast<const float4*>(from + i * kPass * N);
#pragma unroll
  for (unsigned i = 0; i < kRows / kPass; ++i) *reinterpret_cast<float4*>(in + i * kPass * kColumns) = values[i];
  __syncthreads();

  float4* to = reinterpret_cast<float4*>(y) + (column + line) * (M / 4) + row / 4 + piece;
  const float* out = tile + piece * 4 * kColumns + (line / 4 ^ piece) * 4 + line % 4;
#pragma unroll
  for (unsigned i = 0; i < kRows / kPass; ++i) {
    const float* at = out + i * kPass * kColumns;
    values[i] = {at[0], at[kColumns], at[2 * kColumns], at[3 * kColumns]};
  }
#pragma unroll
  for (unsigned i = 0; i < kRows / kPass; ++i) to[i * kPass / 4] = values[i];
}
