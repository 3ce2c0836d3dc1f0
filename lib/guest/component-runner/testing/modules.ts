/** WebAssembly modules for tests, in the text format. Outputs are texts of JSON in their data. */

/** Packs a pointer and a length as `run` returns them. */
const PACK = `(func $pack (param $ptr i32) (param $len i32) (result i64)
  (i64.or (i64.shl (i64.extend_i32_u (local.get $ptr)) (i64.const 32)) (i64.extend_i32_u (local.get $len))))`;

const ALLOC = `(func (export "alloc") (param $len i32) (result i32) (i32.const 4096))`;

/** Allocates behind what it allocated before. */
const BUMP = `(global $next (mut i32) (i32.const 4096))
  (func (export "alloc") (param $len i32) (result i32)
    (global.get $next) (global.set $next (i32.add (global.get $next) (local.get $len))))`;

/** A counter of one digit in its memory: the output is the digit. `parts`: more of the module. */
export function digitCounter(parts = ''): string {
  return `(module (memory (export "memory") 1) (data (i32.const 0) "0") ${PACK} ${ALLOC}
    (func (export "run") (param i32 i32) (result i64)
      (i32.store8 (i32.const 0) (i32.add (i32.load8_u (i32.const 0)) (i32.const 1)))
      (call $pack (i32.const 0) (i32.const 1))) ${parts})`;
}

/** Exports for `:persist`: the state is the digit. */
export const DIGIT_STATE = `(func (export "checkpoint") (result i64) (call $pack (i32.const 0) (i32.const 1)))
  (func (export "restore") (param $ptr i32) (param $len i32)
    (if (i32.ne (local.get $len) (i32.const 1)) (then unreachable))
    (i32.store8 (i32.const 0) (i32.load8_u (local.get $ptr))))`;

/** Gives back its input. `imports` come first; `body` runs before. */
export function echo({ imports = '', memory = '1', body = '', parts = '' } = {}): string {
  return `(module ${imports} (memory (export "memory") ${memory}) ${PACK} ${BUMP} ${parts}
    (data (i32.const 100) "/note") (data (i32.const 200) "hello")
    (func (export "run") (param $ptr i32) (param $len i32) (result i64) ${body}
      (call $pack (local.get $ptr) (local.get $len))))`;
}

/** A WASI command that copies stdin to stdout, and writes a word to stderr. */
export const WASI_CAT = `(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1) (data (i32.const 64) "noted\\n")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 6))
    (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 16)))
    (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 8192))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (i32.store (i32.const 4) (i32.load (i32.const 16)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))`;
