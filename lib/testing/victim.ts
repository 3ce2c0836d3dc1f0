/**
 * The whole engine in a process of its own, which kills itself with SIGKILL at a step of what it is told to do. For the
 * processes that tests kill; their first argument is the data folder, their last one the step.
 */

import type { Caller } from '../auth/caller.ts';
import { FakeClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import { createHost, type Host } from '../host/host.ts';

/** Who asks for what is done. */
export const caller: Caller = {
  actor: 'key:test',
  via: 'api',
  requestId: 'r',
  role: 'admin',
  tenants: null,
  address: null,
  session: null,
};

/** Starts it. It is killed at the step only once it has started: what a start does is another test's. */
export async function startVictim(folder: string, step: string): Promise<Host> {
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
    failpoint: (name) => {
      if (armed && name === step) process.kill(process.pid, 'SIGKILL');
    },
  });
  await host.start();
  armed = true;
  return host;
}
