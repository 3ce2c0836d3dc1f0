/**
 * The scrubber: goes through the files at rest, one at a time and slowly, and hashes each. One that nobody hashed yet gets its hash; one whose
 * bytes are no longer what was filed, though its stat is, has rotted and gets a fault. Repairs and moves nothing.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import type { InstanceRow } from '../registry/registry.ts';
import { stampOf } from '../storage/files.ts';
import { checkFile } from './checks.ts';
import { absolute, type Engine, line, MEMORY, systemCause } from './engine.ts';
import { sameStamp } from './trust.ts';

/** Rows asked of the registry at a time. */
const PAGE = 100;
/** Share of the time that it may spend on files: a twentieth of one disk and one core. */
const SHARE = 0.05;

/** Milliseconds of rest. */
export interface Pace {
  /** Before the walk over what has no hash: a server that has just started has people to wake. */
  startMs: number;
  /** Between two pages of rows: a million take some hours and a thousandth of a core. */
  pageMs: number;
  /** Before each walk over everything. */
  walkMs: number;
}

export const PACE: Pace = { startMs: 2000, pageMs: 1000, walkMs: 86_400_000 };

type Verdict = 'unknown' | 'sound' | 'rotten';

/** Whether a row has a file of its own that nobody is about to open or move, and that no fault is raised for. */
function rests(row: InstanceRow): boolean {
  const filed = row.state === 'suspended' || row.state === 'frozen';
  return filed && row.pending === null && row.fault === null && row.file !== null && row.vfsPath !== MEMORY;
}

/** What the bytes of a file at rest say, beside whoever wants to wake it: nothing when it moved or changed meanwhile. */
async function look(engine: Engine, row: InstanceRow): Promise<Verdict> {
  if (row.vfsPath === null || row.file === null) return 'unknown';
  const path = absolute(engine, row.vfsPath);
  const asFiled = () => {
    const stamp = stampOf(path);
    return stamp !== null && row.file !== null && sameStamp(stamp, row.file);
  };
  // What differs in its stat is hashed and checked in full before it is opened.
  if (!asFiled()) return 'unknown';
  const { sha256, quickCheck } = await engine.readers.check(path);
  if (!asFiled()) return 'unknown';
  return sha256 === row.file.sha256 && quickCheck === 'ok' ? 'sound' : 'rotten';
}

/** Checks the file of one row that rests. */
async function scrub(engine: Engine, row: InstanceRow): Promise<void> {
  try {
    if (row.file?.sha256 === null) return await checkFile(engine, row.id, row.generation);
    if ((await look(engine, row)) !== 'rotten') return;
    // Looked at once more while nobody can open or move it, so that a wake is never taken for rot.
    await engine.entries.with(row.id, (entry) =>
      entry.lease(async () => {
        const now = await engine.registry.get(row.id);
        if (now === null || now.generation !== row.generation || !rests(now) || entry.process !== null) return;
        if ((await look(engine, now)) !== 'rotten') return;
        const reason = 'its bytes are no longer those that were filed, though its stat is';
        await engine.registry.setFault(
          row.id,
          { fault: 'corrupt', reason },
          line(engine, now, systemCause('reconcile'), 'fault.raised', { reason: 'corrupt', error: reason }),
        );
      }),
    );
  } catch (error) {
    // It woke or moved under the look, or the disk failed: the next walk comes by again.
    engine.log.debug({ id: row.id, error: messageOf(error) }, 'scrub not done');
  }
}

/**
 * Goes over what has no hash yet, as a stop or a kill came before its check, and then over everything, again and again until `signal`. Waits for no
 * check that is under way then. Never throws.
 */
export async function scrubForever(engine: Engine, signal: AbortSignal, pace: Pace): Promise<void> {
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const rest = (ms: number) => pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const walk = async (wanted: (row: InstanceRow) => boolean) => {
    for (let after: string | undefined = ''; after !== undefined && !signal.aborted; await rest(pace.pageMs)) {
      const rows: InstanceRow[] = await engine.registry.filed(after, PAGE);
      for (const row of rows) {
        if (signal.aborted || !rests(row) || !wanted(row)) continue;
        const begun = performance.now();
        await Promise.race([scrub(engine, row), aborted]);
        await rest((performance.now() - begun) / SHARE);
      }
      after = rows.at(-1)?.id;
    }
  };
  const walks = async (wanted: (row: InstanceRow) => boolean) => {
    try {
      await walk(wanted);
    } catch (error) {
      engine.log.warn({ error: messageOf(error) }, 'scrubbing');
    }
  };
  await rest(pace.startMs);
  await walks((row) => row.file?.sha256 === null);
  while (!signal.aborted) {
    await rest(pace.walkMs);
    await walks(() => true);
  }
}
