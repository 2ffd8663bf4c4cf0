// What the device notices, and what it says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

// A kernel with parameters p (an address) and n, registers %r, %rd, %f, %p; %r1 is the thread, %rd1 is p,
// %rd2 is p + 4 * thread.
std::string kernel(const std::string& body, const std::string& before = "") {
  return module_text(before + R"(
.visible .entry k(.param .u64 p, .param .u32 n) {
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>; .reg .b16 %h<9>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd2, %rd1, %rd2;
)" + body + "\nret;\n}\n");
}

Fault only_fault(const Result<LaunchReport>& report) {
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  EXPECT_EQ(report->faults.size(), 1u) << render_text(*report);
  return report->faults.empty() ? Fault{} : report->faults[0];
}

Fault run_fault(const std::string& ptx, uint32_t threads = 64, bool written = true,
                DeviceConfig config = {}) {
  Array array = written ? Array::of(std::vector<int>(64, 1)) : Array::fresh(256);
  return only_fault(KernelRun(ptx, config).block(threads).array(array).value(0u).launch());
}

TEST(Faults, LoadBeyondTheEnd) {
  const Fault fault = run_fault(kernel("ld.global.u32 %r2, [%rd2+4];"));
  EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(fault.instruction, "ld.global.u32 %r2, [%rd2+4]");
  EXPECT_EQ(fault.line, 11u);
  EXPECT_EQ(fault.thread[0], 63u);
  EXPECT_EQ(fault.bytes, 4u);
  EXPECT_EQ(fault.detail,
            fmt::format("0 bytes beyond the end of allocation 2 (256 bytes at {:#x})", fault.address - 256));
}

TEST(Faults, StoreBeforeTheStart) {
  const Fault fault = run_fault(kernel("st.global.u32 [%rd2+-4], %r1;"));
  EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(fault.thread[0], 0u);
  EXPECT_NE(fault.detail.find("4 bytes before the start of allocation 2"), std::string::npos) << fault.detail;
}

TEST(Faults, ScatteredAccess) {
  const Fault fault =
      run_fault(kernel("mul.wide.u32 %rd3, %r1, 8; add.s64 %rd3, %rd3, %rd1; ld.global.u32 %r2, [%rd3];"));
  EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(fault.thread[0], 32u);
}

TEST(Faults, WildAndNullPointers) {
  EXPECT_EQ(run_fault(kernel("mov.u64 %rd3, 0; ld.global.u32 %r2, [%rd3];")).kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(run_fault(kernel("mov.u64 %rd3, 0; ld.u32 %r2, [%rd3];")).kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(run_fault(kernel("mov.u64 %rd3, -8; st.u64 [%rd3], %rd1;")).kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(run_fault(kernel("mov.u64 %rd3, 0x7fffffffffffff00; st.global.u64 [%rd3], %rd1;")).kind,
            FaultKind::kOutOfBounds);
}

TEST(Faults, Misaligned) {
  const Fault fault = run_fault(kernel("ld.global.v2.u32 {%r2, %r3}, [%rd1+4];"), 1);
  EXPECT_EQ(fault.kind, FaultKind::kMisaligned);
  EXPECT_EQ(driver_code(fault.kind), 716);
}

TEST(Faults, FreedMemory) {
  KernelRun run(kernel("ld.global.u32 %r2, [%rd2];"));
  auto& device = run.device();
  const DeviceAddress address = *device.allocate(256, "old");
  ASSERT_TRUE(device.free(address).has_value());
  EXPECT_FALSE(device.free(address).has_value());
  const Fault fault = only_fault(run.value(address).value(0u).block(32).launch());
  EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
  EXPECT_NE(fault.detail.find("freed allocation 2 'old'"), std::string::npos) << fault.detail;
}

TEST(Faults, ReadsOfMemoryNeverWritten) {
  const Fault fault = run_fault(
      kernel("ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2], %r2; ld.global.u32 %r3, [%rd2];"), 64, false);
  EXPECT_EQ(fault.kind, FaultKind::kUninitialised);
  EXPECT_EQ(fault.line, 11u);
  // One byte of four.
  const Fault byte = run_fault(kernel("st.global.u8 [%rd2], 1; st.global.u8 [%rd2+1], 1; st.global.u8 "
                                      "[%rd2+3], 1; ld.global.u32 %r2, [%rd2];"),
                               64, false);
  EXPECT_EQ(byte.kind, FaultKind::kUninitialised);
  DeviceConfig unchecked;
  unchecked.check_initialised = false;
  Array array = Array::fresh(256);
  EXPECT_TRUE(KernelRun(kernel("ld.global.u32 %r2, [%rd2];"), unchecked)
                  .block(64)
                  .array(array)
                  .value(0u)
                  .launch()
                  ->ok());
}

TEST(Faults, SharedMemory) {
  const std::string shared = ".shared .align 4 .b8 first[128];\n.shared .align 4 .b8 second[64];\n";
  Fault fault = run_fault(kernel("mov.u32 %r2, first; ld.shared.u32 %r3, [%r2+124];", shared));
  EXPECT_EQ(fault.kind, FaultKind::kUninitialised);
  EXPECT_EQ(fault.detail, "at byte 124 of shared variable 'first' (128 bytes)");
  // Past one variable there is no other.
  fault = run_fault(kernel("mov.u32 %r2, first; mov.u32 %r3, second; st.shared.u32 [%r2+128], %r1;", shared));
  EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(fault.detail, "0 bytes beyond the end of shared variable 'first' (128 bytes)");
  fault = run_fault(kernel("mov.u32 %r2, 0; st.shared.u32 [%r2], %r1;", shared));
  EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
  fault =
      run_fault(kernel("mov.u64 %rd3, second; cvta.shared.u64 %rd4, %rd3; st.u32 [%rd4+64], %r1;", shared));
  EXPECT_EQ(fault.detail, "0 bytes beyond the end of shared variable 'second' (64 bytes)");
}

TEST(Faults, LocalMemory) {
  const std::string body = ".local .align 8 .b8 depot[16]; mov.u64 %rd3, depot; cvta.local.u64 %rd4, %rd3;\n";
  EXPECT_EQ(run_fault(kernel(body + "st.u64 [%rd4+16], %rd1;")).detail,
            "0 bytes beyond the end of local variable 'depot' (16 bytes)");
  EXPECT_EQ(run_fault(kernel(body + "ld.local.u64 %rd5, [%rd3+8];")).kind, FaultKind::kUninitialised);
}

TEST(Faults, ConstantsAndParametersCannotBeWritten) {
  const Fault fault = run_fault(kernel("mov.u64 %rd3, c; cvta.const.u64 %rd4, %rd3; st.u32 [%rd4], %r1;",
                                       ".const .align 4 .u32 c[2] = {1, 2};\n"));
  EXPECT_EQ(fault.kind, FaultKind::kReadOnly);
  EXPECT_EQ(run_fault(kernel("ld.param.u32 %r2, [n+4];")).kind, FaultKind::kOutOfBounds);
}

TEST(Faults, DivergentBarriers) {
  // Half a warp only.
  Fault fault = run_fault(
      kernel("setp.lt.u32 %p1, %r1, 16; @!%p1 bra $on; bar.sync 0; $on: st.global.u32 [%rd2], %r1;"), 32);
  EXPECT_EQ(fault.kind, FaultKind::kDivergentBarrier);
  EXPECT_EQ(fault.instruction, "bar.sync 0");
  EXPECT_EQ(fault.detail, "warp 0: lanes 0000ffff wait at line 11: bar.sync 0");
  // Different barriers of one warp.
  fault = run_fault(kernel("setp.lt.u32 %p1, %r1, 16; @!%p1 bra $b; bar.sync 0; bra $on;\n$b: bar.sync "
                           "0;\n$on: st.global.u32 [%rd2], %r1;"),
                    32);
  EXPECT_EQ(fault.kind, FaultKind::kDivergentBarrier);
  // A warp that never comes.
  fault = run_fault(kernel("setp.lt.u32 %p1, %r1, 32; @%p1 bra $a; bar.sync 0; bra $on;\n$a: bar.sync "
                           "1;\n$on: st.global.u32 [%rd2], %r1;"),
                    64);
  EXPECT_EQ(fault.kind, FaultKind::kDeadlock);
  EXPECT_EQ(fault.detail,
            "warp 0: lanes ffffffff wait at line 12: bar.sync 1\nwarp 1: lanes ffffffff wait at line 11: "
            "bar.sync 0");
}

TEST(Faults, BarrierAfterEarlyExitIsFine) {
  Array array = Array::of(std::vector<int>(64, 1));
  KernelRun(kernel("setp.ge.u32 %p1, %r1, 40; @%p1 bra $end; bar.sync 0; st.global.u32 [%rd2], %r1; $end:"))
      .block(64)
      .array(array)
      .value(0u)
      .expect_ok();
  EXPECT_EQ(array.values<int>()[39], 39);
  EXPECT_EQ(array.values<int>()[40], 1);
}

TEST(Faults, ShufflesFromLanesOutside) {
  Array array = Array::of(std::vector<int>(64, 1));
  const auto report = KernelRun(kernel("shfl.sync.idx.b32 %r2, %r1, 20, 31, 0xffff;"))
                          .block(16)
                          .array(array)
                          .value(0u)
                          .launch();
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->faults.size(), 1u);
  EXPECT_EQ(report->faults[0].kind, FaultKind::kInactiveLane);
  EXPECT_TRUE(report->ok()) << "a warning";
  EXPECT_EQ(run_fault(kernel("shfl.sync.idx.b32 %r2, %r1, 0, 31, 1;"), 32).kind, FaultKind::kLaneMask);
  EXPECT_EQ(
      run_fault(
          kernel("setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; @!%p1 bar.sync 0;"),
          32)
          .kind,
      FaultKind::kDeadlock);
}

TEST(Faults, AsynchronousCopiesMustBeWaitedFor) {
  const std::string shared = ".shared .align 16 .b8 buffer[256];\n";
  const std::string copy =
      "mul.lo.u32 %r3, %r1, 4; mov.u32 %r2, buffer; add.u32 %r2, %r2, %r3; cp.async.ca.shared.global [%r2], "
      "[%rd2], 4;\n";
  EXPECT_EQ(run_fault(kernel(copy + "ld.shared.u32 %r4, [%r2];", shared)).kind, FaultKind::kAsyncPending);
  EXPECT_EQ(run_fault(kernel(copy + "cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r4, [%r2];",
                             shared))
                .kind,
            FaultKind::kAsyncPending);
  Array array = Array::of(std::vector<int>(64, 9));
  KernelRun(kernel(copy + "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r4, [%r2]; add.u32 "
                          "%r4, %r4, 1; st.global.u32 [%rd2], %r4;",
                   shared))
      .block(64)
      .array(array)
      .value(0u)
      .expect_ok();
  EXPECT_EQ(array.values<int>(), std::vector<int>(64, 10));
}

TEST(Faults, TrapsAndLimits) {
  EXPECT_EQ(run_fault(kernel("setp.eq.u32 %p1, %r1, 33; @%p1 trap;")).thread[0], 33u);
  DeviceConfig few;
  few.step_limit = 100000;
  EXPECT_EQ(run_fault(kernel("$l: bra $l;"), 64, true, few).kind, FaultKind::kStepLimit);
  DeviceConfig fast;
  fast.time_limit_seconds = 0.05;
  EXPECT_EQ(run_fault(kernel("$l: bra $l;"), 64, true, fast).kind, FaultKind::kTimeLimit);
}

TEST(Faults, RefusedLaunches) {
  const std::string ptx =
      module_text(".visible .entry k(.param .u32 n) .reqntid 32, 2 { .reg .b32 %r<2>; ret; }");
  const auto message = [](const Result<LaunchReport>& report) {
    return report ? "" : report.error().message;
  };
  EXPECT_TRUE(KernelRun(ptx).block(32, 2).value(1).launch().has_value());
  EXPECT_EQ(message(KernelRun(ptx).block(64).value(1).launch()),
            "launch of 'k' refused: block (64, 1, 1) where .reqntid asks for (32, 2, 1)");
  EXPECT_EQ(message(KernelRun(ptx).block(32, 2).launch()),
            "launch of 'k' refused: 0 arguments for 1 parameters");
  EXPECT_EQ(message(KernelRun(ptx).block(32, 2).grid(0).value(1).launch()),
            "launch of 'k' refused: grid (0, 1, 1)");
  EXPECT_NE(message(KernelRun(ptx).block(32, 2).shared(200000).value(1).launch()).find("shared memory"),
            std::string::npos);
}

TEST(Faults, OutOfMemory) {
  DeviceConfig config;
  config.memory_bytes = 1 << 20;
  Device device(config);
  EXPECT_FALSE(device.allocate(2 << 20).has_value());
  // Freed memory is reused in the end.
  for (int i = 0; i < 1000; ++i) {
    const auto address = device.allocate(500000);
    ASSERT_TRUE(address.has_value()) << i;
    ASSERT_TRUE(device.set(*address, 1, 500000).has_value());
    ASSERT_TRUE(device.free(*address).has_value());
  }
  EXPECT_TRUE(device.live_allocations().empty());
}

TEST(Faults, ReportsRender) {
  Array array = Array::of(std::vector<int>(64, 1));
  const auto report =
      KernelRun(kernel("ld.global.u32 %r2, [%rd2+4];")).block(64).array(array).value(0u).launch();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->result_code(), 700);
  EXPECT_NE(render_text(*report, true)
                .find("fault: access out of bounds: PTX line 11: ld.global.u32 %r2, [%rd2+4]"),
            std::string::npos);
  EXPECT_NE(render_json(*report, true).find("\"out_of_bounds\""), std::string::npos);
}

}  // namespace
}  // namespace tenon::emulator::test
