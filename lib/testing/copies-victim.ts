/**
 * A process that starts the whole engine, does one operation on copies and kills itself with SIGKILL at a step of it.
 * Arguments: folder, operation, step.
 */

import { parseVfsPath } from '../vfs/paths.ts';
import type { PlainHost } from './plain-ids.ts';
import { caller, startVictim } from './victim.ts';

const [folder, operation, step] = process.argv.slice(2);
if (folder === undefined || operation === undefined || step === undefined) throw new Error('folder, operation, step');

const OPERATIONS: Record<string, (host: PlainHost) => Promise<unknown>> = {
  snapshot: ({ operations }) => operations.takeSnapshot(caller, 'origin', { tag: 'second' }),
  blueprint: ({ operations }) => operations.createBlueprint(caller, { name: 'base', from_instance: 'origin' }),
  async delete({ operations }) {
    const { items } = await operations.listSnapshots(caller, { limit: 1 });
    await operations.deleteSnapshot(caller, items[0]?.id ?? '');
  },
  deploy: ({ operations }) =>
    operations.deployAgent(caller, 'acme', 'Talker', {
      files: [[parseVfsPath('/a'), Buffer.from('new')]],
      model: 'new',
    }),
  resume: ({ operations }) => operations.resume(caller, 'clone', {}),
  /** Answers first; what was asked for goes on in the background, so the kill is waited for. */
  async start({ operations }) {
    const { items } = await operations.listSnapshots(caller, { limit: 1 });
    await operations.restoreSnapshot(caller, items[0]?.id ?? '', { count: 6, name: 'started', start: true });
    process.stdout.write('answered\n');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  },
};

const host = await startVictim(folder, step);
await OPERATIONS[operation]?.(host);
// Removals that follow from an operation are not waited for by it.
await host.stop();
