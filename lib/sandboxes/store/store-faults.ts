/**
 * Faults of sandboxes whose very file is in the store: a store that gave wrong bytes, or said that it had nothing, may
 * have lied. Whoever needs the file has it read once more, and so does a look in the background; once the right bytes
 * come, by their hash, the fault ends with a line of the ledger and without a person.
 */
import { objectNameOf } from '../../base/cloud-address.ts';
import { isWinterdockError, messageOf } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { RetryDelays } from '../admission/retry-delays.ts';
import { type Engine, isOwn, now, systemAudit } from '../engine.ts';
import { fileOf, moveToOrphans } from '../files/file-locations.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import { bringNear, storedOfFiling } from './bring.ts';

/** Faults that the right bytes of the file end. */
const ENDED = ['corrupt', 'missing'] as const;
/** Between two looks at all of them, in milliseconds. */
const EVERY_MS = 600_000;
/** Rows read at a time. */
const PAGE = 100;
/** A look that took longer than this many milliseconds comes again only after this many times as long. */
const QUICK_MS = 1000;
const REST_TIMES = 10;

export class StoreFaults {
  readonly #engine: Engine;
  /** Of looks in the background. */
  readonly #delays = new RetryDelays();
  /** When somebody who asks may have the store read again, of `performance.now()`. */
  readonly #restUntil = new Map<string, number>();
  #round: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  start(): void {
    if (this.#engine.stop.aborted) return;
    this.#timer = setTimeout(() => {
      this.#round = this.look()
        .catch((error: unknown) => this.#engine.log.warn({ error: messageOf(error) }, 'faults were not looked at'))
        .finally(() => {
          this.#round = null;
          this.start();
        });
    }, EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
  }

  /**
   * The row without its fault, when the store has the file as it was filed; else the same row. The caller holds the
   * verbs lock. Throws `storage_unavailable` when nothing can be known: the store is away.
   */
  async settle(runtime: SandboxRuntime, row: InstanceRow): Promise<InstanceRow> {
    if (!mayEnd(row) || (this.#restUntil.get(row.id) ?? 0) > performance.now()) return row;
    const started = performance.now();
    try {
      if (!(await this.#isInStore(row))) return row;
      await runtime.exclusive(() => this.#bring(row));
    } catch (error) {
      if (!isWinterdockError(error) || (error.code !== 'corrupt' && error.code !== 'missing_file')) throw error;
      const tookMs = performance.now() - started;
      if (tookMs > QUICK_MS) this.#restUntil.set(row.id, performance.now() + REST_TIMES * tookMs);
      return row;
    }
    return this.#end(row);
  }

  /** One round: has the store read for each of the sandboxes that nobody asks for. Stops while the store is away. */
  async look(): Promise<void> {
    const { registry, runtimes, stop } = this.#engine;
    for (const fault of ENDED) {
      for (let cursor: string | undefined; ; ) {
        const page = await registry.instances.list({
          ...{ fault, sort: 'created', reverse: true, limit: PAGE },
          ...(cursor !== undefined && { cursor }),
        });
        for (const { id } of page.rows.filter((row) => mayEnd(row) && isOwn(this.#engine, row))) {
          if (stop.aborted) return;
          if (this.#delays.isWaiting(id, now(this.#engine))) continue;
          await runtimes.use(id, (runtime) => runtime.verbs.runExclusive(() => this.#lookAt(runtime, id)));
        }
        if (page.next === null) break;
        cursor = page.next;
      }
    }
  }

  async #lookAt(runtime: SandboxRuntime, id: InstanceId): Promise<void> {
    const row = await this.#engine.registry.instances.get(id);
    if (row === null) return;
    const { fault } = await this.settle(runtime, row);
    if (fault !== null) this.#delays.delay(id, now(this.#engine));
  }

  /** Whether the store knows the object at all: of one that it has lost nothing is asked further. */
  async #isInStore({ stored }: InstanceRow): Promise<boolean> {
    return (await this.#engine.store?.objects.head(objectNameOf(stored?.address ?? ''))) != null;
  }

  /** What lies at the place of the file counts by its hash alone. */
  async #bring(row: InstanceRow): Promise<void> {
    const file = fileOf(this.#engine, row);
    if ((await file.stat()) !== null) {
      const { sha256 } = await file.read((path) => this.#engine.readers.check(path, { packed: file.packed }));
      if (sha256 === row.file?.sha256) return;
      await moveToOrphans(this.#engine, row, file);
    }
    const near = await bringNear(this.#engine, row);
    if (near.row.file !== null) {
      await this.#engine.registry.instances.recordBrought(row.id, row.generation, near.row.file);
    }
  }

  async #end(row: InstanceRow): Promise<InstanceRow> {
    const { registry, scheduleCheck } = this.#engine;
    const line = ledgerEntry(this.#engine, row, systemAudit('reconcile'), 'fault.cleared', {
      source: 'cloud',
      reason: `${row.fault}: the store gives its file as it was filed`,
    });
    await registry.instances.setFault(row.id, null, line, row);
    this.#delays.clear(row.id);
    this.#restUntil.delete(row.id);
    // Its structure is another matter than its bytes.
    if (row.file?.quickCheck === null) scheduleCheck(row.id, row.generation);
    return (await registry.instances.get(row.id)) ?? row;
  }
}

/** Whether the right bytes would end the fault of a row, and the store has had them: they were filed with that hash. */
function mayEnd(row: InstanceRow): boolean {
  if (!ENDED.some((fault) => fault === row.fault) || row.pending !== null || storedOfFiling(row) === null) return false;
  const structure = row.file?.quickCheck ?? null;
  return structure === null || structure === 'ok';
}
