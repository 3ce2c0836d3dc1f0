/**
 * The check for live files that were removed or replaced under their processes: a few times a minute, for every active
 * sandbox.
 */
import { isWinterdockError, messageOf } from '../../base/errors.ts';
import { type Engine, MEMORY, requireOwnInstance, systemAudit } from '../engine.ts';
import { suspend } from '../moves/suspend.ts';
import { wake } from '../moves/wake.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import { isLost } from './rescue.ts';

/** Milliseconds between two checks: one of 200 active sandboxes takes some 40 ms. */
const LOOK_EVERY_MS = 20_000;

export class LostFileCheck {
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * When a check is due: rescues every lost file and wakes its sandbox again. Never throws: a failure is tried again.
   */
  async check(engine: Engine): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = performance.now();
    for (const runtime of engine.runtimes.values()) {
      if (engine.stop.aborted) return;
      if (runtime.process === null || runtime.pending !== null || !isLost(engine, runtime.id, runtime.process))
        continue;
      await engine.runtimes
        .use(runtime.id, (used) => used.verbs.runExclusive(() => rescueAndWake(engine, used)))
        .catch((error) => {
          engine.log.error({ id: runtime.id, error: messageOf(error) }, 'a lost file was not put back');
        });
    }
  }
}

/** Suspends the sandbox, which saves its file, and wakes it again. Running calls get the drain time. */
async function rescueAndWake(engine: Engine, runtime: SandboxRuntime): Promise<void> {
  if (runtime.process === null || !isLost(engine, runtime.id, runtime.process)) return;
  const row = await requireOwnInstance(engine, runtime.id);
  if (row.vfsPath === MEMORY) return;
  const audit = { ...systemAudit('reconcile'), reason: 'its file was removed or replaced under its process' };
  try {
    await suspend(engine, runtime, audit, false, { evenIfEphemeral: true });
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'conflict') throw error;
    await suspend(engine, runtime, audit, true, { evenIfEphemeral: true });
  }
  await wake(engine, runtime, audit, { revives: false });
}
