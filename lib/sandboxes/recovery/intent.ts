/**
 * The beginning of an operation: its preconditions, and the intent that lets reconcile recognise it when it is
 * interrupted.
 */
import { WinterdockError } from '../../base/errors.ts';
import { WAKE_VERBS } from '../../lifecycle/state-map.ts';
import { acquiredBy } from '../../registry/series-order.ts';
import type { InstanceRow, Intent } from '../../registry/types.ts';
import { type Engine, MEMORY } from '../engine.ts';
import { clearStrayLiveFile, localAddressOf } from '../files/file-locations.ts';
import type { AuditContext } from '../sandboxes.ts';

/**
 * Writes the intent of an operation, after clearing the live drawer: a file found there later, which the row does not
 * name, was made by this operation. Throws `conflict` when another operation holds the row. The intent of an operation
 * that makes files is durable before its first effect, because after a power cut nothing else tells whose file it is.
 * An operation that only moves a file does without that fsync, since a moved file is recognised by itself; wakes and
 * filings that people wait for are of that kind.
 */
export async function beginOperation(
  engine: Engine,
  row: InstanceRow,
  audit: AuditContext,
  intent: Pick<Intent, 'verb' | 'to' | 'fromPath' | 'toPath'>,
): Promise<void> {
  await engine.replica?.whenRested(row.id);
  await clearStrayLiveFile(engine, row);
  // What moves of a file in the store is its cached copy.
  const fromPath = localAddressOf(engine, intent.fromPath);
  const whole: Intent = {
    ...intent,
    fromPath,
    toPath: localAddressOf(engine, intent.toPath),
    from: row.state,
    generation: row.generation,
    startedMs: engine.clock.now(),
    trigger: audit.trigger,
    actor: audit.actor,
    via: audit.via,
    reason: audit.reason,
    requestId: audit.requestId,
  };
  const wakes = WAKE_VERBS.some((verb) => verb === intent.verb);
  // Where another host may have to say what is missing.
  const isUnshipped = wakes && !engine.host.isAlone && engine.replica !== null && !engine.replica.ships(row);
  const order = { was: row, is: acquiredBy(row, engine.host.term, { isUnshipped }) };
  if (!(await engine.registry.instances.begin(row.id, whole, { durable: makesFiles(whole), order }))) {
    throw new WinterdockError('conflict', `Another operation holds the sandbox "${row.id}".`, {
      hint: 'Try again in a moment.',
    });
  }
  engine.store?.abort(row.id);
}

/** Drawers between which a file moves unchanged. */
const UNCOMPRESSED = /^(?:live|cold)\//;

function makesFiles({ fromPath, toPath }: Pick<Intent, 'fromPath' | 'toPath'>): boolean {
  if (toPath === null || toPath === MEMORY) return false;
  return !(UNCOMPRESSED.test(fromPath ?? '') && UNCOMPRESSED.test(toPath));
}
