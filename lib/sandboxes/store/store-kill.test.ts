import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { objectNameOf } from '../../base/cloud-address.ts';
import { processesOf } from '../../testing/leftovers.ts';
import { programOf } from '../../testing/program.ts';
import { ALL_STORE_FAILPOINTS, STORE_FAILPOINTS } from '../recovery/failpoints.ts';
import { REQUEST, startTestEngine } from '../testing/test-engine.ts';
import { folderStore } from './testing/folder-store.ts';

const VICTIM = join(dirname(fileURLToPath(import.meta.url)), '..', 'testing', 'store-victim.ts');

/** What a victim does, by the steps that it passes. */
const SCENARIOS = [
  { doing: 'upload', passes: 'upload' },
  { doing: 'bring', passes: 'bring' },
  { doing: 'read', passes: 'bring' },
  { doing: 'evict', passes: 'evict' },
  { doing: 'collect', passes: 'collect' },
] as const;
const CASES = SCENARIOS.flatMap(({ doing, passes }) =>
  STORE_FAILPOINTS[passes].map((step) => ({ doing, passes, step, id: `${doing}-${step}` })),
);

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-store-kill-'));
  const dock = await startTestEngine({
    dataFolder: join(folder, 'data'),
    store: { objects: await folderStore(join(folder, 'bucket')) },
  });
  dock.sandboxes.start();
  for (const { id, doing } of CASES) {
    await dock.create(id);
    await dock.put(id, '/kept', id);
    await dock.sandboxes.suspend(id, REQUEST);
    if (doing !== 'upload') await dock.sandboxes.freeze(id, REQUEST);
  }
  await dock.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every step with a store has a case that kills the server there', () => {
  expect(new Set(CASES.map(({ passes, step }) => `${passes}.${step}`))).toEqual(new Set(ALL_STORE_FAILPOINTS));
});

test.each(CASES)('a server killed at $step of $doing loses nothing', async ({ passes, step, doing, id }) => {
  const victim = spawnSync(
    process.execPath,
    ['--no-warnings', programOf(VICTIM), folder, id, doing, `${passes}.${step}`],
    { encoding: 'utf8' },
  );
  expect(victim.signal, victim.stderr).toBe('SIGKILL');
  await expect.poll(() => processesOf(folder)).toEqual([]);
  const objects = await folderStore(join(folder, 'bucket'));
  const dock = await startTestEngine({ dataFolder: join(folder, 'data'), store: { objects } });
  dock.sandboxes.start();
  try {
    const before = await dock.registry.instances.get(id);
    expect(before).toMatchObject({ pending: null, fault: null });
    expect(await dock.get(id, '/kept')).toBe(id);
    await vi.waitFor(async () => expect((await dock.registry.instances.uploadBacklog()).n).toBe(0), 240_000);
    const row = await dock.registry.instances.get(id);
    expect(row?.vfsPath).toBe(row?.stored?.address);
    const names = await dock.registry.storeNames.ofInstance(id);
    const current = names.filter(({ state }) => state === 'current').map(({ name }) => name);
    expect(current).toEqual([objectNameOf(row?.stored?.address ?? '')]);
    expect(names.filter(({ state }) => state === 'uploading')).toEqual([]);
    expect(existsSync(join(folder, 'bucket', current[0] ?? ''))).toBe(true);
    expect(JSON.parse(readFileSync(join(folder, 'bucket', `${current[0]}.row.json`), 'utf8'))).toMatchObject({ id });
    await dock.sandboxes.resume(id, REQUEST);
    expect(await dock.run(id, 'cat kept')).toBe(id);
    await dock.sandboxes.suspend(id, REQUEST);
    expect(await dock.get(id, '/kept')).toBe(id);
  } finally {
    await dock.stop();
    await objects.close();
  }
});
