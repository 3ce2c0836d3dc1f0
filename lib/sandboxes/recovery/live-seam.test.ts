/**
 * Below a live folder, and in the folder of spill files, the server's own process does everything through the seam: an
 * observer of every function of node:fs in a run of all verbs finds no other call, and none but a look while awake.
 */
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { observeOpens, REQUEST, startTestEngine } from '../testing/test-engine.ts';

/** Below the folder of a sandbox, or in that of spill files; not what is being removed, nor unfinished work. */
const STRANGERS = /\/(?:live\/[a-z0-9][^/]*|spill)\/[^/]+/;
const SEAM = /\/base\/(?:effects|strangers-file)\.ts/;
/** Of our own files; a call from anywhere else is Node's, of one that was seen. */
const OURS = /\/lib\/(?!sandboxes\/recovery\/live-seam\.test|testing\/|sandboxes\/testing\/)[^\s:]+\.ts/;
/** Looks that follow nothing and open nothing. */
const LOOKS = new Set(['lstat', 'lstatSync']);

interface Seen {
  name: string;
  path: string;
  from: string;
  stack: string;
}

/** Records the calls of node:fs and node:fs/promises whose first or second argument is such a path. */
function observeCalls(dataFolder: string): Seen[] {
  const seen: Seen[] = [];
  const undo: (() => void)[] = [];
  for (const module of [fs, fs.promises] as unknown as Record<string, unknown>[]) {
    for (const [name, work] of Object.entries(module)) {
      if (typeof work !== 'function' || /^[A-Z_]/.test(name)) continue;
      const wrapped = function (this: unknown, ...args: unknown[]) {
        const path = args
          .slice(0, 2)
          .find((one): one is string => typeof one === 'string' && one.startsWith(dataFolder) && STRANGERS.test(one));
        if (path !== undefined) {
          const stack = new Error('stack').stack ?? '';
          const from = OURS.exec(stack)?.[0];
          if (from !== undefined) seen.push({ name, path, from, stack });
        }
        return Reflect.apply(work, this, args);
      };
      module[name] = Object.assign(wrapped, work);
      undo.push(() => {
        module[name] = work;
      });
    }
  }
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const one of undo) one();
    syncBuiltinESMExports();
  });
  return seen;
}

test('what the server does in a live folder it does through the seam, in every verb', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'winterdock-seam-'));
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true }));
  const seen = observeCalls(dataFolder);
  const dock = await startTestEngine({ dataFolder });
  const pids = new Map<string, number>();
  observeOpens(dock.pool, (opening, { id }) => pids.set(id, opening.pid));
  const { sandboxes } = dock;
  const look = async (id: string, awake: boolean) => {
    expect(await dock.get(id, '/x')).toBe('text');
    await sandboxes.copyOut(id, join(dataFolder, `${id}-copy`), { volumes: ['workspace'] });
    if (!awake) await sandboxes.copyRaw(id, mkdtempSync(join(dataFolder, 'raw-')));
    rmSync(join(dataFolder, `${id}-copy`));
    await sandboxes.tick();
  };
  try {
    for (const id of ['a', 'b', 'c']) {
      await dock.create(id);
      await dock.put(id, '/x', 'text');
      expect(await dock.run(id, 'cat x')).toBe('text');
      const before = seen.length;
      await look(id, true);
      expect(
        seen
          .slice(before)
          .filter(({ name }) => !LOOKS.has(name))
          .map(({ name, path, from }) => `${name} ${path} ${from}`),
      ).toEqual([]);
    }
    await sandboxes.suspend('a', REQUEST);
    await look('a', false);
    await sandboxes.freeze('a', REQUEST);
    await sandboxes.prefetch('a', REQUEST);
    await look('a', false);
    await sandboxes.resume('a', REQUEST);
    await sandboxes.archive('a', REQUEST);
    await look('a', true);
    await sandboxes.resume('a', REQUEST);
    await sandboxes.archive('b', REQUEST, { force: true });
    await sandboxes.delete('b', REQUEST);
    // A crash.
    process.kill(pids.get('c') ?? 0, 'SIGKILL');
    await expect.poll(async () => (await dock.registry.instances.get('c'))?.state).toBe('suspended');
    expect(await dock.run('c', 'cat x')).toBe('text');
  } finally {
    await dock.stop();
  }
  const again = await startTestEngine({ dataFolder });
  await again.sandboxes.resume('a', REQUEST);
  await again.stop();
  const outside = seen.filter(({ name, stack }) => !LOOKS.has(name) && !SEAM.test(stack));
  expect([...new Set(outside.map(({ name, from }) => `${name} ${from.replace(/.*\/lib\//, 'lib/')}`))]).toEqual([]);
  // The observer sees: the seam itself was used.
  expect(seen.filter(({ stack }) => SEAM.test(stack)).length).toBeGreaterThan(20);
});
