/**
 * A process that starts an engine, runs one operation and kills itself with SIGKILL at a given step. Arguments: folder,
 * sandbox, operation, step.
 */
import { flushCompileCache } from 'node:module';
import { FakeClock } from '../../base/clock.ts';
import type { State } from '../../lifecycle/states.ts';
import { PREFETCH_SECONDS } from '../files/prefetch.ts';
import { type Dock, REQUEST, startDock } from './dock.ts';

const [folder, id, operation, step] = process.argv.slice(2);
if (folder === undefined || id === undefined || operation === undefined || step === undefined) {
  throw new Error('folder, sandbox, operation, step');
}

let armed = false;
const dock = await startDock({
  dataFolder: folder,
  clock: new FakeClock(),
  failpoint: (name) => {
    if (armed && name === step) process.kill(process.pid, 'SIGKILL');
  },
});

const OPERATIONS: Record<string, (dock: Dock) => Promise<unknown>> = {
  suspend: ({ sessions }) => sessions.suspend(id, REQUEST),
  freeze: ({ sessions }) => sessions.freeze(id, REQUEST),
  resume: ({ sessions }) => sessions.resume(id, REQUEST),
  archive: ({ sessions }) => sessions.archive(id, REQUEST),
  delete: ({ sessions }) => sessions.delete(id, REQUEST),
  /** Nothing uses it, so it is filed back. */
  async prefetch({ sessions, clock }) {
    await sessions.prefetch(id, REQUEST);
    clock.advance(PREFETCH_SECONDS);
    await sessions.tick();
  },
};
/** `plan:suspended` and the like. */
const target = operation.startsWith('plan:') ? operation.slice('plan:'.length) : null;

const row = await dock.registry.instances.get(id);
if ((operation === 'suspend' || operation === 'archive') && row?.state === 'suspended') {
  await dock.sessions.resume(id, REQUEST);
  await dock.put(id, '/answered', 'a moment before');
}
// A killed process writes no compile cache: the next one would compile everything again.
flushCompileCache();
armed = true;
if (target === null) await OPERATIONS[operation]?.(dock);
else await dock.sessions.runPlan(id, target as State, REQUEST);
await dock.stop();
