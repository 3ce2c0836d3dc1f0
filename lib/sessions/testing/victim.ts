/** A process that starts an engine, does one operation and kills itself with SIGKILL when a step of it is reached. Arguments: folder, operation, step. */
import { FakeClock } from '../../clock.ts';
import type { State } from '../../lifecycle/states.ts';
import { PREFETCH_SECONDS } from '../prefetch.ts';
import { type Dock, REQUEST, startDock } from './dock.ts';

const [folder, operation, step] = process.argv.slice(2);
if (folder === undefined || operation === undefined || step === undefined) throw new Error('folder, operation, step');

let armed = false;
const dock = await startDock({
  dataFolder: folder,
  clock: new FakeClock(),
  reached: (reached) => {
    if (armed && reached === step) process.kill(process.pid, 'SIGKILL');
  },
});

const OPERATIONS: Record<string, (dock: Dock) => Promise<unknown>> = {
  suspend: ({ sessions }) => sessions.suspend('a', REQUEST),
  freeze: ({ sessions }) => sessions.freeze('a', REQUEST),
  resume: ({ sessions }) => sessions.resume('a', REQUEST),
  archive: ({ sessions }) => sessions.archive('a', REQUEST),
  delete: ({ sessions }) => sessions.delete('a', REQUEST),
  /** Nobody comes for it, so it is filed back. */
  async prefetch({ sessions, clock }) {
    await sessions.prefetch('a', REQUEST);
    clock.advance(PREFETCH_SECONDS);
    await sessions.tick();
  },
};
/** `walk:suspended` and the like. */
const wish = operation.startsWith('walk:') ? operation.slice('walk:'.length) : null;

const row = await dock.registry.get('a');
if ((operation === 'suspend' || operation === 'archive') && row?.state === 'suspended') {
  await dock.sessions.resume('a', REQUEST);
  await dock.put('a', '/answered', 'a moment before');
}
armed = true;
if (wish === null) await OPERATIONS[operation]?.(dock);
else await dock.sessions.walk('a', wish as State, REQUEST);
await dock.stop();
