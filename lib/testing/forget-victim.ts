/**
 * A process that starts the whole engine, forgets a tenant and kills itself with SIGKILL at a step of it. Arguments:
 * folder, tenant, step.
 */
import { caller, startVictim } from './victim.ts';

const [folder, tenant, step] = process.argv.slice(2);
if (folder === undefined || tenant === undefined || step === undefined) throw new Error('folder, tenant, step');

const host = await startVictim(folder, step);
await host.operations.forgetTenant(caller, tenant, { confirm: tenant });
// A process that is still alive after this time was not killed.
await new Promise((resolve) => setTimeout(resolve, 120_000));
