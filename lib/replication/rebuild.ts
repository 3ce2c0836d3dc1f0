/**
 * Makes a database of a base and the segments after it. Nothing is at the target before every byte of all of them was
 * checked. Knows nothing of where segments come from.
 */
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createFile, performing, renameFile, syncFolder, unlinkFile } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { hashFile } from '../base/hash-file.ts';
import { badSegment, lockPage } from './ltx-header.ts';
import { LtxReader } from './ltx-reader.ts';
import { unfinishedName } from './ltx-writer.ts';
import { PieceWriter, writeWhole } from './piece-writer.ts';

/** Where a database says by which version of the format it is written and read, and what says WAL. */
const VERSIONS_AT = 18;
const WAL_VERSION = 2;
const RESTING = Buffer.from([1, 1]);

export interface RebuildRequest {
  /** A base and the segments after it, absolute, in order. */
  segments: readonly string[];
  /** The database, absolute. What is there is replaced. */
  target: string;
  /** A database in WAL mode becomes one at rest, without a log. */
  atRest?: boolean;
}

export interface Rebuilt {
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
  /** Of the last segment, in epoch milliseconds. */
  timeMs: number;
  /** Of the last segment. */
  txid: number;
  /** Whether it was at rest by itself: of a filing. */
  wasAtRest: boolean;
}

interface State {
  pageSize: number;
  commit: number;
  txid: number;
  timeMs: number;
}

/**
 * Makes the database, durable with its name. Throws `corrupt` when a segment is damaged or does not follow the one
 * before, and the system's errors; what was at the target is there still then.
 */
export async function rebuild({ segments, target, atRest = false }: RebuildRequest): Promise<Rebuilt> {
  const unfinished = unfinishedName(target);
  const file = await createFile(unfinished, 'w+');
  try {
    let state: State | null = null;
    for (const path of segments) state = await applied(path, file, state);
    if (state === null) throw new WinterdockError('corrupt', 'There is no segment to make a database of.');
    const wasAtRest = await isAtRest(file);
    if (atRest && !wasAtRest) await writeWhole(file, RESTING, VERSIONS_AT);
    const synced = performing({ kind: 'sync', path: unfinished }, () => file.sync());
    // Both read the same bytes, and wait for nothing of the other.
    const [{ sha256, bytes }] = await Promise.all([hashFile(unfinished), synced]);
    await file.close();
    await renameFile(unfinished, target);
    await syncFolder(dirname(target));
    return { bytes, sha256, timeMs: state.timeMs, txid: state.txid, wasAtRest };
  } catch (error) {
    await file.close().catch(() => undefined);
    await unlinkFile(unfinished);
    throw error;
  }
}

/** Whether the two bytes of the header that say how changes are made say something else than WAL. */
async function isAtRest(file: FileHandle): Promise<boolean> {
  const versions = Buffer.alloc(RESTING.length);
  await file.read(versions, 0, versions.length, VERSIONS_AT);
  return versions.some((version) => version !== WAL_VERSION);
}

/** Writes the pages of a segment. `before`: what the file has; null: nothing, so the segment is a base. */
async function applied(path: string, file: FileHandle, before: State | null): Promise<State> {
  const segment = await LtxReader.open(path);
  try {
    const { pageSize, commit, minTxid, maxTxid, timeMs } = segment.header;
    if (before === null && minTxid !== 1) throw badSegment(segment.name, 'it is no base');
    if (before !== null && minTxid !== before.txid + 1)
      throw badSegment(segment.name, 'it does not follow the one before');
    if (before !== null && pageSize !== before.pageSize) throw badSegment(segment.name, 'it has pages of another size');
    if (before === null) await writeBase(segment, file);
    else await writePages(segment, file);
    // Cuts off what a commit gave back, so that growing again finds zeros there.
    await file.truncate(commit * pageSize);
    return { pageSize, commit, txid: maxTxid, timeMs };
  } finally {
    await segment.close();
  }
}

async function writeBase(base: LtxReader, file: FileHandle): Promise<void> {
  const { pageSize } = base.header;
  const pieces = new PieceWriter(file);
  const room = async () => {
    if (pieces.lacks(pageSize)) await pieces.flush();
  };
  for (let page = await base.next(); page !== 0; page = await base.next()) {
    if (page === lockPage(pageSize) + 1) {
      await room();
      pieces.put(Buffer.alloc(pageSize));
    }
    await room();
    pieces.put(base.page);
  }
  await pieces.end();
}

async function writePages(segment: LtxReader, file: FileHandle): Promise<void> {
  const { pageSize } = segment.header;
  for (let page = await segment.next(); page !== 0; page = await segment.next()) {
    await writeWhole(file, segment.page, (page - 1) * pageSize);
  }
}
