import { describe, expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';
import { callOne, componentOf } from './testing/component.ts';

const { open } = stage();
const COUNTER = `let n = 0; export default () => ({ n: ++n }); export const state = { get: () => n, set: (value) => { n = value; } };`;

describe('JavaScript components', () => {
  test('the default export gets the input and gives the output, also as a promise', async () => {
    const process = open('js-call');
    const sum = componentOf('js', 'export default ({ a, b }) => ({ sum: a + b });');
    expect((await callOne(process, sum, { a: 1, b: 2 })).value).toEqual({ sum: 3 });
    const later = componentOf('js', 'export default async ({ a }) => { await null; return { a }; };', {
      path: 'main/later',
    });
    expect((await callOne(process, later, { a: 'ü\u0000' })).value).toEqual({ a: 'ü\u0000' });
    const typed = componentOf(
      'ts',
      'type In = { a: number };\nexport default ({ a }: In): { b: number } => ({ b: a * 2 });',
      {
        path: 'main/typed',
      },
    );
    expect((await callOne(process, typed, { a: 4 })).value).toEqual({ b: 8 });
    const enumerated = componentOf('ts', 'enum A { B }\nexport default () => A.B;', { path: 'main/enumerated' });
    expect((await callOne(process, enumerated)).result.error).toMatchObject({
      kind: 'component',
      message: expect.stringContaining('enum is not supported'),
    });
    await process.kill('killed');
  });

  test('memory lives between the calls of one start, and each component has its own', async () => {
    const process = open('js-memory');
    const one = componentOf('js', COUNTER, { path: 'main/one' });
    const two = componentOf('js', COUNTER, { path: 'main/two' });
    expect((await callOne(process, one)).value).toEqual({ n: 1 });
    expect((await callOne(process, one)).value).toEqual({ n: 2 });
    expect((await callOne(process, two)).value).toEqual({ n: 1 });
    expect(await process.close({ drainMs: 1000, force: false })).toBe(true);
    const again = open('js-memory');
    expect((await callOne(again, one)).value).toEqual({ n: 1 });
    await again.kill('killed');
  });

  test('with :persist it goes on, after a close and after a kill', async () => {
    const durable = componentOf('js', COUNTER, { persist: 'state' });
    for (const [at, end] of (['close', 'kill', 'close'] as const).entries()) {
      const process = open('js-persist');
      expect((await callOne(process, durable)).value).toEqual({ n: 2 * at + 1 });
      expect((await callOne(process, durable)).value).toEqual({ n: 2 * at + 2 });
      if (end === 'kill') await process.kill('killed');
      else await process.close({ drainMs: 1000, force: false });
    }
  });

  test('a call that fails keeps nothing: neither files nor state', async () => {
    const process = open('js-fails');
    const source = `let n = 0;
      export default ({ fail }) => { n += 1; vfs.put('/out', String(n)); if (fail) throw new TypeError('no'); return n; };
      export const state = { get: () => n, set: (value) => { n = value; } };`;
    const durable = componentOf('js', source, { persist: 'state', uses: ['vfs'] });
    expect((await callOne(process, durable)).value).toBe(1);
    const failed = await callOne(process, durable, { fail: true });
    expect(failed.result.error).toMatchObject({ kind: 'component', message: expect.stringContaining('TypeError: no') });
    expect((await process.exec({ command: 'cat out' })).stdout).toBe('1');
    expect((await callOne(process, durable)).value).toBe(2);
    await process.kill('killed');
  });

  test('old state meets new code: set gets the old value, and what it refuses stays', async () => {
    const process = open('js-upgrade');
    await callOne(process, componentOf('js', COUNTER, { persist: 'state' }));
    const refuses = componentOf(
      'js',
      `export default () => 1; export const state = { get: () => ({}), set: () => { throw new Error('what is this'); } };`,
      { persist: 'state' },
    );
    expect((await callOne(process, refuses)).result.error).toMatchObject({
      kind: 'state',
      message: expect.stringContaining('what is this'),
    });
    const bare = componentOf('js', 'export default () => 1;', { persist: 'state' });
    expect((await callOne(process, bare)).result.error?.kind).toBe('state');
    expect((await callOne(process, componentOf('js', COUNTER, { persist: 'state' }))).value).toEqual({ n: 2 });
    await process.kill('killed');
  });

  test('files are there when declared, else using them is refused by name', async () => {
    const process = open('js-vfs');
    const source = `export default () => { try { vfs.put('/x', 'y'); } catch {} return 1; };`;
    expect((await callOne(process, componentOf('js', source))).result.error).toEqual({
      kind: 'capability',
      message: expect.stringContaining('add ":uses vfs"'),
    });
    expect((await callOne(process, componentOf('js', source, { uses: ['vfs'] }))).value).toBe(1);
    expect((await process.exec({ command: 'cat x' })).stdout).toBe('y');
    const fetches = componentOf('js', source, { uses: ['fetch'] });
    expect((await callOne(process, fetches)).result.error?.message).toBe(
      'The policy "posix" has no fetch, which "main/it" declares to use.',
    );
    await process.kill('killed');
  });

  test('inputs and outputs are checked against their types', async () => {
    const process = open('js-types');
    const ports = {
      in: [{ name: 'a', type: 'integer', optional: false }],
      out: [{ name: 'b', type: 'string[]', optional: false }],
    };
    const typed = componentOf('js', 'export default ({ a }) => ({ b: a === 1 ? ["x"] : [a] });', ports);
    expect((await callOne(process, typed, { a: 1 })).value).toEqual({ b: ['x'] });
    expect((await callOne(process, typed, { a: 'x' })).result.error).toEqual({
      kind: 'input',
      message: 'a must be integer, not a string.',
    });
    expect((await callOne(process, typed, { a: 1, z: 1 })).result.error?.message).toBe('"z" is not declared.');
    expect((await callOne(process, typed, {})).result.error?.message).toBe('a is missing.');
    expect((await callOne(process, typed, { a: 2 })).result.error).toEqual({
      kind: 'output',
      message: 'b[0] must be string, not a number.',
    });
    await process.kill('killed');
  });
});

describe('hostile JavaScript', () => {
  test('one that never ends is stopped, and the others keep their memory', async () => {
    const process = open('js-endless');
    const counter = componentOf('js', COUNTER, { path: 'main/counter' });
    await callOne(process, counter);
    const endless = componentOf('js', 'export default () => { for (;;); };');
    const { result } = await callOne(process, endless, {}, { timeoutMs: 200 });
    expect(result.error?.kind).toBe('timeout');
    const promised = componentOf('js', 'export default () => new Promise(() => {});', { path: 'main/promised' });
    expect((await callOne(process, promised)).result.error?.kind).toBe('component');
    const begins = componentOf('js', 'for (;;); export default () => 1;', { path: 'main/begins' });
    expect((await callOne(process, begins, {}, { timeoutMs: 200 })).result.error?.kind).toBe('timeout');
    expect((await callOne(process, counter)).value).toEqual({ n: 2 });
    await process.kill('killed');
  });

  test('one that allocates without end runs out of memory, and what is kept stays', async () => {
    const process = open('js-greedy', { policy: 'compute' });
    const durable = componentOf('js', COUNTER, { path: 'main/durable', persist: 'state' });
    await callOne(process, durable);
    const greedy = componentOf(
      'js',
      'export default () => { const all = []; for (;;) all.push(new Uint8Array(1e6)); };',
    );
    expect((await callOne(process, greedy)).result.error?.kind).toBe('memory');
    expect((await callOne(process, durable)).value).toEqual({ n: 2 });
    await process.kill('killed');
  });

  test('one that gives a value too deep or too large for the server is refused', async () => {
    const process = open('js-heavy');
    const deep = componentOf(
      'js',
      'export default () => { let a = []; for (let i = 0; i < 600; i += 1) a = [a]; return a; };',
    );
    expect((await callOne(process, deep)).result.error).toMatchObject({ kind: 'output' });
    const wide = componentOf('js', 'export default () => "x".repeat(5e6);', { path: 'main/wide' });
    expect((await callOne(process, wide)).result.error).toMatchObject({ kind: 'output' });
    await process.kill('killed');
  });

  test('one that prints without end is cut, and says so', async () => {
    const process = open('js-prints');
    const prints = componentOf(
      'js',
      `export default () => { for (let i = 0; i < 1e5; i += 1) console.log('x'.repeat(100)); };`,
    );
    const { logs, result } = await callOne(process, prints);
    expect(result.state).toBe('done');
    expect(logs.length).toBeLessThan(1.1 * 1024 * 1024);
    expect(logs).toContain('the rest was dropped');
    await process.kill('killed');
  });

  test('components do not reach one another, nor the bridge, by changing built-ins or prototypes', async () => {
    const process = open('js-reach');
    const evil = componentOf(
      'js',
      `JSON.parse = () => ({ stolen: true }); JSON.stringify = () => '"forged"'; Object.prototype.poisoned = 1; Reflect.apply = () => 'x';
       globalThis.leak = 1; Promise.prototype.then = () => { throw 1; };
       export default (input) => { input.__proto__.more = 1; return input; };`,
      { path: 'main/evil' },
    );
    const input = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"p": 1}}, "a": 1}');
    expect((await callOne(process, evil, input)).result.state).toBe('done');
    const other = componentOf(
      'js',
      'export default (input) => [typeof leak, ({}).poisoned ?? null, ({}).more ?? null, ({}).polluted ?? null, input];',
      {
        path: 'main/other',
      },
    );
    const { value } = await callOne(process, other, input);
    expect(JSON.stringify(value)).toBe(`["undefined",null,null,null,${JSON.stringify(input)}]`);
    await process.kill('killed');
  });
});
