#pragma once

#include <cstdint>

namespace flambeau::random {

// Turns groups of 16 uniform numbers in [0, 1) into normal ones, in place: the first eight of a group give radii, the
// other eight angles; cosines go to the first eight, sines to the other. n is a multiple of 16.
void box_muller(float* data, std::int64_t n, float mean, float std);
void box_muller(double* data, std::int64_t n, double mean, double std);

}  // namespace flambeau::random
