/**
 * The whole engine in a process that kills itself with SIGKILL at a failpoint. Used by the entry files of processes
 * that tests kill: their first argument is the data folder, their last one the failpoint.
 */
import { flushCompileCache } from 'node:module';
import type { Caller } from '../auth/caller.ts';
import { FakeClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import { createHost } from '../host/compose.ts';
import { registryOfTests } from '../registry/testing/registry-of-tests.ts';
import { type PlainHost, plainHost } from './plain-ids.ts';
import { sharedReaders } from './shared-readers.ts';

/** The caller of every operation in these processes. */
export const caller: Caller = {
  actor: 'key:test',
  via: 'api',
  requestId: 'r',
  role: 'admin',
  tenants: null,
  address: null,
  session: null,
};

/** Starts the engine. Failpoints during the start itself are ignored. */
export async function startVictim(
  folder: string,
  step: string,
  clock: FakeClock = new FakeClock(),
  settings: Record<string, string | undefined> = {},
): Promise<PlainHost> {
  let armed = false;
  const config = readConfig({
    WB_DATA: folder,
    WB_CACHE: process.env.WB_CACHE,
    WB_POOL: '0',
    WB_TICK_MS: '3600000',
    WB_LOG: 'silent',
    ...(await registryOfTests(folder, settings.WB_REGISTRY)),
    ...settings,
  });
  const host = await createHost({
    config,
    // They start with the first read, which few of these processes come to.
    readers: sharedReaders(config),
    clock,
    log: createLogger('silent'),
    failpoint: (name) => {
      if (armed && name === step) process.kill(process.pid, 'SIGKILL');
    },
  });
  await host.start();
  // A killed process writes no compile cache: the next one would compile everything again.
  flushCompileCache();
  armed = true;
  return plainHost(host);
}
