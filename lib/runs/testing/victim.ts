/** A process that begins a run, prints its id and kills itself with SIGKILL while it is under way. Argument: folder. */
import { writeSync } from 'node:fs';
import { caller, startVictim } from '../../testing/victim.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('folder');

const host = await startVictim(folder, '');
await host.operations.createInstance(caller, { id: 'sb-1', tenant: 'acme' });
const command = 'echo begun > begun\nsleep 60';
const { id } = await host.operations.startRun(caller, 'sb-1', { command, timeout_ms: 90_000 });
for (;;) {
  const run = await host.operations.getRun(caller, 'sb-1', id);
  const listed = await host.operations.files(caller, 'sb-1', 'workspace', { limit: 1 });
  if (run.state === 'running' && listed.items.length > 0) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
writeSync(1, `${id}\n`);
process.kill(process.pid, 'SIGKILL');
