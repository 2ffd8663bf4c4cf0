#include "emulator/decoders.h"

#include <map>

namespace tenon::emulator {
namespace {

using namespace decoders;

constexpr Opcode kOpcodes[] = {
#define TENON_PTX_OPCODE(spelling, instruction_class, decode) \
  {spelling, InstructionClass::k##instruction_class, decode},
#include "emulator/isa.def"
};

}  // namespace

const Opcode* opcode_by_name(std::string_view spelling) {
  static const auto kByName = [] {
    std::map<std::string_view, const Opcode*> names;
    for (const Opcode& opcode : kOpcodes) names[opcode.spelling] = &opcode;
    return names;
  }();
  const auto found = kByName.find(spelling);
  return found == kByName.end() ? nullptr : found->second;
}

}  // namespace tenon::emulator
