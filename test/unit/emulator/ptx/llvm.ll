target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
@tile = internal addrspace(3) global [32 x [33 x float]] undef, align 16
@pool = external addrspace(3) global [0 x i8], align 16
@table = internal addrspace(4) constant [4 x i32] [i32 3, i32 -5, i32 7, i32 11], align 4
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.maximum.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i64 @llvm.ctpop.i64(i64)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare float @llvm.sqrt.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.copysign.f32(float, float)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i8 @llvm.fptoui.sat.i8.f32(float)
declare i32 @llvm.smin.i32(i32, i32)
define ptx_kernel void @vector_map(ptr addrspace(1) noalias %x, ptr addrspace(1) noalias %y, float %a, i32 %n) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %s = shl i32 %b, 7
  %i = add i32 %s, %t
  %e = shl i32 %i, 2
  %c = icmp slt i32 %e, %n
  br i1 %c, label %body, label %end
body:
  %e64 = sext i32 %e to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %e64
  %q = getelementptr float, ptr addrspace(1) %y, i64 %e64
  %v = load <4 x float>, ptr addrspace(1) %p, align 16, !invariant.load !0
  %v0 = extractelement <4 x float> %v, i32 0
  %v1 = extractelement <4 x float> %v, i32 1
  %v2 = extractelement <4 x float> %v, i32 2
  %v3 = extractelement <4 x float> %v, i32 3
  %r0 = call float @llvm.fma.f32(float %v0, float %a, float 1.0)
  %r1 = call float @llvm.maximum.f32(float %v1, float %a)
  %d2 = fdiv float %v2, %a
  %r2 = call float @llvm.sqrt.f32(float %d2)
  %f3 = call float @llvm.floor.f32(float %v3)
  %r3 = fsub float %v3, %f3
  %w0 = insertelement <4 x float> poison, float %r0, i32 0
  %w1 = insertelement <4 x float> %w0, float %r1, i32 1
  %w2 = insertelement <4 x float> %w1, float %r2, i32 2
  %w3 = insertelement <4 x float> %w2, float %r3, i32 3
  store <4 x float> %w3, ptr addrspace(1) %q, align 16
  br label %end
end:
  ret void
}
define ptx_kernel void @types(ptr addrspace(1) noalias %h, ptr addrspace(1) noalias %bf, ptr addrspace(1) noalias %i8, ptr addrspace(1) noalias %i64, ptr addrspace(1) noalias %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %ph = getelementptr half, ptr addrspace(1) %h, i64 %t64
  %pb = getelementptr bfloat, ptr addrspace(1) %bf, i64 %t64
  %p8 = getelementptr i8, ptr addrspace(1) %i8, i64 %t64
  %p64 = getelementptr i64, ptr addrspace(1) %i64, i64 %t64
  %vh = load half, ptr addrspace(1) %ph
  %vb = load bfloat, ptr addrspace(1) %pb
  %v8 = load i8, ptr addrspace(1) %p8
  %v64 = load i64, ptr addrspace(1) %p64
  %h2 = fmul half %vh, %vh
  %h3 = fadd half %h2, 0xH3C00
  %b2 = fadd bfloat %vb, 0xR3F80
  %b3 = fmul bfloat %b2, %vb
  %fh = fpext half %h3 to float
  %fb = fpext bfloat %b3 to float
  %s8 = sext i8 %v8 to i32
  %u8 = zext i8 %v8 to i32
  %q8 = sdiv i8 %v8, 7
  %q32 = sext i8 %q8 to i32
  %pop = call i64 @llvm.ctpop.i64(i64 %v64)
  %pop32 = trunc i64 %pop to i32
  %rot = call i32 @llvm.fshl.i32(i32 %u8, i32 %pop32, i32 9)
  %lz = call i32 @llvm.ctlz.i32(i32 %u8, i1 false)
  %tz = call i32 @llvm.cttz.i32(i32 %u8, i1 false)
  %rem = srem i64 %v64, 1000
  %rem32 = trunc i64 %rem to i32
  %ti = and i64 %t64, 3
  %pt = getelementptr [4 x i32], ptr addrspace(4) @table, i64 0, i64 %ti
  %vt = load i32, ptr addrspace(4) %pt
  %fi = call i32 @llvm.fptosi.sat.i32.f32(float %fh)
  %fu = call i8 @llvm.fptoui.sat.i8.f32(float %fb)
  %fu32 = zext i8 %fu to i32
  %hb = fptrunc float %fb to half
  %hbi = bitcast half %hb to i16
  %hbw = zext i16 %hbi to i32
  %base = getelementptr i32, ptr addrspace(1) %out, i64 %t64
  store float %fh, ptr addrspace(1) %base
  %o1 = getelementptr i32, ptr addrspace(1) %base, i64 64
  store float %fb, ptr addrspace(1) %o1
  %o2 = getelementptr i32, ptr addrspace(1) %base, i64 128
  store i32 %s8, ptr addrspace(1) %o2
  %o3 = getelementptr i32, ptr addrspace(1) %base, i64 192
  store i32 %q32, ptr addrspace(1) %o3
  %o4 = getelementptr i32, ptr addrspace(1) %base, i64 256
  store i32 %rot, ptr addrspace(1) %o4
  %o5 = getelementptr i32, ptr addrspace(1) %base, i64 320
  store i32 %lz, ptr addrspace(1) %o5
  %o6 = getelementptr i32, ptr addrspace(1) %base, i64 384
  store i32 %tz, ptr addrspace(1) %o6
  %o7 = getelementptr i32, ptr addrspace(1) %base, i64 448
  store i32 %rem32, ptr addrspace(1) %o7
  %o8 = getelementptr i32, ptr addrspace(1) %base, i64 512
  store i32 %vt, ptr addrspace(1) %o8
  %o9 = getelementptr i32, ptr addrspace(1) %base, i64 576
  store i32 %fi, ptr addrspace(1) %o9
  %o10 = getelementptr i32, ptr addrspace(1) %base, i64 640
  store i32 %fu32, ptr addrspace(1) %o10
  %o11 = getelementptr i32, ptr addrspace(1) %base, i64 704
  store i32 %hbw, ptr addrspace(1) %o11
  ret void
}
define ptx_kernel void @row_sum(ptr addrspace(1) noalias %x, ptr addrspace(1) noalias %y, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul i32 %b, %n
  %s64 = sext i32 %start to i64
  %row = getelementptr float, ptr addrspace(1) %x, i64 %s64
  br label %head
head:
  %i = phi i32 [ %t, %entry ], [ %i2, %body ]
  %s = phi float [ 0.0, %entry ], [ %s2, %body ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %done
body:
  %i64 = sext i32 %i to i64
  %p = getelementptr float, ptr addrspace(1) %row, i64 %i64
  %v = load float, ptr addrspace(1) %p
  %s2 = fadd float %s, %v
  %i2 = add i32 %i, 128
  br label %head
done:
  %h16 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %s, i32 16, i32 31)
  %a16 = fadd float %s, %h16
  %h8 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a16, i32 8, i32 31)
  %a8 = fadd float %a16, %h8
  %h4 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a8, i32 4, i32 31)
  %a4 = fadd float %a8, %h4
  %h2 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a4, i32 2, i32 31)
  %a2 = fadd float %a4, %h2
  %h1 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a2, i32 1, i32 31)
  %a1 = fadd float %a2, %h1
  %lane = and i32 %t, 31
  %first = icmp eq i32 %lane, 0
  %w = lshr i32 %t, 5
  %w64 = zext i32 %w to i64
  %slot = getelementptr float, ptr addrspace(3) @pool, i64 %w64
  br i1 %first, label %put, label %sync
put:
  store float %a1, ptr addrspace(3) %slot
  br label %sync
sync:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %zero = icmp eq i32 %t, 0
  br i1 %zero, label %last, label %end
last:
  %q = load <4 x float>, ptr addrspace(3) @pool, align 16
  %q0 = extractelement <4 x float> %q, i32 0
  %q1 = extractelement <4 x float> %q, i32 1
  %q2 = extractelement <4 x float> %q, i32 2
  %q3 = extractelement <4 x float> %q, i32 3
  %u0 = fadd float %q0, %q1
  %u1 = fadd float %q2, %q3
  %u = fadd float %u0, %u1
  %b64 = zext i32 %b to i64
  %o = getelementptr float, ptr addrspace(1) %y, i64 %b64
  store float %u, ptr addrspace(1) %o
  br label %end
end:
  ret void
}
define internal float @helper(ptr %v, i32 %n) noinline {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i2, %head ]
  %s = phi float [ 0.0, %entry ], [ %s2, %head ]
  %i64 = zext i32 %i to i64
  %p = getelementptr float, ptr %v, i64 %i64
  %x = load float, ptr %p
  %s2 = fadd float %s, %x
  %i2 = add i32 %i, 1
  %c = icmp slt i32 %i2, %n
  br i1 %c, label %head, label %end
end:
  ret float %s2
}
define ptx_kernel void @stack(ptr addrspace(1) noalias %y, i32 %k) {
  %local = alloca [8 x float], align 16
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tf = sitofp i32 %t to float
  br label %fill
fill:
  %i = phi i32 [ 0, %0 ], [ %i2, %fill ]
  %if = sitofp i32 %i to float
  %v = fmul float %if, %tf
  %i64 = zext i32 %i to i64
  %p = getelementptr [8 x float], ptr %local, i64 0, i64 %i64
  store float %v, ptr %p
  %i2 = add i32 %i, 1
  %c = icmp slt i32 %i2, %k
  br i1 %c, label %fill, label %sum
sum:
  %r = call float @helper(ptr %local, i32 %k)
  %m = and i32 %t, 7
  switch i32 %m, label %other [ i32 0, label %a  i32 1, label %b  i32 2, label %cc  i32 3, label %d  i32 4, label %e i32 5, label %a ]
a:
  %ra = fadd float %r, 1.0
  br label %out
b:
  %rb = fmul float %r, 2.0
  br label %out
cc:
  %rc = fsub float 5.0, %r
  br label %out
d:
  %rd = call float @helper(ptr %local, i32 2)
  br label %out
e:
  %re = fneg float %r
  br label %out
other:
  br label %out
out:
  %res = phi float [ %ra, %a ], [ %rb, %b ], [ %rc, %cc ], [ %rd, %d ], [ %re, %e ], [ %r, %other ]
  %t64 = zext i32 %t to i64
  %o = getelementptr float, ptr addrspace(1) %y, i64 %t64
  store float %res, ptr addrspace(1) %o
  ret void
}
attributes #0 = { "nvvm.reqntid"="128" }
!0 = !{}
