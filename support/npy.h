// NumPy's file format .npy, versions 1 to 3.
// Source: NumPy documentation, "NEP 1: A simple file format for NumPy arrays".
//
// Types: numpy_dtype() of element_type.def. bf16 is two raw bytes (`<V2` or `|V2`), as ml_dtypes writes it;
// the f8 types are one raw byte (`|V1`) and need to be told apart by `expected`; index is `<i8`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/array.h"
#include "support/element_type.h"
#include "support/result.h"

namespace tenon {

// Parses the content of a .npy file; `name` stands in messages. Big-endian elements are swapped, Fortran
// order is transposed. With `expected` any other element type is an error (kRefused), and raw bytes get that
// type. Fails (kFile) on a damaged header, on types that Tenon does not have, and where the data is shorter
// or longer than the shape says.
Result<Array> parse_npy(std::string_view content, std::string_view name,
                        std::optional<ElementType> expected = std::nullopt);
Result<Array> read_npy(const std::string& path, std::optional<ElementType> expected = std::nullopt);

// The content of a .npy file of version 1.
std::string npy_content(const Array& array);
Result<void> write_npy(const std::string& path, const Array& array);

}  // namespace tenon
