import { describe, expect, test } from 'vitest';
import { wasmOfAssemblyScript, wasmOfWat } from '#peers/wasm.ts';
import type { WinterdockError } from '../../base/errors.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import { isRunning, stage } from '../../workers/testing/stage.ts';
import { callOne, componentOf } from './testing/component.ts';
import { DIGIT_STATE, digitCounter, echo, WASI_CAT } from './testing/modules.ts';

const { open } = stage();

async function wasm(wat: string, more: Parameters<typeof componentOf>[2] = {}) {
  return componentOf('wasm', Buffer.from(await wasmOfWat(wat)).toString('base64'), more);
}

describe('WebAssembly components', () => {
  test('a module in base64 gets JSON and gives JSON, and keeps its memory for one start', async () => {
    const process = open('wasm-call');
    const echoes = await wasm(echo(), { path: 'main/echo' });
    expect((await callOne(process, echoes, { a: 'ü' })).value).toEqual({ a: 'ü' });
    const counter = await wasm(digitCounter());
    expect((await callOne(process, counter)).value).toBe(1);
    expect((await callOne(process, counter)).value).toBe(2);
    await process.close({ drainMs: 1000, force: false });
    const again = open('wasm-call');
    expect((await callOne(again, counter)).value).toBe(1);
    await again.kill('killed');
  });

  test('a module may be a file of the workspace, and a changed file is another module', async () => {
    const process = open('wasm-file');
    const put = async (wat: string) =>
      process.write({ op: 'put', volume: 'workspace', path: parseVfsPath('/it.wasm'), content: await wasmOfWat(wat) });
    const component = componentOf('wasm', '', { file: '/it.wasm' });
    expect((await callOne(process, component)).result.error?.message).toBe(
      'There is no file "/it.wasm" in the workspace.',
    );
    await put(echo());
    expect((await callOne(process, component, { a: 1 })).value).toEqual({ a: 1 });
    await put(digitCounter());
    expect((await callOne(process, component)).value).toBe(1);
    await process.kill('killed');
  });

  test('a WASI command reads its input from stdin and writes its output to stdout', async () => {
    const process = open('wasm-wasi');
    const cat = await wasm(WASI_CAT);
    const { value, logs } = await callOne(process, cat, { a: [1] });
    expect(value).toEqual({ a: [1] });
    expect(logs).toBe('noted\n');
    expect((await callOne(process, cat, { a: [2] })).value).toEqual({ a: [2] });
    const durable = await wasm(WASI_CAT, { path: 'main/durable', persist: 'state' });
    expect((await callOne(process, durable)).result.error).toMatchObject({ kind: 'state' });
    await process.kill('killed');
  });

  test('a module of AssemblyScript runs', async () => {
    const process = open('wasm-as');
    const module = await wasmOfAssemblyScript(`
      export function alloc(len: i32): i32 { return heap.alloc(len) as i32; }
      export function run(ptr: i32, len: i32): i64 {
        const text = String.UTF8.decodeUnsafe(ptr as usize, len as usize);
        const out = String.UTF8.encode('{"length":' + text.length.toString() + '}');
        return (i64(changetype<usize>(out)) << 32) | i64(out.byteLength);
      }`);
    const component = componentOf('wasm', Buffer.from(module).toString('base64'));
    expect((await callOne(process, component, { a: 'xyz' })).value).toEqual({ length: 11 });
    await process.kill('killed');
  });

  test('with :persist, checkpoint and restore carry its state over a kill', async () => {
    const durable = await wasm(digitCounter(DIGIT_STATE), { persist: 'state' });
    const first = open('wasm-persist');
    expect((await callOne(first, durable)).value).toBe(1);
    await first.kill('killed');
    const second = open('wasm-persist');
    expect((await callOne(second, durable)).value).toBe(2);
    const bare = await wasm(digitCounter(), { persist: 'state' });
    expect((await callOne(second, bare)).result.error?.message).toContain('"checkpoint" and "restore"');
    expect((await callOne(second, durable)).value).toBe(3);
    await second.kill('killed');
  });

  test('a module that opts in keeps its whole memory and its exported globals', async () => {
    const source = digitCounter('(global (export "calls") (mut i32) (i32.const 0))');
    const durable = await wasm(source, { persist: 'memory' });
    const first = open('wasm-memory');
    expect((await callOne(first, durable)).value).toBe(1);
    expect((await callOne(first, durable)).value).toBe(2);
    await first.kill('killed');
    const second = open('wasm-memory');
    expect((await callOne(second, durable)).value).toBe(3);
    const size = await second.exec({ command: 'true' });
    expect(size.exitCode).toBe(0);
    const other = await wasm(`${source} `, { persist: 'memory', path: 'main/it' });
    expect(other.hash).toBe(durable.hash);
    const changed = await wasm(digitCounter('(global (export "calls") (mut i32) (i32.const 1))'), {
      persist: 'memory',
    });
    expect((await callOne(second, changed)).result.error).toMatchObject({
      kind: 'state',
      message: expect.stringContaining('another module'),
    });
    const hiding = await wasm(digitCounter('(global (mut i32) (i32.const 1))'), {
      persist: 'memory',
      path: 'main/hiding',
    });
    expect((await callOne(second, hiding)).result.error?.message).toContain('of 1 mutable globals it exports 0');
    await second.kill('killed');
  });

  test('imports are those of winterdock and WASI, each as declared', async () => {
    const process = open('wasm-imports');
    const put = echo({
      imports: '(import "winterdock" "vfs_put" (func $put (param i32 i32 i32 i32)))',
      body: '(call $put (i32.const 100) (i32.const 5) (i32.const 200) (i32.const 5))',
    });
    expect((await callOne(process, await wasm(put))).result.error).toMatchObject({ kind: 'capability' });
    expect((await callOne(process, await wasm(put, { uses: ['vfs'] }))).result.state).toBe('done');
    expect((await process.exec({ command: 'cat note' })).stdout).toBe('hello');
    const get = echo({
      imports: '(import "winterdock" "vfs_get" (func $get (param i32 i32) (result i64)))',
      body: '(if (i64.lt_s (call $get (i32.const 100) (i32.const 5)) (i64.const 0)) (then unreachable))',
    });
    expect((await callOne(process, await wasm(get, { uses: ['vfs'] }))).result.state).toBe('done');
    const log = echo({
      imports: '(import "winterdock" "log" (func $log (param i32 i32)))',
      body: '(call $log (i32.const 200) (i32.const 5))',
    });
    expect((await callOne(process, await wasm(log, { uses: ['log'] }))).logs).toBe('hello\n');
    expect((await callOne(process, await wasm(log))).result.error?.message).toContain('add ":uses log"');
    const clock = WASI_CAT.replace(
      '(func (export "_start")',
      '(func (export "_start") (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 32)))',
    );
    expect((await callOne(process, await wasm(clock))).result.error).toMatchObject({ kind: 'capability' });
    expect((await callOne(process, await wasm(clock, { uses: ['clock'] }), { a: 1 })).value).toEqual({ a: 1 });
    const unknown = echo({ imports: '(import "host" "system" (func $system))' });
    expect((await callOne(process, await wasm(unknown))).result.error?.message).toContain(
      '"host.system", which is not offered',
    );
    await process.kill('killed');
  });
});

describe('hostile WebAssembly', () => {
  test('one that never ends is ended with its thread; what others kept is there, and what they lost is said', async () => {
    const process = open('wasm-endless');
    const counter = await wasm(digitCounter(), { path: 'main/counter' });
    const durable = await wasm(digitCounter(DIGIT_STATE), { path: 'main/durable', persist: 'state' });
    await callOne(process, counter);
    await callOne(process, durable);
    const endless = await wasm(echo({ body: '(loop $again (br $again))' }), { path: 'main/endless' });
    const { result } = await callOne(process, endless, {}, { timeoutMs: 300 });
    expect(result.error?.kind).toBe('timeout');
    expect(result.error?.message).toContain('main/counter, main/durable');
    expect(isRunning(process.pid)).toBe(true);
    expect((await callOne(process, counter)).value).toBe(1);
    expect((await callOne(process, durable)).value).toBe(2);
    await process.kill('killed');
  });

  test('memories and tables beyond the policy are refused before anything is compiled', async () => {
    const process = open('wasm-huge', { policy: 'compute' });
    const error = async (wat: string) => (await callOne(process, await wasm(wat))).result.error;
    expect(await error(echo({ memory: '65536' }))).toEqual({
      kind: 'memory',
      message: 'Its memory begins with 4096 MiB; the policy allows 64 MiB.',
    });
    expect((await error(echo({ parts: '(table 9000000 funcref)' })))?.message).toContain('a table of 9000000 entries');
    const grows = echo({ body: '(if (i32.eq (memory.grow (i32.const 2000)) (i32.const -1)) (then unreachable))' });
    expect((await error(grows))?.message).toContain('unreachable');
    const shared = Buffer.from(await wasmOfWat(echo()));
    expect(
      (await callOne(process, componentOf('wasm', shared.subarray(0, 40).toString('base64')))).result.error?.kind,
    ).toBe('component');
    expect((await callOne(process, componentOf('wasm', 'no base64!'))).result.error?.message).toBe(
      'Its source is no base64.',
    );
    expect((await callOne(process, componentOf('wasm', 'AAAA'))).result.error?.message).toContain(
      'no WebAssembly module',
    );
    await process.kill('killed');
  });

  test('pointers outside its memory, deep recursion and logs without end are contained', async () => {
    const process = open('wasm-wild');
    const wild = `(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) (i32.const -8))
      (func (export "run") (param i32 i32) (result i64) (i64.const -1)))`;
    expect((await callOne(process, await wasm(wild))).result.error?.kind).toBe('component');
    const deep = echo({ parts: '(func $deep (call $deep))', body: '(call $deep)' });
    expect((await callOne(process, await wasm(deep))).result.error?.kind).toBe('component');
    const logs = echo({
      imports: '(import "winterdock" "log" (func $log (param i32 i32)))',
      body: '(loop $again (call $log (i32.const 0) (i32.const 60000)) (br $again))',
    });
    await process.kill('killed');
    const endless = await wasm(logs, { uses: ['log'] });
    /** What is said after it. Where its interpreter has no turn within a second it is ended from outside. */
    const stopped = async (id: string) => {
      const other = open(id);
      const { result, logs: text } = await callOne(other, endless, {}, { timeoutMs: 500 });
      expect(result.error?.kind).toBe('timeout');
      expect(text.length).toBeLessThan(1.1 * 1024 * 1024);
      const said = await other.exec({ command: 'echo alive' }).then(
        ({ stdout }) => stdout,
        ({ extra }: WinterdockError) => extra.cause,
      );
      await other.kill('killed');
      return said;
    };
    const said = [];
    for (let tries = 1; tries <= 5 && said.at(-1) !== 'alive\n'; tries += 1)
      said.push(await stopped(`wasm-logs-${tries}`));
    expect(said.at(-1)).toBe('alive\n');
    expect(said.slice(0, -1).every((cause) => cause === 'timeout')).toBe(true);
  });
});
