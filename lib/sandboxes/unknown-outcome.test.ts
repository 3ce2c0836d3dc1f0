import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Registry } from '../registry/registry.ts';
import { liveFile, REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

let folder: string;
let dock: TestEngine;
/** What happens before the commit of a wake, which fails then; null: it does not fail. */
let beforeCommit: (() => Promise<void>) | null = null;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-unknown-'));
  beforeCommit = null;
  dock = await startTestEngine({ dataFolder: join(folder, 'data'), between: fullDisk });
  await dock.create('a');
  await dock.put('a', '/kept', 'before', 'memory');
});
afterEach(async () => {
  await dock.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A registry whose disk is full when a wake commits. */
function fullDisk(registry: Registry): Registry {
  const commit: Registry['instances']['commit'] = async (transition) => {
    if (transition.to === 'active' && beforeCommit !== null) {
      await beforeCommit();
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    }
    return registry.instances.commit(transition);
  };
  return { ...registry, instances: { ...registry.instances, commit } };
}

/** Waits until the process behind a wake has committed the write. */
async function written(): Promise<void> {
  await vi.waitFor(
    () => {
      if (!existsSync(liveFile(dock, 'a'))) throw new Error('It is not there yet.');
      const file = new DatabaseSync(liveFile(dock, 'a'), { readOnly: true });
      try {
        expect(file.prepare("SELECT count(*) AS n FROM vfs WHERE path = '/new'").get()).toEqual({ n: 1 });
      } finally {
        file.close();
      }
    },
    { timeout: 240_000, interval: 10 },
  );
}

test.each(['suspended', 'frozen'] as const)(
  'a write that was done behind a wake that failed is answered as one that may have been done (%s)',
  async (state) => {
    await dock.sandboxes.runPlan('a', state, REQUEST);
    beforeCommit = written;
    await expect(dock.put('a', '/new', 'after', 'memory')).rejects.toMatchObject({
      ...{ code: 'storage_unavailable', extra: { started: true } },
      hint: expect.stringContaining('may have been done'),
    });
    beforeCommit = null;
    expect(await dock.registry.instances.get('a')).toMatchObject({ state, pending: null, fault: null });
    expect(await dock.get('a', '/new', 'memory')).toBe('after');
    expect(await dock.run('a', 'cat /memory/kept')).toBe('before');
  },
);
