/**
 * Reads of a sandbox in any state, without waking it. Each read holds a lease, so that nobody moves or opens the file
 * meanwhile. A file at rest is read where it is; the file of a process is read as last committed, a small one by the
 * process itself while it runs no call.
 */
import { join } from 'node:path';
import { makeFolder, unlinkFile } from '../../base/effects.ts';
import { isWinterdockError, publicMessage, WinterdockError } from '../../base/errors.ts';
import type { FairSlots } from '../../base/fair-slots.ts';
import { isThere } from '../../base/is-there.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { emptyFolder } from '../../storage/files.ts';
import type { ReadAnswer, ReadRequest, ReadTarget, VfsCopy } from '../../vfs/types.ts';
import { absolutePath, type Engine, MEMORY, requireOwnInstance, systemAudit } from '../engine.ts';
import { settleIfInterrupted } from '../recovery/reconcile.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { CopyOutOptions } from '../sandboxes.ts';
import { bringForReading, bringListing, storedOfFiling } from '../store/bring.ts';
import { fileOf, locationOf } from './file-locations.ts';
import { verifyArchived, verifyForReading } from './file-verification.ts';
import { requireHash } from './filed-hash.ts';
import { isListed, listingPath, readListing, writeListing } from './listing.ts';

/** How long an expanded archived file is kept for further reads. */
const EXPANDED_MS = 60_000;

/** Archived files expanded for reading. They are in `expanded/`, which every start empties. */
export class Expansions {
  readonly #folder: string;
  readonly #expanded = new Map<string, { path: Promise<string>; users: number; timer: NodeJS.Timeout | null }>();

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'expanded');
  }

  /** Empties the folder of an earlier run. The folder itself stays: readers see this one. */
  async start(): Promise<void> {
    await makeFolder(this.#folder);
    await emptyFolder(this.#folder);
  }

  /** Runs `read` on the expanded copy of an archived row's file. */
  async use<T>(engine: Engine, row: InstanceRow, read: (path: string) => Promise<T>): Promise<T> {
    const key = `${row.id}.${row.generation}`;
    let expanded = this.#expanded.get(key);
    if (expanded === undefined) {
      const path = join(this.#folder, `${key}.sqlite`);
      const ready = expand(engine, row, path);
      expanded = { path: ready, users: 0, timer: null };
      this.#expanded.set(key, expanded);
      ready.catch(() => this.#expanded.delete(key));
    }
    if (expanded.timer !== null) clearTimeout(expanded.timer);
    expanded.users += 1;
    try {
      return await read(await expanded.path);
    } finally {
      expanded.users -= 1;
      if (expanded.users === 0) expanded.timer = this.#expire(key);
    }
  }

  #expire(key: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.#expanded.delete(key);
      void unlinkFile(join(this.#folder, `${key}.sqlite`));
    }, EXPANDED_MS).unref();
  }

  async stop(): Promise<void> {
    for (const expanded of this.#expanded.values()) if (expanded.timer !== null) clearTimeout(expanded.timer);
    this.#expanded.clear();
    // Somebody may have taken the data folder away.
    if (isThere(this.#folder)) await emptyFolder(this.#folder);
  }
}

/** Expands the archived file of a row to `path`, after verifying it. Throws `missing_file`, `corrupt`. */
async function expand(engine: Engine, row: InstanceRow, path: string): Promise<string> {
  await verifyArchived(engine, row, fileOf(engine, row), false);
  await engine.drawers.archive.fetch(row.id, path);
  // One that a restore brought has none. Without it the file answers, only slower.
  if (!isThere(listingPath(engine, row.id))) await writeListing(engine, row.id, path).catch(() => undefined);
  return path;
}

export interface ReadContext {
  copyQueue: FairSlots;
  expansions: Expansions;
  /** An empty file, read in place of the file of a sandbox that has none yet. */
  emptyFile: string;
}

/** Looks at a file of which each but the first was brought before. */
const MOST_LOOKS = 4;

/** Answers one read. Throws `not_found`, `gone`, `missing_file`, `corrupt`, `validation`. */
export function read<R extends ReadRequest>(
  engine: Engine,
  reading: ReadContext,
  runtime: SandboxRuntime,
  request: R,
): Promise<Extract<ReadAnswer, { op: R['op'] }>> {
  type Wanted = Extract<ReadAnswer, { op: R['op'] }>;
  return seeingDamage(engine, runtime, async (seeing) => {
    // A process that no verb works on has the file open: its row is active.
    const seen = runtime.pending === null ? await runtime.process?.peek(request) : null;
    if (seen) return seen as Wanted;
    const row = seeing(await requireOwnInstance(engine, runtime.id));
    const location = locationOf(engine, row);
    if (location === 'memory' && runtime.process !== null) return (await runtime.process.read(request)) as Wanted;
    if (location === 'archive') {
      const listed =
        (await readListing(engine, row.id, request)) ??
        (isListed(request) && (await bringListing(engine, row)) ? await readListing(engine, row.id, request) : null);
      if (listed !== null) return listed as Wanted;
    }
    return withTarget(engine, reading, row, (target) => engine.readers.read(target, request, row.tenant));
  });
}

/**
 * Writes `volumes` of a sandbox into a new file at `path` (absolute, on any filesystem), in any state, waking nothing.
 * Calls and writes go on; filing and waking wait. When this resolves the file is durable, unless it is not to be, and
 * its name is not. Throws `not_found`, `gone`, `missing_file`, `corrupt`, `unverified` of a file at rest that has no
 * hash yet, `storage_unavailable`, and `conflict` for a sandbox that lives only in its process. After a failure there
 * is no file at `path`.
 */
export async function copyOut(
  engine: Engine,
  reading: ReadContext,
  runtime: SandboxRuntime,
  path: string,
  { volumes, durable = true }: CopyOutOptions,
): Promise<VfsCopy> {
  const copy = async (seeing: Seeing) => {
    const row = seeing(await requireOwnInstance(engine, runtime.id));
    if (locationOf(engine, row) === 'memory') {
      throw new WinterdockError(
        'conflict',
        `The sandbox "${row.id}" lives only in its process: it has no file to copy.`,
      );
    }
    await requireHash(engine, row);
    return withTarget(engine, reading, row, (target, sha256) =>
      engine.readers.copy(target, path, { volumes, durable, sha256 }),
    );
  };
  const { tenant } = await requireOwnInstance(engine, runtime.id);
  return reading.copyQueue.run(tenant, () => seeingDamage(engine, runtime, copy));
}

type Seeing = (row: InstanceRow) => InstanceRow;

/**
 * As `leasedNear`. A file at rest that turns out to be damaged gets its fault at once, as it would at its next wake:
 * nobody has to try that to learn it. `look` says by `seeing` which row it looks at.
 */
async function seeingDamage<T>(
  engine: Engine,
  runtime: SandboxRuntime,
  look: (seeing: Seeing) => Promise<T>,
): Promise<T> {
  const seen: { row: InstanceRow | null } = { row: null };
  const seeing = (row: InstanceRow): InstanceRow => {
    seen.row = row;
    return row;
  };
  try {
    return await leasedNear(engine, runtime, () => look(seeing));
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'corrupt' && seen.row !== null) {
      await noteDamage(engine, seen.row, error);
    }
    throw error;
  }
}

async function noteDamage(engine: Engine, row: InstanceRow, error: WinterdockError): Promise<void> {
  const isAtRest = row.state === 'suspended' || row.state === 'frozen' || row.state === 'archived';
  if (!isAtRest || row.pending !== null || row.fault !== null) return;
  // Beside others it may be the copy of before another host had it, whatever was brought a moment ago.
  if (!engine.host.isAlone && storedOfFiling(row) !== null) return;
  const reason = publicMessage(error);
  const line = ledgerEntry(engine, row, systemAudit('reconcile'), 'fault.raised', { reason: 'corrupt', error: reason });
  try {
    await engine.registry.instances.setFault(row.id, { fault: 'corrupt', reason }, line, row);
  } catch (failure) {
    // Who looks is told of the damage all the same, and the next look or wake raises it.
    engine.log.warn({ id: row.id, err: failure }, 'damage was seen and not recorded');
  }
}

/**
 * Runs `look` while nobody moves or opens the file. When it fails because the file at rest is not there, or is another
 * one, it is brought if the store has it, and `look` runs again: meanwhile it may have been woken, or woken and filed
 * anew on another host.
 */
export async function leasedNear<T>(engine: Engine, runtime: SandboxRuntime, look: () => Promise<T>): Promise<T> {
  let isLast = false;
  for (let looks = 1; ; looks += 1) {
    try {
      return await leased(runtime, look);
    } catch (error) {
      const isNotThere = isWinterdockError(error) && (error.code === 'missing_file' || error.code === 'corrupt');
      if (engine.store === null || !isNotThere || isLast) throw error;
      isLast = !(await bring(engine, runtime)) || looks === MOST_LOOKS - 1;
    }
  }
}

/** Brings the file of a sandbox at rest from the store, unless somebody did meanwhile. False when it is not there. */
function bring(engine: Engine, runtime: SandboxRuntime): Promise<boolean> {
  return runtime.verbs.runExclusive(async () => {
    const row = await settleIfInterrupted(engine, runtime, await requireOwnInstance(engine, runtime.id));
    if (storedOfFiling(row) === null) return false;
    runtime.startOperation('prefetch', row);
    try {
      await runtime.exclusive(() => bringForReading(engine, row));
      // What was brought is the file as it was filed: its fault ends.
      if (row.fault !== null) await engine.store?.settleFault(runtime, row);
      return true;
    } finally {
      runtime.endOperation();
    }
  });
}

/** Runs `look` while nobody moves or opens the file. */
async function leased<T>(runtime: SandboxRuntime, look: () => Promise<T>): Promise<T> {
  try {
    return await runtime.lease(look);
  } catch (error) {
    // The file of a process that died a moment ago is readable again once its row is settled.
    if (!isWinterdockError(error) || runtime.settling === null) throw error;
    await runtime.settling;
    return runtime.lease(look);
  }
}

/**
 * Runs `look` on the file with the present content of a sandbox, verified when it is at rest, and with its hash when
 * that is known. The caller holds the lease.
 */
async function withTarget<T>(
  engine: Engine,
  reading: ReadContext,
  row: InstanceRow,
  look: (target: ReadTarget, sha256: string | null) => Promise<T>,
): Promise<T> {
  const atRest = (path: string, sha256: string | null) => look({ path, mode: 'rest' }, sha256);
  const location = locationOf(engine, row);
  if (row.state === 'created' && (location === 'none' || location === 'memory')) return atRest(reading.emptyFile, null);
  if (location === 'none' || row.vfsPath === MEMORY || row.vfsPath === null) {
    throw new WinterdockError('missing_file', `The sandbox "${row.id}" has no file any more.`, {
      hint: waysOut('missing'),
    });
  }
  if (location === 'archive')
    return reading.expansions.use(engine, row, (path) => atRest(path, row.file?.sha256 ?? null));
  if (row.state === 'active') return look({ path: absolutePath(engine, row.vfsPath), mode: 'live' }, null);
  const file = fileOf(engine, row);
  const known = await verifyForReading(engine, row, file);
  return file.read((path) => atRest(path, known?.sha256 ?? null));
}
