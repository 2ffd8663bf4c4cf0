// NumPy's file format .npz: a ZIP archive of .npy files. A library of its own, tenon_npz, because it needs
// zlib. Source: NumPy documentation, numpy.savez; PKWARE, "APPNOTE.TXT".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/array.h"
#include "support/result.h"

namespace tenon {

// An .npz as named tensors in the order of the archive; names are without the ending ".npy".
using NamedArrays = std::vector<std::pair<std::string, Array>>;
Result<NamedArrays> read_npz(const std::string& path);
Result<void> write_npz(const std::string& path, const NamedArrays& arrays);

}  // namespace tenon
