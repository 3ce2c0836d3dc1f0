/** What lies in the spool of one sandbox: segments that a process cut and did not store. */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFile, syncFolder, unlinkFile } from '../base/effects.ts';
import { isWinterdockError } from '../base/errors.ts';
import { isThere } from '../base/is-there.ts';
import { isCode } from '../storage/files.ts';
import { namesIn } from '../storage/inventory.ts';
import { verifySegment } from './ltx-reader.ts';
import { compareSeries, parseSegmentName, type SegmentSeries, seriesName } from './replica-names.ts';
import type { SpooledSegment } from './segment-uploads.ts';

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

/** Makes segments of the spool of one sandbox (`folder`, absolute) durable. What the store has by now needs no disk. */
export async function syncSpooled(
  folder: string,
  series: SegmentSeries,
  segments: readonly SpooledSegment[],
): Promise<void> {
  for (const { path } of segments) {
    await syncFile(path).catch((error) => {
      if (!isCode(error, 'ENOENT')) throw error;
    });
  }
  if (segments.length === 0) return;
  await syncFolder(join(folder, seriesName(series)));
  await syncFolder(folder);
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
  }
  return segments;
}
