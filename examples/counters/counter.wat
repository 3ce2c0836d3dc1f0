;; A counter that keeps its count across starts: what the component count-wasm of workbook.org is compiled from.
;; run(ptr, len) counts one more and gives {"in_wasm":N}; checkpoint and restore keep the count as four bytes.
(module
  (memory (export "memory") 1)
  (global $count (mut i32) (i32.const 0))
  (data (i32.const 0) "{\22in_wasm\22:")

  ;; Room for what the host writes: one piece at a time, from 4096 on.
  (func (export "alloc") (param $length i32) (result i32)
    (local $missing i32)
    (local.set $missing
      (i32.sub
        (i32.shr_u (i32.add (i32.add (local.get $length) (i32.const 4096)) (i32.const 65535)) (i32.const 16))
        (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1)) (then (unreachable)))))
    (i32.const 4096))

  (func $pair (param $pointer i32) (param $length i32) (result i64)
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $pointer)) (i64.const 32))
      (i64.extend_i32_u (local.get $length))))

  ;; The digits of the count are written from the right, at most ten of them, and moved behind the name.
  (func (export "run") (param $pointer i32) (param $length i32) (result i64)
    (local $rest i32) (local $at i32) (local $digits i32)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (local.set $rest (global.get $count))
    (local.set $at (i32.const 64))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $rest) (i32.const 10))))
      (local.set $rest (i32.div_u (local.get $rest) (i32.const 10)))
      (br_if $next (local.get $rest)))
    (local.set $digits (i32.sub (i32.const 64) (local.get $at)))
    (memory.copy (i32.const 11) (local.get $at) (local.get $digits))
    (i32.store8 (i32.add (i32.const 11) (local.get $digits)) (i32.const 125))
    (call $pair (i32.const 0) (i32.add (local.get $digits) (i32.const 12))))

  (func (export "checkpoint") (result i64)
    (i32.store (i32.const 128) (global.get $count))
    (call $pair (i32.const 128) (i32.const 4)))

  (func (export "restore") (param $pointer i32) (param $length i32)
    (if (i32.ne (local.get $length) (i32.const 4)) (then (unreachable)))
    (global.set $count (i32.load (local.get $pointer)))))
