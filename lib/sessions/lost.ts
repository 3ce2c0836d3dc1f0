/** The look for live files that were removed under their processes: a few times a minute, over what is awake. */
import { isWinterdockError, messageOf } from '../base/errors.ts';
import { type Engine, MEMORY, rowOf, systemCause } from './engine.ts';
import { isLost } from './rescue.ts';
import type { Entry } from './runtimes.ts';
import { suspend } from './suspend.ts';
import { wake } from './wake.ts';

/** Milliseconds between two looks: 200 awake sandboxes cost some 40 ms each time. */
const LOOK_EVERY_MS = 20_000;

export class LostFiles {
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * Puts back every file that was lost and goes on with it, when it is time for a look. Never throws: what failed is
   * tried again.
   */
  async look(engine: Engine): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = performance.now();
    for (const entry of engine.entries.values()) {
      if (engine.stop.aborted) return;
      if (entry.process === null || entry.pending !== null || !isLost(engine, entry.id, entry.process)) continue;
      await engine.entries
        .with(entry.id, (held) => held.verbs.runExclusive(() => goOn(engine, held)))
        .catch((error) => {
          engine.log.error({ id: entry.id, error: messageOf(error) }, 'a lost file was not put back');
        });
    }
  }
}

/** Suspends the sandbox, which saves its file, and wakes it again. Its calls get the drain time. */
async function goOn(engine: Engine, entry: Entry): Promise<void> {
  if (entry.process === null || !isLost(engine, entry.id, entry.process)) return;
  const row = await rowOf(engine, entry.id);
  if (row.vfsPath === MEMORY) return;
  const cause = { ...systemCause('reconcile'), reason: 'its file was removed or replaced under its process' };
  try {
    await suspend(engine, entry, cause, false, { unasked: true });
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'conflict') throw error;
    await suspend(engine, entry, cause, true, { unasked: true });
  }
  await wake(engine, entry, cause, { revives: false });
}
