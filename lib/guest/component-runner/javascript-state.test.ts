/** What JavaScript components keep of their state, without a process around them. */
import { expect, test } from 'vitest';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import type { ComponentRun } from './interpreter.ts';
import { JavaScriptComponents } from './javascript-components.ts';
import { componentOf } from './testing/component.ts';

const MEMORY = { memoryBytes: 64 * 1024 * 1024, growthBytes: 64 * 1024 * 1024 };
const SOURCE = `let kept = null;
export default ({ put, wrapped }) => {
  if (put !== undefined) kept = put;
  if (wrapped !== undefined) kept = new String(wrapped);
  return { kept };
};
export const state = { get: () => kept, set: (value) => { kept = value; } };`;
const COMPONENT = componentOf('js', SOURCE, { persist: 'state' });

/** A start in which the state was kept before; returns calls. Each answers what is kept now, and what was written. */
function startWith(saved: string | null) {
  const components = new JavaScriptComponents(MEMORY);
  return async (input: object) => {
    const run: ComponentRun = {
      component: COMPONENT,
      source: () => SOURCE,
      input: JSON.stringify(input),
      env: {},
      files: null as never,
      deadline: monotonicMs() + 60_000,
      signal: new AbortController().signal,
      network: null as never,
      log: () => {},
      savedState: () => (saved === null ? null : Buffer.from(saved)),
    };
    const result = await components.run(run);
    if (!result.ok) throw new Error(result.message);
    const { kept } = JSON.parse(result.json ?? '') as { kept: unknown };
    return { kept, written: result.state === undefined ? undefined : Buffer.from(result.state).toString() };
  };
}

test.each([
  ['a string', 'a'],
  ['an empty string', ''],
  ['a string with what C and UTF-8 cannot say', 'nul \0, half \ud83d, whole 😀, "quoted" \\n'],
  ['a long string', 'x'.repeat(300_000)],
  ['a string that is a number', '7'],
  ['a number', 7],
  ['nothing', null],
  ['a list', ['a']],
  ['an object', { a: 'b' }],
])('a state that is %s comes back as it was, and is written only when it has changed', async (_, state) => {
  const before = startWith(null);
  const first = await before({ put: state });
  expect(first).toEqual({ kept: state, written: JSON.stringify(state) });
  expect(await before({})).toEqual({ kept: state, written: undefined });
  const after = startWith(first.written ?? null);
  expect(await after({})).toEqual({ kept: state, written: undefined });
  expect(await after({ put: 'b' })).toEqual({ kept: 'b', written: '"b"' });
  expect(await after({ put: state })).toEqual({ kept: state, written: first.written });
  expect(await after({})).toEqual({ kept: state, written: undefined });
});

test('an object that reads as a string is not taken for that string', async () => {
  const call = startWith('"a"');
  expect(await call({ wrapped: 'b' })).toEqual({ kept: 'b', written: '"b"' });
  expect(await call({ put: 'b' })).toMatchObject({ kept: 'b' });
  expect(await call({ put: 'a' })).toEqual({ kept: 'a', written: '"a"' });
});

test('a kept text that is no JSON is refused as the state', async () => {
  await expect(startWith('"a')({})).rejects.toThrow('state.set refused what was kept: SyntaxError');
});
