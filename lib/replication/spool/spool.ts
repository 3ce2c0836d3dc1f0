/** What lies in the spool of one sandbox: segments that a process cut and did not store. */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { removeFolder, syncFile, syncFolder, unlinkFile } from '../../base/effects.ts';
import { isWinterdockError } from '../../base/errors.ts';
import { isThere } from '../../base/is-there.ts';
import { isCode } from '../../storage/files.ts';
import { namesIn } from '../../storage/inventory.ts';
import { verifySegment } from '../ltx/ltx-reader.ts';
import { compareSeries, parseSegmentName, type SegmentSeries } from '../names/replica-names.ts';
import type { SpooledSegment } from './spooled-segment.ts';

const SPOOLED = /^(\d)-([0-9a-f]{16}-[0-9a-f]{16}\.ltx)$/;

/** A segment that is whole, or the path of something that is none: half a file after a power cut, a kept log. */
export type SpooledFile = { segment: SpooledSegment } | { broken: string };

/**
 * Everything in `folder` (absolute), the oldest first, of `id`. A segment counts if its checksum is right, and that of
 * each before it in its series: behind a hole nothing can be restored.
 */
export async function spooledSegments(folder: string, id: string): Promise<SpooledFile[]> {
  if (!isThere(folder)) return [];
  const segments: SpooledSegment[] = [];
  const broken: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) broken.push(path);
    else {
      for (const name of readdirSync(path)) {
        const found = await spooledSegment(id, entry.name, name, join(path, name));
        if (found === null) broken.push(join(path, name));
        else segments.push(found);
      }
    }
  }
  const holes = broken.filter((path) => SPOOLED.test(basename(path)));
  const isBehindHole = ({ path }: SpooledSegment) =>
    holes.some((hole) => dirname(hole) === dirname(path) && numberIn(hole) < numberIn(path));
  const whole = segments.filter((segment) => !isBehindHole(segment));
  broken.push(...segments.filter(isBehindHole).map(({ path }) => path));
  whole.sort((one, other) => compareSeries(one.series, other.series) || one.min - other.min);
  return [...whole.map((segment) => ({ segment })), ...broken.map((path) => ({ broken: path }))];
}

async function spooledSegment(id: string, series: string, name: string, path: string): Promise<SpooledSegment | null> {
  const [, level, file] = SPOOLED.exec(name) ?? [];
  const place = parseSegmentName(`replica/${id}/${series}/ltx/${level}/${file}`);
  if (place === null) return null;
  try {
    const { header, bytes } = await verifySegment(path);
    if (header.minTxid !== place.min || header.maxTxid !== place.max) return null;
    return { ...place, path, bytes, timeMs: header.timeMs };
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'corrupt') return null;
    throw error;
  }
}

/**
 * Makes segments of the spool of one sandbox (`folder`, absolute) durable. What the store takes meanwhile leaves the
 * list, and the disk with its folder: it needs neither.
 */
export async function syncSpooled(folder: string, segments: readonly SpooledSegment[]): Promise<void> {
  const all = [...segments];
  const folders = new Set(all.map(({ path }) => dirname(path)));
  for (const { path } of all) await unlessGone(syncFile(path));
  for (const path of folders) await unlessGone(syncFolder(path));
  if (folders.size > 0) await unlessGone(syncFolder(folder));
}

async function unlessGone(syncing: Promise<void>): Promise<void> {
  await syncing.catch((error) => {
    if (!isCode(error, 'ENOENT')) throw error;
  });
}

/** Removes a folder (absolute) that is empty, and so many in all above each other. Never rejects: others stay. */
export async function removeEmpty(folder: string, count: number): Promise<void> {
  let at = folder;
  for (let left = count; left > 0; left -= 1, at = dirname(at)) {
    const isRemoved = await removeFolder(at).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

/** Its number as it sorts, whatever its level. */
const numberIn = (path: string) => basename(path).slice('0-'.length);

/** Whether what waits for the store (in order) leads to segment `txid` of a series without a hole. */
export function leadsTo(waiting: readonly SpooledSegment[], { series, txid }: { series: SegmentSeries; txid: number }) {
  const own = waiting.filter((segment) => compareSeries(segment.series, series) === 0);
  return own.at(-1)?.max === txid && own.every(({ min }, at) => at === 0 || own[at - 1]?.max === min - 1);
}

/** What every spool below `spool` (absolute) has that can be stored; what cannot is removed. */
export async function tidySpools(spool: string): Promise<SpooledSegment[]> {
  const segments: SpooledSegment[] = [];
  for (const id of [...namesIn(spool)]) {
    for (const found of await spooledSegments(join(spool, id), id)) {
      if ('segment' in found) segments.push(found.segment);
      else await unlinkFile(found.broken);
    }
    const own = join(spool, id);
    for (const series of [...namesIn(own)]) await removeEmpty(join(own, series), 1);
    await removeEmpty(own, 1);
  }
  return segments;
}
