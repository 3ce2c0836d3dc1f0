/**
 * The hand-over of a sandbox of this host: it is suspended, filed, and stored, and is nobody's then, so that any other
 * host wakes it. What stays says why. Meanwhile it is not woken here: who asks for it is told to come back.
 */
import { isWinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { HOLD_WORDS, holdOn, planVerb } from '../../lifecycle/job-verbs.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { type Engine, MEMORY, now } from '../engine.ts';
import type { AuditContext, HandOver } from '../sandboxes.ts';
import { executePlan } from './run-plan.ts';

/** How often it is tried: it may have moved since it was looked at, its calls may end, the store may be slow. */
const ATTEMPTS = 3;

/**
 * Hands a sandbox over. `whenStored` resolves with its row once its file is whole in the store. Throws what a filing
 * throws, `conflict` while a call runs longer than the drain time among it, and `storage_unavailable` when the store
 * takes nothing; it stays this host's then.
 */
export async function handOver(
  engine: Engine,
  whenStored: (row: InstanceRow) => Promise<InstanceRow>,
  id: InstanceId,
  audit: AuditContext,
  { includeHeld }: { includeHeld: boolean },
): Promise<HandOver> {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const row = await engine.registry.instances.get(id);
      if (row === null || row.state === 'deleted' || row.ownerHost !== engine.host.name) return { stays: null };
      const stays = whyItStays(engine, row, includeHeld);
      if (stays !== null) return { stays };
      engine.leaving.add(id);
      try {
        const { ownerHost } = await whenStored(await fileAway(engine, row, audit));
        return { stays: ownerHost === engine.host.name ? 'It is filed on this disk, and not in the store.' : null };
      } catch (error) {
        if (attempt === ATTEMPTS || !mayPass(error)) throw error;
      }
    }
  } finally {
    engine.leaving.delete(id);
  }
}

/** Whether another attempt may fare better. */
function mayPass(error: unknown): boolean {
  return isWinterdockError(error) && (error.code === 'conflict' || error.code === 'storage_unavailable');
}

/** The row once it rests in a drawer that the store is below. */
async function fileAway(engine: Engine, row: InstanceRow, audit: AuditContext): Promise<InstanceRow> {
  if (row.state === 'frozen' || row.state === 'archived') return row;
  return engine.runtimes.use(row.id, (runtime) =>
    runtime.verbs.runExclusive(() => executePlan(engine, runtime, 'frozen', audit, { from: row.state })),
  );
}

function whyItStays(engine: Engine, row: InstanceRow, includeHeld: boolean): string | null {
  const isResting = row.state === 'frozen' || row.state === 'archived';
  const planned = planVerb('freeze', { ...row, inMemory: row.vfsPath === MEMORY });
  if (!isResting && 'skip' in planned) return planned.skip;
  // What rests like that is in the store only after a wake.
  if (isResting && row.fault !== null) return `It has the fault ${row.fault}: take a way out of that first.`;
  const isAttached = (engine.runtimes.peek(row.id)?.attached ?? 0) > 0;
  const hold = includeHeld || isResting ? null : holdOn('freeze', { ...row, isAttached }, now(engine));
  return hold === null ? null : HOLD_WORDS[hold];
}
