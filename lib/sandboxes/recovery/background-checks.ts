/**
 * Background checks of filed files: some seconds after a filing, one at a time, they record the hash, the result of
 * `quick_check` and the sizes of the volumes. What somebody waits for is checked at once, beside them. A stop hashes
 * what still waits while there is time.
 */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { readRegular } from '../../base/strangers-file.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { sameStamp } from '../../storage/stamp.ts';
import { VOLUMES, type Volume } from '../../vfs/volumes.ts';
import { type Engine, systemAudit } from '../engine.ts';
import { fileOf, isPacked } from '../files/file-locations.ts';
import { isWrittenSince, matchesRecord, stampAt } from '../files/file-verification.ts';
import { dropSpoiltCopy } from '../store/bring.ts';

/** Milliseconds between a filing and its check: a sandbox that wakes again at once is not worth hashing. */
const DELAY_MS = 5000;
/** How fast a stop expects to hash: half the rate of the slowest machine that was measured. */
const HASHED_BYTES_PER_MS = 100_000;
const CHUNK_BYTES = 1024 * 1024;

export class BackgroundChecks {
  readonly #waiting = new Map<InstanceId, { generation: number; at: number }>();
  readonly #hurried = new Map<InstanceId, Promise<void>>();
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #paused = false;
  readonly #delayMs: number;

  constructor(delayMs = DELAY_MS) {
    this.#delayMs = delayMs;
  }

  /** Schedules the check of the file that a row has at `generation`. A later request replaces an earlier one. */
  schedule(engine: Engine, id: InstanceId, generation: number): void {
    this.#waiting.delete(id);
    this.#waiting.set(id, { generation, at: performance.now() + this.#delayMs });
    this.#schedule(engine);
  }

  /** Checks the file of a row now, once however often it is asked for; the caller does not wait for it. */
  hurry(engine: Engine, id: InstanceId, generation: number): void {
    if (this.#paused || this.#hurried.has(id)) return;
    if (this.#waiting.get(id)?.generation === generation) this.#waiting.delete(id);
    const check = checkFiledFile(engine, id, generation, { urgent: true })
      .catch((error) => engine.log.error({ id, error: messageOf(error) }, 'background check'))
      .finally(() => this.#hurried.delete(id));
    this.#hurried.set(id, check);
  }

  #schedule(engine: Engine): void {
    if (this.#timer !== null || this.#running !== null || this.#paused) return;
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

  /** Runs the checks that are due; with `all` the waiting ones too. */
  async runDue(engine: Engine, all = false): Promise<void> {
    for (const [id, { generation, at }] of this.#waiting) {
      if (this.#paused || (!all && at > performance.now())) return;
      this.#waiting.delete(id);
      await checkFiledFile(engine, id, generation);
    }
  }

  /** Starts no more checks, and waits for those that run. */
  async pause(): Promise<void> {
    this.#paused = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all([this.#running, ...this.#hurried.values()]);
  }

  /**
   * Hashes the files that still wait for a check, until `deadline` (of `performance.now()`), so that a copy of the data
   * folder can be verified by hash.
   */
  async finish(engine: Engine, deadline: number): Promise<void> {
    for (const [id, { generation }] of this.#waiting) {
      const left = Math.floor(deadline - performance.now());
      if (left <= 0) return;
      try {
        await hashFile(engine, id, generation, left);
      } catch (error) {
        engine.log.debug({ id, error: messageOf(error) }, 'not hashed at the stop');
      }
    }
  }
}

/**
 * Hashes the file at rest of a row that still has that generation and records the hash, when that takes no longer than
 * `milliseconds`.
 */
async function hashFile(engine: Engine, id: InstanceId, generation: number, milliseconds: number): Promise<void> {
  const row = await engine.registry.instances.get(id);
  if (row?.generation !== generation || row.vfsPath === null || row.file === null || row.file.sha256 !== null) return;
  if (!isCheckable(row) || isPacked(engine, row) || row.file.size > milliseconds * HASHED_BYTES_PER_MS) return;
  const file = fileOf(engine, row);
  const hash = createHash('sha256');
  const signal = AbortSignal.timeout(milliseconds);
  await file.read((path) => readRegular(path, CHUNK_BYTES).then((bytes) => pipeline(bytes, hash, { signal })));
  const stamp = await stampAt(file);
  if (stamp === null || !sameStamp(stamp, row.file)) return;
  await engine.registry.instances.recordCheck(id, generation, { sha256: hash.digest('hex'), quickCheck: null });
}

/** Whether a row has a file at rest that does not wait for a recovery. */
function isCheckable(row: InstanceRow): boolean {
  const filed = row.state === 'suspended' || row.state === 'frozen' || row.state === 'archived';
  return filed && row.file !== null && row.file.unsettled !== true;
}

/**
 * Hashes and checks the file at rest of a row that still has that generation, and records the result. Damage raises a
 * fault. Nothing is recorded of a file that is not the one that was filed: its next use finds that out. Neither is a
 * hash of one that was written to before it had one: it would vouch for any bytes.
 */
export async function checkFiledFile(
  engine: Engine,
  id: InstanceId,
  generation: number,
  { urgent = false } = {},
): Promise<void> {
  const before = await engine.registry.instances.get(id);
  if (before === null || before.generation !== generation || before.vfsPath === null || before.file === null) return;
  if (!isCheckable(before)) return;
  const packed = isPacked(engine, before);
  const file = fileOf(engine, before);
  const first = await stampAt(file);
  const { sha256: filed } = before.file;
  if (first === null || (filed === null && isWrittenSince(before.file, first))) return;
  let found: { sha256: string; quickCheck: string; identity: string | null };
  try {
    found = await file.read((path) => engine.readers.check(path, { packed, urgent }));
  } catch (error) {
    // The file may have moved, or its sandbox woken, during the check. A wake verifies the file by itself.
    engine.log.debug({ id, error: messageOf(error) }, 'background check not done');
    return;
  }
  const stamp = await stampAt(file);
  if (stamp === null || !sameStamp(first, stamp)) return;
  if (!sameStamp(stamp, before.file) && !matchesRecord(before.file, stamp, found)) return;
  if (filed !== null && filed !== found.sha256 && (await dropSpoiltCopy(engine, before))) return;
  const rotten = filed !== null && found.sha256 !== '' && filed !== found.sha256;
  const sound = found.quickCheck === 'ok' && !rotten;
  // The hash of the filed bytes stays: it recognises the right file when that comes back.
  if (!packed && !rotten)
    await engine.registry.instances.recordCheck(id, generation, found, await volumeSizes(engine, id, generation));
  // A compressed file is known to expand; the structure of the expanded file was not checked.
  else if (sound)
    await engine.registry.instances.recordCheck(id, generation, { sha256: found.sha256, quickCheck: null });
  if (sound) return;
  const row = await engine.registry.instances.get(id);
  if (row === null || row.generation !== generation || row.pending !== null || row.fault !== null) return;
  const reason = rotten
    ? 'its bytes are no longer those that were filed'
    : packed
      ? `its archived file is damaged: ${found.quickCheck}`
      : damaged(found.quickCheck);
  await engine.registry.instances.setFault(
    id,
    { fault: 'corrupt', reason },
    ledgerEntry(engine, row, systemAudit('reconcile'), 'fault.raised', { reason: 'corrupt', error: reason }),
    row,
  );
}

function damaged(complaint: string): string {
  return `its structure is damaged: ${complaint.slice(0, 300)}`;
}

/** Bytes of each volume of a file at rest; undefined when it has moved or woken meanwhile, or cannot be read. */
async function volumeSizes(
  engine: Engine,
  id: InstanceId,
  generation: number,
): Promise<Record<Volume, number> | undefined> {
  try {
    return await engine.runtimes.use(id, (runtime) =>
      runtime.lease(async () => {
        const row = await engine.registry.instances.get(id);
        if (row === null || row.generation !== generation || row.vfsPath === null || runtime.process !== null) return;
        const { volumes } = await fileOf(engine, row).read((path) =>
          engine.readers.read({ path, mode: 'rest' }, { op: 'volumes' }),
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
