#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
__device__ float warp_max(float v) { for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, o)); return v; }
__device__ float warp_sum(float v) { for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o); return v; }
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float part[32];
  const float* row = x + (size_t)blockIdx.x * columns;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) m = fmaxf(m, row[i]);
  m = warp_max(m);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  m = part[0];
  for (int i = 1; i < blockDim.x / 32; ++i) m = fmaxf(m, part[i]);
  __syncthreads();
  float s = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) s += expf(row[i] - m);
  s = warp_sum(s);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  for (int i = 0; i < blockDim.x / 32; ++i) s += part[i];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[(size_t)blockIdx.x * columns + i] = expf(row[i] - m) / s;
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[16][16], tb[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    ta[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0.f;
    tb[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + col] : 0.f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
extern "C" __global__ void layernorm(const float* x, const float* g, const float* b, float* y, int columns, float eps) {
  extern __shared__ float pool[];
  const float* row = x + (size_t)blockIdx.x * columns;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) { float v = row[i]; s += v; q += v * v; }
  s = warp_sum(s); q = warp_sum(q);
  int w = threadIdx.x / 32, warps = blockDim.x / 32;
  if (threadIdx.x % 32 == 0) { pool[w] = s; pool[warps + w] = q; }
  __syncthreads();
  s = q = 0;
  for (int i = 0; i < warps; ++i) { s += pool[i]; q += pool[warps + i]; }
  float mean = s / columns, var = q / columns - mean * mean, r = rsqrtf(var + eps);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[(size_t)blockIdx.x * columns + i] = (row[i] - mean) * r * g[i] + b[i];
}
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (r + j < rows && c < columns) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * columns + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (r + j < columns && c < rows) y[(r + j) * rows + c] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void block_sum(const int* x, int* total, int n) {
  __shared__ int pool[256];
  int s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  pool[threadIdx.x] = s;
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) { if (threadIdx.x < o) pool[threadIdx.x] += pool[threadIdx.x + o]; __syncthreads(); }
  if (threadIdx.x == 0) atomicAdd(total, pool[0]);
}
extern "C" __global__ void functions(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[0 * n + i] = sinf(v); y[1 * n + i] = cosf(v); y[2 * n + i] = tanf(v); y[3 * n + i] = expf(v); y[4 * n + i] = logf(fabsf(v) + 1e-3f);
  y[5 * n + i] = powf(fabsf(v), 1.7f); y[6 * n + i] = tanhf(v); y[7 * n + i] = erff(v); y[8 * n + i] = sqrtf(fabsf(v)); y[9 * n + i] = 1 / (v + 300.f);
  y[10 * n + i] = fmodf(v, 1.3f); y[11 * n + i] = floorf(v) + rintf(v * 0.5f) * 8 + truncf(v); y[12*n+i] = cbrtf(v); y[13*n+i]=atan2f(v, 0.7f);
}
extern "C" __global__ void doubles(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i];
  y[0 * n + i] = sin(v); y[1 * n + i] = exp(v * 0.1); y[2 * n + i] = log(fabs(v) + 1e-3); y[3 * n + i] = sqrt(fabs(v)); y[4 * n + i] = v / 3.7;
  y[5 * n + i] = pow(fabs(v), 1.3); y[6 * n + i] = fma(v, v, -1.0); y[7 * n + i] = (double)(long long)(v * 1e6);
}
extern "C" __global__ void halves(const __half2* x, const __half2* z, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __hfma2(x[i], z[i], __hmax2(x[i], z[i])); y[n + i] = h2exp2(x[i]); y[2 * n + i] = __hadd2(x[i], z[i]);
  y[3 * n + i] = __hmul2(x[i], z[i]); y[4*n+i] = __h2div(x[i], z[i]); y[5*n+i] = __floats2half2_rn(__low2float(x[i]) * 3.f, __high2float(z[i]));
}
extern "C" __global__ void bfloats(const __nv_bfloat162* x, const __nv_bfloat162* z, __nv_bfloat162* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __hfma2(x[i], z[i], x[i]); y[n + i] = __hadd2(x[i], z[i]); y[2 * n + i] = __hmul2(x[i], z[i]); y[3*n+i] = __hmin2(x[i], z[i]);
}
extern "C" __global__ void integers(const int* x, const int* z, long long* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = x[i], b = z[i]; long long p = (long long)a * b + a, q = ((long long)b << 20) | 1; unsigned u = a, v = b;
  y[0*n+i] = b ? a / b : 0; y[1*n+i] = b ? a % b : 0; y[2*n+i] = p / q; y[3*n+i] = p % q; y[4*n+i] = v ? u / v : 0;
  y[5*n+i] = __popc(a) + 100 * __clz(b) + 10000 * __ffs(a); y[6*n+i] = __mulhi(a, b); y[7*n+i] = (unsigned long long)p / (unsigned long long)(q | 1);
  y[8*n+i] = __brev(a) ^ __byte_perm(a, b, 0x5140); y[9*n+i] = __funnelshift_l(a, b, a & 31); y[10*n+i] = __mul64hi(p, q); y[11*n+i]= min(a,b) + max(u,v); y[12*n+i]=__dp4a(a,b,a);
  y[13*n+i] = (short)a * (short)b + (signed char)a + (unsigned char)b; y[14*n+i] = a >> (b & 31); y[15*n+i] = p >> (b & 63);
}
extern "C" __global__ void votes(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  unsigned b = __ballot_sync(~0u, v > 3); int up = __shfl_up_sync(~0u, v, 3), down = __shfl_down_sync(~0u, v, 5, 16), idx = __shfl_sync(~0u, v, v & 31, 8);
  y[t] = b; y[32 + t] = up; y[64 + t] = down; y[96 + t] = idx; y[128 + t] = __any_sync(~0u, v == 7) + 2 * __all_sync(~0u, v < 100);
  y[160 + t] = __match_any_sync(~0u, v & 3); y[192 + t] = __reduce_add_sync(~0u, v); y[224 + t] = __popc(__activemask());
  if (t & 1) y[256 + t] = __shfl_xor_sync(0xaaaaaaaa, v, 2); else y[256 + t] = __reduce_max_sync(0x55555555, v);
}
__device__ int lock_word; __device__ int guarded;
extern "C" __global__ void spin(int* y) {
  while (atomicCAS(&lock_word, 0, 1) != 0) {}
  __threadfence();
  int v = *(volatile int*)&guarded; *(volatile int*)&guarded = v + 1;
  __threadfence();
  atomicExch(&lock_word, 0);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = *(volatile int*)&guarded;
}
__noinline__ __device__ float poly(float x, int n) { float s = 1; for (int i = 0; i < n; ++i) s = s * x + i; return s; }
__constant__ float table[8] = {1, 2, 3, 5, 7, 11, 13, 17};
extern "C" __global__ void calls(const float* x, float* y, int n) {
  int i = threadIdx.x; float local[8];
  if (i >= n) return;
  for (int j = 0; j < 8; ++j) local[(j + i) & 7] = poly(x[i], j) * table[j];
  float v = (i & 1) ? poly(x[i], i & 7) : local[i & 7];
  switch (i % 6) { case 0: v += 1; break; case 1: v *= 2; break; case 2: v = poly(v, 2); break; case 3: v -= local[3]; break; case 4: v = -v; break; default: v = table[i & 7]; }
  y[i] = v;
}
extern "C" __global__ void copies(const float4* x, float4* y, int n) {
  __shared__ float4 buffer[2][64];
  int t = threadIdx.x;
  for (int s = 0; s < n + 1; ++s) {
    if (s < n) { unsigned to = (unsigned)__cvta_generic_to_shared(&buffer[s & 1][t]);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x + s * 64 + t)); }
    asm volatile("cp.async.commit_group;");
    if (s > 0) { asm volatile("cp.async.wait_group 1;"); __syncthreads(); float4 v = buffer[(s - 1) & 1][63 - t]; v.x += 1; y[(s - 1) * 64 + t] = v; __syncthreads(); }
  }
}
extern "C" __global__ void atomics(float* f, double* d, unsigned* u, long long* l, __half2* h, unsigned* s) {
  __shared__ unsigned bins[8];
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(f, 1.f); atomicAdd(d, 0.5); atomicMax(u, t * 3); atomicMin((int*)u + 1, -t); atomicInc(u + 2, 9); atomicXor(u + 3, t);
  atomicAdd((unsigned long long*)l, (unsigned long long)t); atomicMax(l + 1, (long long)t << 33); atomicAdd(h, __floats2half2_rn(1.f, 0.5f));
  atomicAdd(&bins[t & 7], 1u);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(s + threadIdx.x, bins[threadIdx.x]);
}
