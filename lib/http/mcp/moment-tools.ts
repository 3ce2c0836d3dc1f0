/** Tools of checkpoints: a moment that is kept by a name, a sandbox put back to one, and that undone. */
import { z } from 'zod';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import {
  momentNameSchema,
  nameMomentSchema,
  newMomentNameSchema,
  type Restored,
  verbBodySchema,
} from '../../contract/schema.ts';
import { filePlaceOf } from './places.ts';
import { brief, sandboxId } from './sandbox-tools.ts';
import { type McpTool, mcpTool, type ToolContext } from './tool.ts';

/** The file of what is awake is in use. Whoever runs something there is not ended for it. */
async function putToSleep({ operations, caller }: Pick<ToolContext, 'operations' | 'caller'>, id: InstanceId) {
  const { state } = await operations.getInstance(caller, id);
  if (state === 'active') await operations.suspend(caller, id, {});
}

function restoredFacts(restored: Restored): Record<string, unknown> {
  if (!('instance' in restored)) return brief(restored);
  const { instance, used, undo } = restored;
  const of = new Date(Math.round(used * 1000)).toISOString();
  return { ...brief(instance), restored_to: of, before: undo?.moment ?? null };
}

/** A moment is given by its name or by a time. Throws `validation`. */
function requireOne(moment: string | undefined, time: number | undefined): void {
  if ((moment === undefined) !== (time === undefined)) return;
  throw new WinterdockError('validation', 'Give the name of a moment or a time, and not both.', {
    extra: { errors: [{ path: 'moment', message: 'or `at`, one of both' }] },
  });
}

export const momentTools: readonly McpTool[] = [
  mcpTool({
    name: 'winterdock_name_moment',
    title: 'Keep a moment',
    description:
      'A checkpoint before a risky step: keeps what the sandbox has now, or had at `at`, under a name. The sandbox keeps running.',
    input: z.strictObject({
      id: sandboxId,
      name: newMomentNameSchema.describe('Such as "before the migration".'),
      at: nameMomentSchema.shape.time.describe('Seconds since the epoch; left out: now.'),
    }),
    operation: 'nameMoment',
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ operations, caller }, { id, name: as, at }) {
      const { time_ms: ms, name: kept } = await operations.nameMoment(
        caller,
        id,
        as,
        at === undefined ? {} : { time: at },
      );
      return { facts: { name: kept, at: ms / 1000, time: new Date(ms).toISOString() } };
    },
  }),
  mcpTool({
    name: 'winterdock_restore_moment',
    title: 'Go back to a moment',
    description:
      'Puts all of a sandbox back to a moment. It is suspended first; commands that still run make it refuse. winterdock_undo_restore brings back what it had.',
    input: z.strictObject({
      id: sandboxId,
      moment: momentNameSchema.optional().describe('The moment, by its name.'),
      at: nameMomentSchema.shape.time.describe('Or a time in seconds since the epoch.'),
      reason: verbBodySchema.shape.reason.describe('Why, for the ledger.'),
    }),
    operation: 'restoreInstance',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    async run({ operations, caller }, { id, moment, at: time, reason }) {
      requireOne(moment, time);
      await putToSleep({ operations, caller }, id);
      return { facts: restoredFacts(await operations.restoreInstance(caller, id, { moment, time, reason })) };
    },
  }),
  mcpTool({
    name: 'winterdock_take_back',
    title: 'Take back a file or folder',
    description: 'Puts one file or folder back as it was at a moment, with all below it and nothing else.',
    input: z.strictObject({
      id: sandboxId,
      path: z.string().min(1).max(1024).describe('As in the shell.'),
      moment: momentNameSchema.optional().describe('The moment, by its name.'),
      at: nameMomentSchema.shape.time.describe('Or a time in seconds since the epoch.'),
      reason: verbBodySchema.shape.reason.describe('Why, for the ledger.'),
    }),
    operation: 'takeBack',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run({ operations, caller }, { id, path, moment, at: time, reason }) {
      const place = filePlaceOf(path);
      requireOne(moment, time);
      const wanted = { path: place.path, moment, time, reason };
      const { used, files, bytes } = await operations.takeBack(caller, id, place.volume, wanted);
      return { facts: { path, as_of: new Date(Math.round(used * 1000)).toISOString(), files, bytes } };
    },
  }),
  mcpTool({
    name: 'winterdock_undo_restore',
    title: 'Undo going back',
    description: 'Brings back what the last winterdock_restore_moment replaced; once more, what the one before did.',
    input: z.strictObject({
      id: sandboxId,
      reason: verbBodySchema.shape.reason.describe('Why, for the ledger.'),
    }),
    operation: 'undoRestore',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    async run({ operations, caller }, { id, ...input }) {
      await putToSleep({ operations, caller }, id);
      return { facts: restoredFacts(await operations.undoRestore(caller, id, input)) };
    },
  }),
];
