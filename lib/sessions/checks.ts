/** The background checks of filed files: their hash, structure and the sizes of their volumes are recorded some seconds after filing, one at a time. */
import { messageOf } from '../errors.ts';
import { VOLUMES, type Volume } from '../vfs/volumes.ts';
import { absolute, type Engine, line, systemCause } from './engine.ts';
import { isPacked } from './places.ts';

/** Seconds between a filing and its check: a sandbox that wakes again at once is not worth hashing. */
const DELAY_SECONDS = 5;

export class Checks {
  readonly #waiting = new Map<string, { generation: number; at: number }>();
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  /** Asks for the check of the file that a row has at `generation`. A later request replaces an earlier one. */
  ask(engine: Engine, id: string, generation: number): void {
    if (this.#stopped) return;
    this.#waiting.delete(id);
    this.#waiting.set(id, { generation, at: performance.now() + DELAY_SECONDS * 1000 });
    this.#schedule(engine);
  }

  #schedule(engine: Engine): void {
    if (this.#timer !== null || this.#running !== null || this.#stopped) return;
    const first = this.#waiting.values().next().value;
    if (first === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#running = this.runDue(engine)
          .catch((error) => engine.log.error({ error: messageOf(error) }, 'background check'))
          .finally(() => {
            this.#running = null;
            this.#schedule(engine);
          });
      },
      Math.max(0, first.at - performance.now()),
    ).unref();
  }

  /** Runs the checks that are due; with `all` also those that are not. */
  async runDue(engine: Engine, all = false): Promise<void> {
    for (const [id, { generation, at }] of this.#waiting) {
      if (this.#stopped || (!all && at > performance.now())) return;
      this.#waiting.delete(id);
      await checkFile(engine, id, generation);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }
}

/** Hashes and checks the file at rest of a row that still has that generation, and records what was found; damage raises a fault. */
export async function checkFile(engine: Engine, id: string, generation: number): Promise<void> {
  const before = await engine.registry.get(id);
  if (before === null || before.generation !== generation || before.vfsPath === null || before.file === null) return;
  if (before.state !== 'suspended' && before.state !== 'frozen' && before.state !== 'archived') return;
  const packed = isPacked(engine, before);
  let found: { sha256: string; quickCheck: string };
  try {
    found = await engine.readers.check(absolute(engine, before.vfsPath), { packed });
  } catch (error) {
    // The file may have moved or woken under the check; a wake of it checks again by itself.
    engine.log.debug({ id, error: messageOf(error) }, 'background check not done');
    return;
  }
  const sound = found.quickCheck === 'ok';
  if (!packed) await engine.registry.recordCheck(id, generation, found, await weigh(engine, id, generation));
  // What is compressed is known to expand; the structure of what it expands to was not looked at.
  else if (sound) await engine.registry.recordCheck(id, generation, { sha256: found.sha256, quickCheck: null });
  if (sound) return;
  const row = await engine.registry.get(id);
  if (row === null || row.generation !== generation || row.pending !== null || row.fault !== null) return;
  const reason = packed ? `its archived file is damaged: ${found.quickCheck}` : damaged(found.quickCheck);
  await engine.registry.setFault(
    id,
    { fault: 'corrupt', reason },
    line(engine, row, systemCause('reconcile'), 'fault.raised', { reason: 'corrupt', error: reason }),
  );
}

function damaged(complaint: string): string {
  return `its structure is damaged: ${complaint.slice(0, 300)}`;
}

/** Bytes of each volume of a file at rest; undefined when it has woken or moved meanwhile, or cannot be read. */
async function weigh(engine: Engine, id: string, generation: number): Promise<Record<Volume, number> | undefined> {
  try {
    return await engine.entries.with(id, (entry) =>
      entry.lease(async () => {
        const row = await engine.registry.get(id);
        if (row === null || row.generation !== generation || row.vfsPath === null || entry.process !== null) return;
        const { volumes } = await engine.readers.read(
          { path: absolute(engine, row.vfsPath), mode: 'rest' },
          { op: 'volumes' },
        );
        const bytes = new Map(volumes.map((one) => [one.volume, one.bytes]));
        return Object.fromEntries(VOLUMES.map((volume) => [volume, bytes.get(volume) ?? 0])) as Record<Volume, number>;
      }),
    );
  } catch (error) {
    engine.log.debug({ id, error: messageOf(error) }, 'volumes not weighed');
    return undefined;
  }
}
