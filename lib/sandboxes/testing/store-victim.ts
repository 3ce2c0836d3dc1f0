/**
 * A process that starts an engine with a store below its drawers, does one thing with it, and kills itself with SIGKILL
 * at a given step. Arguments: folder of everything, sandbox, what it does, step.
 */
import { existsSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { FakeClock } from '../../base/clock.ts';
import { KEPT_AFTER_MS } from '../store/collector.ts';
import { folderStore } from '../store/testing/folder-store.ts';
import { REQUEST, startTestEngine } from './test-engine.ts';

const [folder, id, operation, step] = process.argv.slice(2);
if (folder === undefined || id === undefined || operation === undefined || step === undefined) {
  throw new Error('folder, sandbox, operation, step');
}

let armed = false;
const dock = await startTestEngine({
  dataFolder: join(folder, 'data'),
  clock: new FakeClock(),
  store: {
    objects: await folderStore(join(folder, 'bucket')),
    ...(operation === 'evict' && { cacheBytes: 0, cacheKeptMs: 0 }),
  },
  failpoint: (name) => {
    if (armed && name === step) process.kill(process.pid, 'SIGKILL');
  },
});
const { sandboxes, clock } = dock;
const copies = ['cold', 'archive'].map((kind) =>
  join(folder, 'data', kind, `${id}.sqlite${kind === 'cold' ? '' : '.zst'}`),
);
// A killed process writes no compile cache: the next one would compile everything again.
flushCompileCache();
armed = true;
sandboxes.start();
if (operation === 'upload') await sandboxes.freeze(id, REQUEST);
if (operation === 'bring' || operation === 'read') for (const copy of copies) rmSync(copy, { force: true });
if (operation === 'bring') await sandboxes.resume(id, REQUEST);
if (operation === 'read') await dock.get(id, '/kept');
if (operation === 'evict')
  while (copies.some((copy) => existsSync(copy))) await new Promise((done) => setTimeout(done, 5));
if (operation === 'collect') {
  await sandboxes.archive(id, REQUEST);
  clock.advance(KEPT_AFTER_MS + 1000);
  await sandboxes.store?.collect();
}
await dock.stop();
