import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Registry } from '../registry/registry.ts';
import { REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

let folder: string;
let dock: TestEngine;
/** What the registry waits for before it answers what each of the next calls asks. */
let held: Promise<void>[] = [];
/** How many it holds. */
let holds: number;

/** A registry that answers later what it was asked first. */
function between(registry: Registry): Registry {
  const of = async (...asked: Parameters<Registry['environments']['of']>) => {
    const waitsFor = held.shift();
    const answer = await registry.environments.of(...asked);
    if (waitsFor !== undefined) holds += 1;
    await waitsFor;
    return answer;
  };
  return { ...registry, environments: { ...registry.environments, of } };
}

beforeEach(async () => {
  held = [];
  holds = 0;
  folder = mkdtempSync(join(tmpdir(), 'winterdock-call-order-'));
  dock = await startTestEngine({ dataFolder: folder, between });
  await dock.create('a');
  await dock.run('a', 'true');
});
afterEach(async () => {
  await dock.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ways: Record<string, (n: number) => Promise<unknown>> = {
  commands: (n) => dock.run('a', `echo ${n}`),
  programs: (n) => dock.sandboxes.eval('a', { language: 'js', code: String(n) }, REQUEST),
};

test.each(Object.keys(ways))('%s begin in the order they came, in whatever order the registry answers', async (way) => {
  const answers = [1, 2, 3].map(() => Promise.withResolvers<void>());
  held = answers.map(({ promise }) => promise);
  // One runs at a time.
  const ended: number[] = [];
  const calls = [1, 2, 3].map((n) => ways[way]?.(n).then(() => ended.push(n)));
  await expect.poll(() => holds).toBe(3);
  for (const { resolve } of answers.toReversed()) resolve();
  await Promise.all(calls);
  expect(ended).toEqual([1, 2, 3]);
});

test('a call that is refused holds up none of those that came after it', async () => {
  const refusal = Promise.withResolvers<void>();
  held = [refusal.promise];
  const first = dock.run('a', 'echo 1 >> order');
  const second = dock.run('a', 'echo 2 >> order');
  await expect.poll(() => holds).toBe(1);
  refusal.reject(new Error('the registry is away'));
  await expect(first).rejects.toThrow('the registry is away');
  await second;
  expect(await dock.run('a', 'cat order')).toBe('2\n');
});
