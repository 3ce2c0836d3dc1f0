/**
 * The operations that make or change sandboxes, answered once the replica of the registry has that, where it was
 * promised (`sync`); and the promise refused where there is no replica. What is done in a sandbox is held back by the
 * sandboxes themselves (lib/sandboxes/held-answers.ts).
 */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { OperationName } from '../contract/access.ts';
import type { Instance } from '../contract/schema.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';

type Operation = (...args: unknown[]) => Promise<unknown>;

/** Whose answer is a sandbox, or several, that were made or changed. */
const MAKING = [
  'createInstance',
  'patchInstance',
  'restoreSnapshot',
  'cloneBlueprint',
  'seedFromAgent',
  'importBundle',
  'restoreInstance',
  'undoRestore',
  'instanceFromMoment',
  'salvage',
] as const satisfies readonly OperationName[];

/** Whose input may promise something of replicas. */
const PROMISING = [
  'createInstance',
  'patchInstance',
  'patchTenant',
  'createBlueprint',
  'uploadBlueprint',
] as const satisfies readonly OperationName[];

/** The same operations. */
export function withHeldOperations<O extends Record<(typeof MAKING | typeof PROMISING)[number], unknown>>(
  operations: O,
  { sandboxes, hasReplica }: { sandboxes: Pick<Sandboxes, 'recorded'>; hasReplica: boolean },
): O {
  const held = new Map<string, Operation>();
  for (const name of MAKING) {
    const operation = operations[name] as Operation;
    held.set(name, async (...args) => {
      const answer = await operation(...args);
      for (const { id, tenant, own_replicate: replicate } of madeIn(answer)) {
        await sandboxes.recorded({ id: id as InstanceId, tenant, replicate });
      }
      return answer;
    });
  }
  for (const name of hasReplica ? [] : PROMISING) {
    const operation = held.get(name) ?? (operations[name] as Operation);
    held.set(name, async (...args) => {
      if (args.some(promisesSync)) throw noReplica();
      return operation(...args);
    });
  }
  return { ...operations, ...Object.fromEntries(held) };
}

function madeIn(answer: unknown): readonly Instance[] {
  const made = typeof answer === 'object' && answer !== null && 'instance' in answer ? answer.instance : answer;
  return (Array.isArray(made) ? made : [made]) as Instance[];
}

function promisesSync(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'replicate' in input && input.replicate === 'sync';
}

function noReplica(): WinterdockError {
  return new WinterdockError('conflict', 'This server has no replica, so no answer could wait for one.', {
    hint: 'WB_REPLICA_URL says where a replica is; `replicate: "sync"` can be set with it.',
  });
}
