/* Stand-ins for the driver, cuBLAS, NVML and NCCL: memory is the host's, products are
   true, collectives are, events are a clock, calls are counted. Two GPUs. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t ptr;
static struct { const char *name; int n; } calls[64];
static int wrong;

static void count(const char *name) {
  for (int i = 0; i < 64; i++) {
    if (!calls[i].name) calls[i].name = name;
    if (!strcmp(calls[i].name, name)) { calls[i].n++; return; }
  }
}
int standin_calls(const char *name) {
  for (int i = 0; i < 64 && calls[i].name; i++) if (!strcmp(calls[i].name, name)) return calls[i].n;
  return 0;
}
void standin_break(int how) { wrong = how; }
#define CALL count(__func__)

int cuInit(unsigned f) { CALL; return 0; }
int cuDriverGetVersion(int *v) { *v = 12080; return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *b, int n, int d) { strncpy(b, d ? "Stand-in B" : "Stand-in A", n); return 0; }
int cuDeviceTotalMem_v2(uint64_t *n, int d) { *n = 1 << 30; return 0; }
int cuDevicePrimaryCtxRetain(uintptr_t *c, int d) { *c = 100 + d; return 0; }
int cuCtxSetCurrent(uintptr_t c) { return c == 100 || c == 101 ? 0 : 201; }
int cuMemAlloc_v2(ptr *p, uint64_t n) { CALL; *p = (ptr)malloc(n); return *p ? 0 : 2; }
int cuMemFree_v2(ptr p) { CALL; free((void *)p); return 0; }
int cuMemAllocHost_v2(void **p, uint64_t n) { *p = malloc(n); return *p ? 0 : 2; }
int cuMemFreeHost(void *p) { free(p); return 0; }
int cuMemcpyHtoD_v2(ptr to, const void *from, uint64_t n) { CALL; memcpy((void *)to, from, n); return 0; }
int cuMemcpyDtoH_v2(void *to, ptr from, uint64_t n) { CALL; memcpy(to, (void *)from, n); return 0; }
int cuMemcpyDtoD_v2(ptr to, ptr from, uint64_t n) { CALL; memcpy((void *)to, (void *)from, n); return 0; }
int cuMemcpyPeer(ptr to, uintptr_t tc, ptr from, uintptr_t fc, uint64_t n) { CALL; memcpy((void *)to, (void *)from, n); return 0; }
int cuDeviceCanAccessPeer(int *can, int a, int b) { *can = 1; return 0; }
int cuCtxEnablePeerAccess(uintptr_t c, unsigned f) { CALL; return 0; }
static double marks[1 << 16];
static int events;
int cuEventCreate(uintptr_t *e, unsigned f) { *e = ++events % (1 << 16); return 0; }
int cuEventRecord(uintptr_t e, uintptr_t s) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  marks[e] = t.tv_sec * 1e3 + t.tv_nsec / 1e6;
  return 0;
}
int cuEventSynchronize(uintptr_t e) { return 0; }
int cuEventElapsedTime(float *ms, uintptr_t a, uintptr_t b) { *ms = marks[b] - marks[a] + 1e-6; return 0; }
int cuCtxSynchronize(void) { return 0; }

int cublasCreate_v2(uintptr_t *h) { *h = 42; return 0; }
int cublasDestroy_v2(uintptr_t h) { return h == 42 ? 0 : 1; }
static float element(const void *p, int kind, int64_t i) {
  union { uint32_t u; float f; } x;
  uint16_t h = ((const uint16_t *)p)[i];
  switch (kind) {
  case 0: return ((const float *)p)[i];
  case 14: x.u = (uint32_t)h << 16; return x.f;
  }
  float m = (h & 0x3ff) / 1024.f;
  int e = h >> 10 & 31;
  x.f = e ? ldexpf(1 + m, e - 15) : ldexpf(m, -14);
  return h & 0x8000 ? -x.f : x.f;
}
int cublasGemmEx(uintptr_t h, int ta, int tb, int m, int n, int k, const float *alpha, const void *a, int at, int lda, const void *b, int bt, int ldb,
                 const float *beta, float *c, int ct, int ldc, int compute, int algo) {
  CALL;
  if (h != 42 || ta || tb || ct != 0 || (compute != 68 && compute != 77) || algo != -1 || *alpha != 1 || *beta != 0) return 7;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double s = 0;
      for (int l = 0; l < k; l++) s += (double)element(a, at, l * (int64_t)lda + i) * element(b, bt, j * (int64_t)ldb + l);
      c[j * (int64_t)ldc + i] = wrong == 1 ? s + 1 : s;
    }
  return 0;
}

/* FP8: A by rows, B by columns; objects are indices into a table and must be given back. */
static struct { int kind, transa, fast, alive; uint64_t rows, cols; int64_t ld; uint64_t workspace; } lt[64];
static int lts, noFP8;
static int make(uintptr_t *p) { *p = ++lts % 63 + 1; memset(&lt[*p], 0, sizeof lt[0]); lt[*p].alive = 1; return 0; }
static int drop(uintptr_t p) { int ok = lt[p].alive; lt[p].alive = 0; return ok ? 0 : 7; }
int standin_alive(void) { int n = 0; for (int i = 0; i < 64; i++) n += lt[i].alive; return n; }
void standin_without_fp8(int on) { noFP8 = on; }
int cublasLtCreate(uintptr_t *h) { return make(h); }
int cublasLtDestroy(uintptr_t h) { return drop(h); }
int cublasLtMatmulDescCreate(uintptr_t *d, int compute, int scale) { return compute == 68 && scale == 0 ? make(d) : 7; }
int cublasLtMatmulDescDestroy(uintptr_t d) { return drop(d); }
int cublasLtMatmulDescSetAttribute(uintptr_t d, int what, const void *v, uint64_t n) {
  if (what == 3 && n == 4) lt[d].transa = *(const int32_t *)v;
  else if (what == 25 && n == 1) lt[d].fast = *(const int8_t *)v;
  else return 7;
  return 0;
}
int cublasLtMatrixLayoutCreate(uintptr_t *l, int kind, uint64_t rows, uint64_t cols, int64_t ld) {
  make(l);
  lt[*l].kind = kind; lt[*l].rows = rows; lt[*l].cols = cols; lt[*l].ld = ld;
  return 0;
}
int cublasLtMatrixLayoutDestroy(uintptr_t l) { return drop(l); }
int cublasLtMatmulPreferenceCreate(uintptr_t *p) { return make(p); }
int cublasLtMatmulPreferenceDestroy(uintptr_t p) { return drop(p); }
int cublasLtMatmulPreferenceSetAttribute(uintptr_t p, int what, const void *v, uint64_t n) {
  lt[p].workspace = what == 1 && n == 8 ? *(const uint64_t *)v : 0;
  return lt[p].workspace ? 0 : 7;
}
struct choice { uint64_t algo[8], workspace; int state; float waves; int reserved[4]; };
int cublasLtMatmulAlgoGetHeuristic(uintptr_t h, uintptr_t d, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t e, uintptr_t p, int most, struct choice *r, int *found) {
  CALL;
  if (noFP8) return 15;
  if (most != 1 || lt[a].kind != 28 || lt[b].kind != 28 || lt[c].kind != 0 || lt[a].rows % 16) return 7;
  memset(r, 0, sizeof *r);
  r->algo[7] = 4711; r->workspace = lt[p].workspace;
  *found = 1;
  return 0;
}
static float e4m3(uint8_t b) {
  float m = (b & 7) / 8.f;
  int e = b >> 3 & 15;
  float v = e ? ldexpf(1 + m, e - 7) : ldexpf(m, -6);
  return b & 0x80 ? -v : v;
}
int cublasLtMatmul(uintptr_t h, uintptr_t d, const float *alpha, const uint8_t *a, uintptr_t al, const uint8_t *b, uintptr_t bl, const float *beta,
                   const float *c, uintptr_t cl, float *r, uintptr_t rl, const uint64_t *algo, void *workspace, uint64_t bytes, uintptr_t stream) {
  CALL;
  if (lt[d].fast) count("cublasLtMatmul fast");
  if (!lt[h].alive || lt[d].transa != 1 || *alpha != 1 || *beta != 0 || c != r || algo[7] != 4711 || !workspace || bytes != 32 << 20 || stream) return 7;
  memset(workspace, 1, bytes);
  int64_t n = lt[al].rows;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      double s = 0;
      for (int64_t l = 0; l < n; l++) s += (double)e4m3(a[i * lt[al].ld + l]) * e4m3(b[j * lt[bl].ld + l]);
      r[j * lt[rl].ld + i] = wrong ? s + 1 : s;
    }
  return 0;
}

int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char *b, unsigned n) { strncpy(b, "575.0", n); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, uintptr_t *h) { *h = 7 + i; return 0; }
int nvmlDeviceGetClockInfo(uintptr_t h, unsigned which, unsigned *mhz) { *mhz = which == 1 ? 1700 + h : 0; return 0; }
int nvmlDeviceGetPowerUsage(uintptr_t h, unsigned *mw) { CALL; *mw = 650500; return 0; }

int ncclGetVersion(int *v) { *v = 22705; return 0; }
int ncclCommInitAll(uintptr_t *c, int n, const int *d) { for (int i = 0; i < n; i++) c[i] = 1 + i; return 0; }
int ncclCommDestroy(uintptr_t c) { CALL; return 0; }
static struct { const float *from; float *to; uint64_t n; int kind; } group[8];
static int members;
int ncclGroupStart(void) { members = 0; return 0; }
static int join(const float *from, float *to, uint64_t n, int kind) {
  group[members].from = from; group[members].to = to; group[members].n = n; group[members++].kind = kind;
  return 0;
}
int ncclAllReduce(ptr s, ptr r, uint64_t n, int t, int op, uintptr_t c, uintptr_t q) { CALL; return t != 7 || op != 0 ? 4 : join((void *)s, (void *)r, n, 0); }
int ncclAllGather(ptr s, ptr r, uint64_t n, int t, uintptr_t c, uintptr_t q) { CALL; return t != 7 ? 4 : join((void *)s, (void *)r, n, 1); }
int ncclReduceScatter(ptr s, ptr r, uint64_t n, int t, int op, uintptr_t c, uintptr_t q) { CALL; return t != 7 || op != 0 ? 4 : join((void *)s, (void *)r, n, 2); }
int ncclGroupEnd(void) {
  for (int m = 0; m < members; m++)
    for (uint64_t i = 0; i < group[m].n; i++) {
      float s = 0;
      for (int k = 0; k < members; k++) {
        if (group[m].kind == 1) group[m].to[k * group[m].n + i] = group[k].from[i];
        else s += group[k].from[(group[m].kind == 2 ? m * group[m].n : 0) + i];
      }
      if (group[m].kind != 1) group[m].to[i] = s;
    }
  return members == 2 ? 0 : 5;
}
