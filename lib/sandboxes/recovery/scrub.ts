/**
 * The scrubber: hashes the files at rest, one at a time and slowly. A file without a recorded hash gets one. A file
 * whose bytes changed while its stat did not has rotted: its sandbox gets a fault. Repairs and moves nothing.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../base/errors.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import type { RestingFile } from '../../storage/drawer.ts';
import { sameStamp } from '../../storage/stamp.ts';
import { type Engine, isOwn, MEMORY, now, systemAudit } from '../engine.ts';
import { fileOf, isPacked } from '../files/file-locations.ts';
import { stampAt } from '../files/file-verification.ts';
import { dropSpoiltCopy } from '../store/bring.ts';
import { checkFiledFile } from './background-checks.ts';
import { keepProgress, readProgress } from './scrub-progress.ts';

/** Rows asked of the registry at a time. */
const PAGE = 100;
/** The pause after the registry or the disk failed, in milliseconds. */
const RETRY_MS = 60_000;

/** The pauses of the scrubber in milliseconds, and the share of time that it takes. */
export interface ScrubPace {
  /** Before the pass over files without a hash: a server that has just started has sandboxes to wake. */
  startMs: number;
  /** Between two pages of rows: a million rows take some hours and a thousandth of a core. */
  pageMs: number;
  /** Between the end of a pass over all files and the next pass, counted over restarts. */
  passMs: number;
  /** Between two savings of its progress. */
  keepMs: number;
  /** The share of the time that it spends on files. */
  share: number;
}

/** A twentieth of one disk and one core. */
export const SCRUB_PACE: ScrubPace = { startMs: 2000, pageMs: 1000, passMs: 86_400_000, keepMs: 30_000, share: 0.05 };

type Verdict = 'unknown' | 'sound' | 'rotten';

/** Whether a row has a file of its own at rest, with no operation under way and no fault. */
function isAtRest(row: InstanceRow): boolean {
  const filed = row.state === 'suspended' || row.state === 'frozen' || row.state === 'archived';
  return filed && row.pending === null && row.fault === null && row.file !== null && row.vfsPath !== MEMORY;
}

/** Whether the file has no hash, or no structure check: a stop only hashes. */
function lacksCheck(engine: Engine, row: InstanceRow): boolean {
  return row.file?.sha256 === null || (row.file?.quickCheck === null && !isPacked(engine, row));
}

/**
 * Compares the bytes of a file at rest with the record, while others may wake it: `unknown` when it moved or changed
 * meanwhile.
 */
async function compareFile(engine: Engine, row: InstanceRow): Promise<Verdict> {
  if (row.vfsPath === null || row.file === null) return 'unknown';
  const file = fileOf(engine, row);
  if (file.packed) return compareArchived(engine, file, row.file.sha256);
  const asFiled = async () => {
    const stamp = await stampAt(file);
    return stamp !== null && row.file !== null && sameStamp(stamp, row.file);
  };
  // A file with another stat is verified in full before it is opened, so it is no concern here.
  if (!(await asFiled())) return 'unknown';
  const { sha256, quickCheck } = await file.read((path) => engine.readers.check(path));
  if (!(await asFiled())) return 'unknown';
  return sha256 === row.file.sha256 && quickCheck === 'ok' ? 'sound' : 'rotten';
}

/** An archived file is not hashed before it is expanded, so its bytes are compared whatever its stat. */
async function compareArchived(engine: Engine, file: RestingFile, recorded: string | null): Promise<Verdict> {
  if ((await file.stat()) === null) return 'unknown';
  const { sha256, quickCheck } = await file.read((path) => engine.readers.check(path, { packed: true }));
  return quickCheck === 'ok' && (recorded === null || recorded === sha256) ? 'sound' : 'rotten';
}

/** Checks the file of one row at rest. True when it has rotted. */
async function scrub(engine: Engine, row: InstanceRow): Promise<boolean> {
  try {
    if (lacksCheck(engine, row)) {
      await checkFiledFile(engine, row.id, row.generation);
      return false;
    }
    if ((await compareFile(engine, row)) !== 'rotten') return false;
    if (await dropSpoiltCopy(engine, row)) return true;
    let rotten = false;
    // Compared once more while nobody can open or move it, so that a wake is never taken for rot.
    await engine.runtimes.use(row.id, (runtime) =>
      runtime.lease(async () => {
        const current = await engine.registry.instances.get(row.id);
        if (current === null || current.generation !== row.generation || !isAtRest(current) || runtime.process !== null)
          return;
        if ((await compareFile(engine, current)) !== 'rotten') return;
        const reason = isPacked(engine, current)
          ? 'its archived file no longer expands to what was filed'
          : 'its bytes are no longer those that were filed, though its stat is';
        rotten = await engine.registry.instances.setFault(
          row.id,
          { fault: 'corrupt', reason },
          ledgerEntry(engine, current, systemAudit('reconcile'), 'fault.raised', { reason: 'corrupt', error: reason }),
          current,
        );
      }),
    );
    return rotten;
  } catch (error) {
    // It woke or moved during the check, or the disk failed: the next pass checks it again.
    engine.log.debug({ id: row.id, error: messageOf(error) }, 'scrub not done');
    return false;
  }
}

/**
 * First checks files without a hash, which a stop or a kill prevented, then passes over all files again and again until
 * `signal`. A pass goes on after a restart. Does not wait for a check under way at `signal`. Never throws.
 */
export async function scrubForever(engine: Engine, signal: AbortSignal, pace: ScrubPace): Promise<void> {
  const { facts } = engine.registry;
  const aborted = new Promise<false>((resolve) =>
    signal.addEventListener('abort', () => resolve(false), { once: true }),
  );
  const rest = (ms: number) => pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const pass = async (
    from: string,
    wanted: (row: InstanceRow) => boolean,
    seen: (row: InstanceRow, rotten: boolean | null) => Promise<void> = async () => {},
  ) => {
    for (let after: string | undefined = from; after !== undefined && !signal.aborted; await rest(pace.pageMs)) {
      const rows: InstanceRow[] = await engine.registry.instances.withFile(after, PAGE);
      for (const row of rows) {
        if (signal.aborted) return;
        const looks = isAtRest(row) && isOwn(engine, row) && wanted(row);
        const begun = performance.now();
        const rotten = looks ? await Promise.race([scrub(engine, row), aborted]) : null;
        if (signal.aborted) return;
        await seen(row, rotten);
        if (looks) await rest((performance.now() - begun) * (1 / pace.share - 1));
      }
      after = rows.at(-1)?.id;
    }
  };

  const wholePass = async () => {
    const kept = await readProgress(facts);
    const last = kept?.last ?? null;
    let saved = kept?.walk ?? null;
    if (saved === null) {
      const since = kept?.since ?? now(engine);
      if (kept === null) await keepProgress(facts, { walk: null, last, since }, now(engine));
      // When the clock was set back, the pause is at most a whole one.
      await rest(Math.min(pace.passMs, Math.max(0, since * 1000 + pace.passMs - engine.clock.now())));
      saved = { after: '', begun: now(engine), files: 0, bytes: 0, rotten: 0 };
    }
    if (signal.aborted) return;
    const current = saved;
    let keptAt = performance.now();
    const keep = () => keepProgress(facts, { walk: current, last, since: current.begun }, now(engine));
    try {
      await pass(
        current.after,
        () => true,
        async (row, rotten) => {
          current.after = row.id;
          if (rotten !== null) {
            current.files += 1;
            current.bytes += row.file?.size ?? 0;
            if (rotten) current.rotten += 1;
          }
          if (performance.now() - keptAt < pace.keepMs) return;
          keptAt = performance.now();
          await keep();
        },
      );
    } finally {
      if (signal.aborted) await keep();
    }
    if (signal.aborted) return;
    const { after: _, ...counted } = current;
    const ended = now(engine);
    await keepProgress(facts, { walk: null, last: { ...counted, ended }, since: ended }, ended);
  };
  const trying = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      engine.log.warn({ error: messageOf(error) }, 'scrubbing');
      await rest(RETRY_MS);
    }
  };

  await rest(pace.startMs);
  await trying(() => pass('', (row) => lacksCheck(engine, row)));
  while (!signal.aborted) await trying(wholePass);
}
