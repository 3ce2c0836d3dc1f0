import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { openObjectStore } from './open-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-garbage-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('what small transfers leave in the server is collected as young objects, soon after them', async () => {
  const url = pathToFileURL(folder).href;
  const connection = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };
  const store = await openObjectStore(url, connection);
  const file = join(folder, 'file');
  writeFileSync(file, Buffer.alloc(1024 * 1024, 1));
  await store.upload('drawers/a', file);
  const collected = Promise.withResolvers<void>();
  const observer = new PerformanceObserver((list) => {
    const kinds = list
      .getEntries()
      .map((entry) => (entry as unknown as { detail: { kind: number; flags: number } }).detail);
    const { NODE_PERFORMANCE_GC_MINOR: minor, NODE_PERFORMANCE_GC_FLAGS_FORCED: forced } = constants;
    if (kinds.some(({ kind, flags }) => kind === minor && (flags & forced) !== 0)) collected.resolve();
  });
  observer.observe({ entryTypes: ['gc'] });
  await store.upload('drawers/b', file);
  await collected.promise;
  observer.disconnect();
  // Nothing else gets at the collector by it.
  expect(globalThis).not.toHaveProperty('gc');
  await store.close();
});
