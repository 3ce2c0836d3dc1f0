/**
 * A process that starts an engine, runs one operation and kills itself with SIGKILL at a given step. Arguments: folder,
 * sandbox, operation, step.
 */
import { flushCompileCache } from 'node:module';
import { FakeClock } from '../../base/clock.ts';
import type { State } from '../../lifecycle/state-map.ts';
import { PREFETCH_SECONDS } from '../files/prefetch.ts';
import { REQUEST, startTestEngine, type TestEngine } from './test-engine.ts';

const [folder, id, operation, step] = process.argv.slice(2);
if (folder === undefined || id === undefined || operation === undefined || step === undefined) {
  throw new Error('folder, sandbox, operation, step');
}

let armed = false;
const dock = await startTestEngine({
  dataFolder: folder,
  clock: new FakeClock(),
  failpoint: (name) => {
    if (armed && name === step) process.kill(process.pid, 'SIGKILL');
  },
});

const OPERATIONS: Record<string, (dock: TestEngine) => Promise<unknown>> = {
  suspend: ({ sandboxes }) => sandboxes.suspend(id, REQUEST),
  freeze: ({ sandboxes }) => sandboxes.freeze(id, REQUEST),
  resume: ({ sandboxes }) => sandboxes.resume(id, REQUEST),
  archive: ({ sandboxes }) => sandboxes.archive(id, REQUEST),
  delete: ({ sandboxes }) => sandboxes.delete(id, REQUEST),
  /** Nothing uses it, so it is filed back. */
  async prefetch({ sandboxes, clock }) {
    await sandboxes.prefetch(id, REQUEST);
    clock.advance(PREFETCH_SECONDS);
    await sandboxes.tick();
  },
};
/** `plan:suspended` and the like. */
const target = operation.startsWith('plan:') ? operation.slice('plan:'.length) : null;

const row = await dock.registry.instances.get(id);
if ((operation === 'suspend' || operation === 'archive') && row?.state === 'suspended') {
  await dock.sandboxes.resume(id, REQUEST);
  await dock.put(id, '/answered', 'a moment before');
}
// A killed process writes no compile cache: the next one would compile everything again.
flushCompileCache();
armed = true;
if (target === null) await OPERATIONS[operation]?.(dock);
else await dock.sandboxes.runPlan(id, target as State, REQUEST);
await dock.stop();
