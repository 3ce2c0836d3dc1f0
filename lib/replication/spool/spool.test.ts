import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Effect, observeEffects } from '../../base/effects.ts';
import { newSeries, segmentFile, seriesName } from '../names/replica-names.ts';
import { syncSpooled, tidySpools } from './spool.ts';
import type { SpooledSegment } from './spooled-segment.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-spool-'));
});
afterEach(() => {
  observeEffects(null);
  rmSync(folder, { recursive: true, force: true });
});

const series = newSeries(1, 1000);
function spooled(txid: number): SpooledSegment {
  const path = join(folder, seriesName(series), `0-${segmentFile(txid, txid)}`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'a segment');
  return { id: 'a', series, level: 0, min: txid, max: txid, path, bytes: 9, timeMs: txid };
}

test('a segment that the store takes while others are made durable passes over none of them', async () => {
  const waiting = [1, 2, 3].map(spooled);
  const [first] = waiting;
  const synced: string[] = [];
  observeEffects({
    after({ kind, path }: Effect) {
      if (kind !== 'sync') return;
      synced.push(path);
      if (path === first?.path) rmSync(waiting.shift()?.path ?? '');
    },
  });
  await syncSpooled(folder, waiting);
  expect(synced.map((path) => basename(path))).toEqual([1, 2, 3].map((txid) => `0-${segmentFile(txid, txid)}`));
});

test('a spool of which the store has taken everything meanwhile, with its folder, is durable', async () => {
  const waiting = [1, 2].map(spooled);
  let synced = 0;
  observeEffects({
    before({ kind, path }: Effect) {
      if (kind !== 'sync') return;
      synced += 1;
      if (synced === 2) rmSync(dirname(path), { recursive: true });
    },
  });
  await syncSpooled(folder, waiting);
  expect(synced).toBe(2);
});

test('a start leaves no folder of a spool that is empty, nor what is no segment', async () => {
  for (const id of ['a', 'b']) mkdirSync(join(folder, id, seriesName(series)), { recursive: true });
  writeFileSync(join(folder, 'b', seriesName(series), `0-${segmentFile(1, 1)}`), 'half');
  writeFileSync(join(folder, 'b', 'log-1-x-1'), 'a log');
  expect(await tidySpools(folder)).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});
