/**
 * Prefetches that fail or are interrupted by a restart: the file ends where the row names it, and nothing stays in the
 * live drawer.
 */
import { expect, test } from 'vitest';
import { filesIn } from '../../testing/files-in.ts';
import type { Failpoint } from '../recovery/failpoints.ts';
import { stage } from '../testing/stage.ts';
import { REQUEST } from '../testing/test-engine.ts';

const at = stage();
const inDrawers = () => filesIn(at.folder).filter((path) => /^(live|cold|archive|orphans)\//.test(path));
const LIVE = 'live/a/vfs.sqlite';

/** A frozen sandbox, on an engine that breaks once at a step. */
async function frozen(breaksAt: Failpoint): Promise<void> {
  let broken = false;
  await at.restart({
    failpoint: (step) => {
      if (step !== breaksAt || broken) return;
      broken = true;
      throw new Error(`broken at ${step}`);
    },
  });
  await at.dock.create('a');
  await at.dock.put('a', '/x', 'kept');
  await at.dock.sandboxes.suspend('a', REQUEST);
  await at.dock.sandboxes.freeze('a', REQUEST);
}

test('a failed prefetch returns the file to where the row names it', async () => {
  await frozen('prefetch.brought');
  await expect(at.dock.sandboxes.prefetch('a', REQUEST)).rejects.toThrow('broken');
  expect(inDrawers()).toEqual(['cold/a.sqlite']);
  expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'frozen', pending: null, fault: null });
  expect(await at.dock.run('a', 'cat x')).toBe('kept');
});

test('a prefetched file that cannot be filed back stays, blocks nobody, and goes back later', async () => {
  await frozen('prefetch.returned');
  await at.dock.sandboxes.prefetch('a', REQUEST);
  at.dock.clock.advance(301);
  await at.dock.sandboxes.tick();
  expect(await at.dock.registry.instances.get('a')).toMatchObject({ vfsPath: LIVE, pending: null });
  expect(inDrawers()).toEqual([LIVE]);
  expect(await at.dock.get('a', '/x')).toBe('kept');
  at.dock.clock.advance(301);
  await at.dock.sandboxes.tick();
  expect(await at.dock.registry.instances.get('a')).toMatchObject({ vfsPath: 'cold/a.sqlite', pending: null });
  expect(inDrawers()).toEqual(['cold/a.sqlite']);
});

test.each(['frozen', 'archived'] as const)(
  'a %s sandbox whose file was prefetched before a restart is filed back after it',
  async (state) => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'kept');
    await at.dock.sandboxes.runPlan('a', state, REQUEST);
    const before = inDrawers();
    await at.dock.sandboxes.prefetch('a', REQUEST);
    await at.restart();
    expect(inDrawers()).toContain(LIVE);
    at.dock.clock.advance(301);
    await at.dock.sandboxes.tick();
    expect(inDrawers()).toEqual(before);
    expect(await at.dock.get('a', '/x')).toBe('kept');
  },
);
