// Arithmetic with other roundings than to nearest: .rz, .rm and .rp.
#pragma once

#include <cstdint>

namespace tenon {
enum class Rounding : uint8_t;
}

namespace tenon::emulator {

float directed_add(float a, float b, Rounding rounding);
float directed_mul(float a, float b, Rounding rounding);
float directed_div(float a, float b, Rounding rounding);
float directed_fma(float a, float b, float c, Rounding rounding);
float directed_sqrt(float a, Rounding rounding);
double directed_add(double a, double b, Rounding rounding);
double directed_mul(double a, double b, Rounding rounding);
double directed_div(double a, double b, Rounding rounding);
double directed_fma(double a, double b, double c, Rounding rounding);
double directed_sqrt(double a, Rounding rounding);

}  // namespace tenon::emulator
