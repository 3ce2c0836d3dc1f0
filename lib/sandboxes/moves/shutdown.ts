/** The suspension of every active sandbox when the server stops. */
import { messageOf } from '../../base/errors.ts';
import { type Engine, MEMORY, systemAudit } from '../engine.ts';
import { deleteMemorySandbox } from '../recovery/process-death.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { suspend } from './suspend.ts';

/** Sandboxes suspended at the same time. */
const CONCURRENCY = 8;

/** Suspends every sandbox with a process; running calls get until `drainUntil` (of `performance.now()`). */
export async function suspendAll(engine: Engine, drainUntil: number): Promise<void> {
  const audit = { ...systemAudit('stop'), reason: 'the server stops' };
  // No wake begins any more. A wake under way has its process, or was rolled back, once its lock is free.
  const busy = engine.runtimes.values().filter((runtime) => runtime.process !== null || runtime.verbs.isLocked());
  while (busy.length > 0) {
    const few = busy.splice(0, CONCURRENCY);
    await Promise.all(few.map((runtime) => stopOne(engine, runtime, audit, drainUntil)));
  }
}

/**
 * Suspends one sandbox for the stop, once its verb under way has ended. Its calls get what is left of the drain time.
 */
async function stopOne(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  drainUntil: number,
): Promise<void> {
  await runtime.verbs.runExclusive(async () => {
    await runtime.waitForCalls(Math.max(0, drainUntil - performance.now()));
    const { process } = runtime;
    if (process === null) return;
    const row = await engine.registry.instances.get(runtime.id);
    try {
      if (row !== null && row.vfsPath === MEMORY) {
        runtime.process = null;
        await process.kill('closed');
        await deleteMemorySandbox(engine, row, audit);
      } else {
        await suspend(engine, runtime, audit, true, { evenIfEphemeral: true });
      }
    } catch (error) {
      engine.log.error({ id: runtime.id, error: messageOf(error) }, 'suspending at stop');
    }
  });
}
