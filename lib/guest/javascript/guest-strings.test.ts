import { expect, test } from 'vitest';
import { newBinaryText, requireFreeMemory } from './guest-strings.ts';
import { newQuickJs } from './javascript.ts';

const MEMORY_BYTES = 16 * 1024 * 1024;

async function newContext() {
  return (await newQuickJs(MEMORY_BYTES)).newRuntime().newContext();
}

test.each([
  ['ASCII', 'a'],
  ['Latin-1 with NUL', 'é\\0'],
  ['what Latin-1 lacks', 'ā€'],
  ['pairs and halves of them', '😀\\ud83d'],
])('a long string of %s crosses in the binary form of the QuickJS that is installed', async (_, unit) => {
  const context = await newContext();
  const text = `${JSON.parse(`"${unit.replace('\\0', '\\u0000')}"`).repeat(50_000)}!`;
  const crossed = newBinaryText(context, text, Buffer.byteLength(text));
  if (crossed === null) throw new Error('QuickJS reads another form.');
  const same = context.unwrapResult(context.evalCode(`(text) => text === "${unit}".repeat(50_000) + "!"`));
  expect(context.dump(context.unwrapResult(context.callFunction(same, context.undefined, crossed)))).toBe(true);
});

test('a string that has no room is refused, and the interpreter goes on', async () => {
  const context = await newContext();
  const text = 'x'.repeat(MEMORY_BYTES);
  const refused = /out of memory: JavaScript has no room left for \d+ bytes/;
  expect(() => newBinaryText(context, text, text.length)).toThrow(refused);
  expect(() => requireFreeMemory(context, 3 * MEMORY_BYTES)).toThrow(refused);
  const small = 'y'.repeat(20_000);
  expect(context.getString(newBinaryText(context, small, small.length) ?? context.undefined)).toBe(small);
  expect(newBinaryText(context, 'short', 5)).toBeNull();
});
