// The transforms of F(2x2, 3x3): a 4x4 patch of input gives 2x2 outputs with 16 products instead of 36.
// Vectors lie along channels.
#pragma once

#include "../gemm/isa.h"

namespace flambeau::gemm::FL_ISA {

// v[xi] = B^T d B over `channels` (a multiple of the lanes); d has 16 pointers, row by row.
template <class T> void winograd_input(const T* const* d, int64_t channels, T* v, int64_t v_step) {
  constexpr int W = kLanes<T>;
  for (int64_t c = 0; c < channels; c += W) {
    Vec<T> t[4][4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      const Vec<T> d0 = load(d[j] + c), d1 = load(d[4 + j] + c), d2 = load(d[8 + j] + c), d3 = load(d[12 + j] + c);
      t[0][j] = d0 - d2;
      t[1][j] = d1 + d2;
      t[2][j] = d2 - d1;
      t[3][j] = d1 - d3;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      T* to = v + 4 * i * v_step + c;
      store(to, t[i][0] - t[i][2]);
      store(to + v_step, t[i][1] + t[i][2]);
      store(to + 2 * v_step, t[i][2] - t[i][1]);
      store(to + 3 * v_step, t[i][1] - t[i][3]);
    }
  }
}

// y = A^T m A, 2x2 pixels; a null pixel is outside of the output.
template <class T>
void winograd_output(const T* m, int64_t m_step, int64_t outputs, T* const* y, const T* bias, bool relu) {
  constexpr int W = kLanes<T>;
  for (int64_t o = 0; o < outputs; o += W) {
    Vec<T> t[2][4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      const T* from = m + j * m_step + o;
      const Vec<T> m0 = load(from), m1 = load(from + 4 * m_step), m2 = load(from + 8 * m_step),
                   m3 = load(from + 12 * m_step);
      t[0][j] = m0 + m1 + m2;
      t[1][j] = m1 - m2 - m3;
    }
    const Vec<T> b = bias != nullptr ? load(bias + o) : Vec<T>{};
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
      Vec<T> left = t[i][0] + t[i][1] + t[i][2] + b, right = t[i][1] - t[i][2] - t[i][3] + b;
      if (relu) {
        left = left < T(0) ? Vec<T>{} : left;
        right = right < T(0) ? Vec<T>{} : right;
      }
      if (y[2 * i] != nullptr) store(y[2 * i] + o, left);
      if (y[2 * i + 1] != nullptr) store(y[2 * i + 1] + o, right);
    }
  }
}

// u[xi] = G g G^T for two vectors of output channels; tap (i, j) is row order[3 * i + j] of g, which is [9, nr].
template <class T> void winograd_weights(const T* g, const int* order, T* u, int64_t u_step) {
  constexpr int W = kLanes<T>;
  for (int half = 0; half < 2; half++, g += W, u += W) {
    Vec<T> t[4][3];
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) {
      const Vec<T> g0 = load(g + order[j] * 2 * W), g1 = load(g + order[3 + j] * 2 * W),
                   g2 = load(g + order[6 + j] * 2 * W);
      t[0][j] = g0;
      t[1][j] = (g0 + g1 + g2) * T(0.5);
      t[2][j] = (g0 - g1 + g2) * T(0.5);
      t[3][j] = g2;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      T* to = u + 4 * i * u_step;
      store(to, t[i][0]);
      store(to + u_step, (t[i][0] + t[i][1] + t[i][2]) * T(0.5));
      store(to + 2 * u_step, (t[i][0] - t[i][1] + t[i][2]) * T(0.5));
      store(to + 3 * u_step, t[i][2]);
    }
  }
}

// z[xi] = A g A^T, the adjoint of winograd_output: 2x2 pixels to 16 values. z is panels of nr outputs, panel_step
// apart.
template <class T>
void winograd_gradient(const T* const* g, int64_t outputs, T* z, int64_t z_step, int64_t panel_step) {
  constexpr int W = kLanes<T>;
  for (int64_t o = 0; o < outputs; o += W) {
    const Vec<T> g00 = load(g[0] + o), g01 = load(g[1] + o), g10 = load(g[2] + o), g11 = load(g[3] + o);
    const Vec<T> left[4] = {g00, g00 + g10, g00 - g10, -g10}, right[4] = {g01, g01 + g11, g01 - g11, -g11};
    T* to = z + o / (2 * W) * panel_step + o % (2 * W);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      store(to + 4 * i * z_step, left[i]);
      store(to + (4 * i + 1) * z_step, left[i] + right[i]);
      store(to + (4 * i + 2) * z_step, left[i] - right[i]);
      store(to + (4 * i + 3) * z_step, -right[i]);
    }
  }
}

// g = G^T u G for two vectors of output channels, the adjoint of winograd_weights.
template <class T> void winograd_weights_gradient(const T* u, int64_t u_step, const int* order, T* g) {
  constexpr int W = kLanes<T>;
  for (int half = 0; half < 2; half++, g += W, u += W) {
    Vec<T> t[3][4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      const T* from = u + j * u_step;
      const Vec<T> u0 = load(from), u1 = load(from + 4 * u_step), u2 = load(from + 8 * u_step),
                   u3 = load(from + 12 * u_step);
      const Vec<T> mean = (u1 + u2) * T(0.5);
      t[0][j] = u0 + mean;
      t[1][j] = (u1 - u2) * T(0.5);
      t[2][j] = mean + u3;
    }
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
      const Vec<T> mean = (t[i][1] + t[i][2]) * T(0.5);
      store(g + order[3 * i] * 2 * W, t[i][0] + mean);
      store(g + order[3 * i + 1] * 2 * W, (t[i][1] - t[i][2]) * T(0.5));
      store(g + order[3 * i + 2] * 2 * W, mean + t[i][3]);
    }
  }
}

}  // namespace flambeau::gemm::FL_ISA
