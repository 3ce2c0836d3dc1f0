/**
 * Beginning an operation: what has to be true before its first effect, and the intent by which whoever finds it half
 * done knows it.
 */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceRow, Intent } from '../registry/types.ts';
import { type Engine, MEMORY } from './engine.ts';
import { clearStrayLiveFile } from './file-locations.ts';
import type { AuditContext } from './sessions.ts';

/**
 * Writes the intent of an operation. Throws `conflict` when another operation holds the row. That of one which makes
 * files is on disk before its first effect, for after a power cut a file without its intent is nobody's. A file that
 * was only moved is known again by itself, so that the wakes and filings that people wait for pay no fsync for it. The
 * ground is cleared before it: whatever is found in the live drawer of a sandbox with an intent, and is not the file
 * that its row names, was made by that operation.
 */
export async function beginOperation(
  engine: Engine,
  row: InstanceRow,
  audit: AuditContext,
  intent: Pick<Intent, 'verb' | 'to' | 'fromPath' | 'toPath'>,
): Promise<void> {
  await clearStrayLiveFile(engine, row);
  const whole: Intent = {
    ...intent,
    from: row.state,
    generation: row.generation,
    startedMs: engine.clock.now(),
    trigger: audit.trigger,
    actor: audit.actor,
    via: audit.via,
    reason: audit.reason,
    requestId: audit.requestId,
  };
  if (!(await engine.registry.instances.begin(row.id, whole, { durable: makesFiles(intent) }))) {
    throw new WinterdockError('conflict', `Another operation holds the sandbox "${row.id}".`, {
      hint: 'Try again in a moment.',
    });
  }
}

/** Drawers between which a file is moved as it is. */
const UNCOMPRESSED = /^(?:live|cold)\//;

function makesFiles({ fromPath, toPath }: Pick<Intent, 'fromPath' | 'toPath'>): boolean {
  if (toPath === null || toPath === MEMORY) return false;
  return !(UNCOMPRESSED.test(fromPath ?? '') && UNCOMPRESSED.test(toPath));
}
