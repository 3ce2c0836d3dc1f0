/**
 * Recovers the file of a process that has ended, also while that process is still letting go of it. A file in the live
 * drawer is recovered in a folder that is its owner's meanwhile, for who recovers it runs as its owner and makes files
 * beside it. Afterwards the folder is taken back as from a sandbox.
 */
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chmodFileNow, giveToNow } from '../../base/effects.ts';
import { isWinterdockError } from '../../base/errors.ts';
import { lookAtNow } from '../../base/strangers-file.ts';
import type { RestingFile } from '../../storage/drawer.ts';
import { LIVE_NAMES } from '../../storage/landing-folder.ts';
import { isUserOfWorkers } from '../../workers/walls/user.ts';
import type { Engine } from '../engine.ts';
import { livePath } from '../engine.ts';
import { type LandingContext, type LandingRow, land } from '../moves/live-folder-landing.ts';

/**
 * Pauses between attempts, in milliseconds. A process that was killed has given its memory back, and is in no list,
 * before it closes its files: on a busy machine that was seen to take longer than a start of the server. Anybody else
 * who holds the file holds it for longer than this.
 */
const PAUSES_MS = [20, 40, 80, 160, 320, 640];
const OWNER_ALONE = 0o700;

type SettleContext = LandingContext & Pick<Engine, 'readers' | 'stop'>;

/**
 * Makes one clean file of the file in the live drawer and the log beside it. Returns its identity, null when it has
 * none. Throws what `Readers.settle` throws: `conflict` when the file is held by somebody for longer than a moment.
 */
export async function settleFile(engine: SettleContext, row: LandingRow): Promise<string | null> {
  const path = join(engine.config.dataFolder, livePath(row.id));
  const how = howToSettle(engine, row);
  return withItsOwner(engine, row, async () => {
    for (const pauseMs of PAUSES_MS) {
      try {
        return await engine.readers.settle(path, how);
      } catch (error) {
        if (!isWinterdockError(error) || error.code !== 'conflict' || engine.stop.aborted) throw error;
        await pause(pauseMs);
      }
    }
    return engine.readers.settle(path, how);
  });
}

/** A log that has a second name is still to be read there. */
function howToSettle({ replica }: LandingContext, { id }: LandingRow): { keepsFrames: boolean } {
  return { keepsFrames: (replica?.secondName(id) ?? null) !== null };
}

/** The same of a file that rests anywhere, at once. */
export function settleAt(
  engine: LandingContext & Pick<Engine, 'readers'>,
  row: LandingRow,
  file: RestingFile,
): Promise<string | null> {
  const settling = () => file.read((path) => engine.readers.settle(path, howToSettle(engine, row)));
  return file.address === livePath(row.id) ? withItsOwner(engine, row, settling) : settling();
}

/** Runs `work` while the live folder is its file's owner's, where that is a user of workers. */
async function withItsOwner<T>(engine: LandingContext, row: LandingRow, work: () => Promise<T>): Promise<T> {
  const path = join(engine.config.dataFolder, livePath(row.id));
  const [file, folder] = [lookAtNow(path), lookAtNow(dirname(path))];
  if (file === null || folder === null || process.getuid?.() !== 0) return work();
  const [owner, group] = [Number(file.uid), Number(file.gid)];
  if (!isUserOfWorkers(owner) || folder.uid !== 0n || !folder.isDirectory()) return work();
  for (const name of LIVE_NAMES) {
    const log = join(dirname(path), name);
    if (lookAtNow(log)?.uid === 0n) giveToNow(log, owner, group);
  }
  giveToNow(dirname(path), owner, group);
  chmodFileNow(dirname(path), OWNER_ALONE);
  try {
    return await work();
  } finally {
    await land(engine, row);
  }
}
