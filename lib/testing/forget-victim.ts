/** A process that starts the whole engine, forgets a tenant and kills itself with SIGKILL at a step of it. Arguments: folder, tenant, step. */
import type { Caller } from '../api/operations.ts';
import { FakeClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { createHost } from '../host.ts';
import { createLogger } from '../log.ts';

const [folder, tenant, step] = process.argv.slice(2);
if (folder === undefined || tenant === undefined || step === undefined) throw new Error('folder, tenant, step');

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

await host.start();
armed = true;
await host.operations.forgetTenant(caller, tenant, { confirm: tenant });
// Whoever waits longer than this was not killed.
await new Promise((resolve) => setTimeout(resolve, 120_000));
