/**
 * Watches what awake sandboxes put on the disk outside their files: a process that was taken over can fill its live
 * folder and the folder of spill files. Looks at a bounded number of names, sizes and owners, opens nothing and follows
 * nothing. Knows nothing of rows.
 */
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { bytesAtNow, lookAtNow, removeStrangersTrees } from '../base/strangers-file.ts';
import { namePages } from '../storage/folder.ts';
import { firstNamesIn, LIVE_NAMES } from '../storage/landing-folder.ts';
import type { WorkerOptions } from './process.ts';
import type { ProcessGroup } from './process-group.ts';
import type { OpenSpec } from './protocol/instance.ts';

/** Milliseconds between two looks: one at two hundred sandboxes takes some 10 ms, in slices. */
const LOOK_EVERY_MS = 2000;
/** Sandboxes looked at in one turn of the event loop. */
const SLICE = 20;
/** Names that a sandbox may have beside its own, and their bytes: a journal that SQLite makes for a moment, say. */
const MOST_NAMES = 16;
const MIB = 1024 * 1024;
const MOST_BYTES_BESIDE = 16 * MIB;
/** What SQLite may write beyond the most that a sandbox holds, and how much larger than a file its log may be. */
const SLACK_BYTES = 64 * MIB;
const LOG_FACTOR = 4;
/** Names in the folder of spill files that one look goes through. */
const MOST_SPILLED = 2000;
const BLOCK_BYTES = 512n;

/** A sandbox that has a process. */
interface Watched {
  readonly file: string;
  /** The most that its file may have. */
  readonly maxBytes: number;
  /** The user of its own; undefined: it has none, and what it spills cannot be told from others' files. */
  readonly uid: number | undefined;
  readonly group: Pick<ProcessGroup, 'kill' | 'ended'>;
}

export class DiskWatch {
  readonly #watched = new Set<Watched>();
  #spillFolder = '';
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  /** Watches a sandbox until it ends. `maxBytes`: see `mostOnDisk`. Throws nothing: there is a process already. */
  watch(
    group: Watched['group'],
    { id, file, maxBytes }: OpenSpec,
    { spillFolder, walls }: Pick<WorkerOptions, 'spillFolder' | 'walls'>,
  ): void {
    this.#spillFolder = spillFolder;
    const uid = walls?.ownUser?.(id).uid;
    const watched = { file, maxBytes, uid, group };
    this.#watched.add(watched);
    void group.ended.then(() => {
      this.#watched.delete(watched);
      if (this.#watched.size === 0) this.#stop();
    });
    this.#timer ??= setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Looks at all, and ends those that have put too much there. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const spilled = unlessUnseen(() => spilledIn(this.#spillFolder)) ?? new Map<number, Amount>();
      let n = 0;
      for (const one of [...this.#watched]) {
        n += 1;
        if (n % SLICE === 0) await setImmediate();
        const own = unlessUnseen(() => problemIn(one));
        const byUser = one.uid === undefined ? undefined : spilled.get(one.uid);
        if (own !== null) void one.group.kill('crash', own);
        else if (byUser !== undefined && isTooMuch(byUser)) void this.#endAndEmpty(one, byUser);
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #endAndEmpty({ group, uid }: Watched, { names, bytes }: Amount): Promise<void> {
    await group.kill(
      'crash',
      `It left ${names} files with ${bytes} bytes in the folder of spill files, where none stays.`,
    );
    const isTheirs = (name: string) => lookAtNow(join(this.#spillFolder, name))?.uid === BigInt(uid ?? 0);
    for await (const page of namePages(this.#spillFolder, isTheirs)) {
      const [first, ...more] = page.map((name) => join(this.#spillFolder, name));
      if (first !== undefined) await removeStrangersTrees([first, ...more]).catch(() => undefined);
    }
  }
}

interface Amount {
  names: number;
  bytes: bigint;
}

/**
 * The most bytes that the file of a sandbox may have while it is awake: a limit that was lowered takes nothing away.
 * Throws what the disk throws.
 */
export function mostOnDisk({ file, maxBytes }: Pick<OpenSpec, 'file' | 'maxBytes'>): number {
  return Math.max(maxBytes, bytesAtNow(file));
}

/** The result of a look; null when a folder cannot be looked at now: the next time it can. */
function unlessUnseen<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

const isTooMuch = ({ names, bytes }: Amount) => names > MOST_NAMES || bytes > MOST_BYTES_BESIDE;

/** What is wrong with the live folder of a sandbox, as a sentence; null when nothing is. */
function problemIn({ file, maxBytes }: Watched): string | null {
  if (file === ':memory:') return null;
  const folder = dirname(file);
  const beside: Amount = { names: 0, bytes: 0n };
  for (const name of firstNamesIn(folder, MOST_NAMES + LIVE_NAMES.length)) {
    const stat = lookAtNow(join(folder, name));
    if (stat === null) continue;
    if (stat.isDirectory()) return `It made a folder beside its file, where none is.`;
    const bytes = stat.blocks * BLOCK_BYTES;
    if (!LIVE_NAMES.includes(name)) {
      beside.names += 1;
      beside.bytes += bytes;
    } else if (bytes > BigInt((maxBytes + SLACK_BYTES) * (name === basename(file) ? 1 : LOG_FACTOR))) {
      return `Its file ${name} takes ${bytes} bytes of the disk, and ${maxBytes} are its limit.`;
    }
  }
  return isTooMuch(beside)
    ? `It put more than ${MOST_NAMES} files, or ${MOST_BYTES_BESIDE / MIB} MiB, beside its own file.`
    : null;
}

/** Named files in the folder of spill files, by owner. Those of SQLite have no names. */
function spilledIn(folder: string): Map<number, Amount> {
  const byOwner = new Map<number, Amount>();
  for (const name of firstNamesIn(folder, MOST_SPILLED)) {
    const stat = lookAtNow(join(folder, name));
    if (stat === null) continue;
    const amount = byOwner.get(Number(stat.uid)) ?? { names: 0, bytes: 0n };
    amount.names += 1;
    amount.bytes += stat.blocks * BLOCK_BYTES;
    byOwner.set(Number(stat.uid), amount);
  }
  return byOwner;
}
