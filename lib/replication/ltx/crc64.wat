;; CRC-64/ISO of what lies in its memory, sixteen bytes at a time. crc64.ts has it compiled; the test compares.
(module
  ;; 16 tables of 256 words, then the bytes.
  (memory (export "memory") 2)
  (func (export "fill")
    (local $at i32) (local $crc i64) (local $bit i32)
    (loop $bytes
      (local.set $crc (i64.shr_u (i64.extend_i32_u (local.get $at)) (i64.const 3)))
      (local.set $bit (i32.const 8))
      (loop $bits
        (local.set $crc (i64.xor
          (i64.shr_u (local.get $crc) (i64.const 1))
          (i64.and (i64.const 0xd800000000000000) (i64.sub (i64.const 0) (i64.and (local.get $crc) (i64.const 1))))))
        (br_if $bits (local.tee $bit (i32.sub (local.get $bit) (i32.const 1)))))
      (i64.store (local.get $at) (local.get $crc))
      (br_if $bytes (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 2048))))
    (loop $more
      (local.set $crc (i64.load (i32.sub (local.get $at) (i32.const 2048))))
      (i64.store (local.get $at) (i64.xor
        (i64.load (i32.shl (i32.and (i32.wrap_i64 (local.get $crc)) (i32.const 255)) (i32.const 3)))
        (i64.shr_u (local.get $crc) (i64.const 8))))
      (br_if $more (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 32768)))))

  ;; The register after the bytes from $at up to $end, from its value before them.
  (func (export "update") (param $at i32) (param $end i32) (param $crc i64) (result i64)
    (local $first i64) (local $second i64)
    (block $rest
      (loop $sixteen
        (br_if $rest (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
        (local.set $first (i64.xor (local.get $crc) (i64.load (local.get $at))))
        (local.set $second (i64.load offset=8 (local.get $at)))
        (i64.load offset=30720 (i32.shl (i32.and (i32.wrap_i64 (local.get $first)) (i32.const 255)) (i32.const 3)))
        (i64.load offset=28672 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $first) (i64.const 8))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=26624 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $first) (i64.const 16))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=24576 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $first) (i64.const 24))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=22528 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $first) (i64.const 32))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=20480 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $first) (i64.const 40))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=18432 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $first) (i64.const 48))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=16384 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $first) (i64.const 56))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=14336 (i32.shl (i32.and (i32.wrap_i64 (local.get $second)) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=12288 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $second) (i64.const 8))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=10240 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $second) (i64.const 16))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=8192 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $second) (i64.const 24))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=6144 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $second) (i64.const 32))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=4096 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $second) (i64.const 40))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=2048 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $second) (i64.const 48))) (i32.const 255)) (i32.const 3)))
        i64.xor
        (i64.load offset=0 (i32.shl (i32.and (i32.wrap_i64 (i64.shr_u (local.get $second) (i64.const 56))) (i32.const 255)) (i32.const 3)))
        i64.xor
        local.set $crc
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $sixteen)))
    (block $done
      (loop $byte
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $crc (i64.xor
          (i64.load (i32.shl
            (i32.and (i32.xor (i32.wrap_i64 (local.get $crc)) (i32.load8_u (local.get $at))) (i32.const 255))
            (i32.const 3)))
          (i64.shr_u (local.get $crc) (i64.const 8))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $byte)))
    (local.get $crc)))
