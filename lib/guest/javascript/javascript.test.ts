import { expect, test } from 'vitest';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { runJavaScript } from './javascript.ts';
import type { JavaScriptResult } from './javascript-values.ts';

const MIB = 1024 * 1024;

async function run(code: string, ms = 30_000): Promise<JavaScriptResult & { printed: string }> {
  let printed = '';
  const result = await runJavaScript({
    code,
    file: 'eval.js',
    memoryBytes: 64 * MIB,
    deadline: monotonicMs() + ms,
    print({ text }) {
      printed += text;
    },
    write(_stream, bytes) {
      printed += Buffer.from(bytes).toString('latin1');
    },
  });
  return { ...result, printed };
}

test.each([
  ['const x = await Promise.resolve(4); x', '4'],
  ['let sum = 0; for await (const n of [1, 2, 3]) sum += n; sum', '6'],
  ['await 1; Promise.resolve([7])', '[7]'],
  ['await 1; ({ then: 1 })', '{"then":1}'],
  ['const f = async () => { await 1; return 3 }; f()', '3'],
  ['var await = 3; await', '3'],
])('a script may await at its top, and its value is still its last expression: %s', async (code, json) => {
  expect(await run(code)).toMatchObject({ ok: true, json });
});

test('a script that awaits runs once, and what it throws before and after is its error', async () => {
  expect(await run('console.log("once"); await 1; console.log("more")')).toMatchObject({
    ok: true,
    printed: 'once\nmore\n',
  });
  for (const [code, error] of [
    ['await Promise.reject(new Error("no"))', 'Error: no'],
    ['await 1; throw new TypeError("late")', 'TypeError: late'],
    ['await 1; JSON.parse("{")', 'SyntaxError: '],
    ['console.log("never"); await 1; const ]', 'SyntaxError: variable name expected'],
    ['await new Promise(() => {})', 'The value is a promise that nothing settles.'],
  ] as const) {
    const result = await run(code);
    expect([code, result]).toEqual([
      code,
      expect.objectContaining({ ok: false, error: expect.stringContaining(error), timedOut: false, printed: '' }),
    ]);
  }
});

test('the clock ends a script that awaits, before its first await and after', async () => {
  for (const code of ['await 1; while (true);', 'while (true); await 1']) {
    expect(await run(code, 200)).toMatchObject({ ok: false, timedOut: true });
  }
});
