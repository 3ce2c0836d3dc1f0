/** A process that starts the whole engine, does one operation on copies and kills itself with SIGKILL at a step of it. Arguments: folder, operation, step. */

import type { Caller } from '../api/operations.ts';
import { FakeClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { createHost, type Host } from '../host.ts';
import { createLogger } from '../log.ts';

const [folder, operation, step] = process.argv.slice(2);
if (folder === undefined || operation === undefined || step === undefined) throw new Error('folder, operation, step');

let armed = false;
const host = await createHost({
  config: readConfig({
    WB_DATA: folder,
    WB_CACHE: process.env.WB_CACHE,
    WB_POOL: '0',
    WB_TICK_MS: '3600000',
    WB_LOG: 'silent',
  }),
  clock: new FakeClock(),
  log: createLogger('silent'),
  reached: (reached) => {
    if (armed && reached === step) process.kill(process.pid, 'SIGKILL');
  },
});

const caller: Caller = {
  actor: 'key:test',
  via: 'api',
  requestId: 'r',
  role: 'admin',
  tenants: null,
  address: null,
  session: null,
};

const OPERATIONS: Record<string, (host: Host) => Promise<unknown>> = {
  snapshot: ({ operations }) => operations.takeSnapshot(caller, 'origin', { tag: 'second' }),
  blueprint: ({ operations }) => operations.createBlueprint(caller, { name: 'base', from_instance: 'origin' }),
  async delete({ operations }) {
    const { items } = await operations.listSnapshots(caller, { limit: 1 });
    await operations.deleteSnapshot(caller, items[0]?.id ?? '');
  },
  resume: ({ operations }) => operations.resume(caller, 'clone', {}),
  /** Answers first; what was asked for goes on in the background, so the kill is waited for. */
  async start({ operations }) {
    const { items } = await operations.listSnapshots(caller, { limit: 1 });
    await operations.restoreSnapshot(caller, items[0]?.id ?? '', { count: 6, name: 'started', start: true });
    process.stdout.write('answered\n');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  },
};

await host.start();
armed = true;
await OPERATIONS[operation]?.(host);
// Removals that follow from an operation are not waited for by it.
await host.stop();
