/**
 * For tests: a registry in a file whose commits are shipped to a folder, as the server has it. As a program: writes
 * rows without end, and prints a line of JSON for each that was acknowledged. Arguments: the folder.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import type { Registry } from '../../registry/registry.ts';
import { makeInstance } from '../../registry/testing/fixtures.ts';
import { openTestRegistry } from '../../registry/testing/open-test-registry.ts';
import { Cutter } from '../../replication/log/cutter.ts';
import { rebuild } from '../../replication/ltx/rebuild.ts';
import {
  compareSeries,
  parseSegmentName,
  REGISTRY_ID,
  type SegmentPlace,
} from '../../replication/names/replica-names.ts';
import { ShippedRegistry, type ShippedRegistryParts } from '../../replication/shipped-registry.ts';
import { SegmentUploads } from '../../replication/shipping/segment-uploads.ts';
import { spooledSegments } from '../../replication/spool/spool.ts';
import { canUse } from '../../replication/testing/can-use.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { buildWalls } from '../../workers/walls/walls.ts';
import { cutRegistryBase } from '../registry-base.ts';

const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };
const START_MS = 60_000;

export interface RegistryStage {
  registry: Registry;
  keeper: ShippedRegistry;
  uploads: SegmentUploads;
  stop: () => Promise<void>;
}

export const registryIn = (folder: string) => join(folder, 'data', 'registry.sqlite');
const bucketIn = (folder: string) => join(folder, 'bucket');

/** Opens the registry in a folder (absolute) and ships it. */
export async function openStage(
  folder: string,
  {
    spoolBytes = 2 ** 30,
    cutBase,
    prepared = async () => undefined,
  }: Partial<Pick<ShippedRegistryParts, 'spoolBytes' | 'cutBase'>> & {
    /** Runs after the spool was read, before the registry is shipped. */
    prepared?: (uploads: SegmentUploads) => Promise<unknown>;
  } = {},
): Promise<RegistryStage> {
  const dataFolder = join(folder, 'data');
  const cacheFolder = join(folder, 'cache');
  mkdirSync(dataFolder, { recursive: true });
  const log = createLogger('fatal');
  const keeper = new ShippedRegistry();
  const registry = await openTestRegistry(registryIn(folder), { keeper });
  const walls = await buildWalls({ dataFolder, cacheFolder, maxStartMs: START_MS });
  const store = await openObjectStore(`file://${bucketIn(folder)}`, CONNECTION);
  const uploads = new SegmentUploads({ store, log, isBack: () => canUse(store) });
  const spool = join(dataFolder, 'replica', 'spool', REGISTRY_ID);
  for (const found of await spooledSegments(spool, REGISTRY_ID)) {
    if ('segment' in found) uploads.left([found.segment]);
    else rmSync(found.broken, { recursive: true });
  }
  await prepared(uploads);
  const cutter = new Cutter();
  const parts = { config: { dataFolder, cacheFolder }, states: walls.states, log };
  await keeper.start({
    ...{ dataFolder, uploads, cutter, store, log, term: 1, spoolBytes, clock: systemClock },
    onGap: () => undefined,
    cutBase: cutBase ?? ((request, signal) => cutRegistryBase(parts, request, signal)),
  });
  uploads.begin();
  return {
    registry,
    keeper,
    uploads,
    async stop() {
      await keeper.stop();
      await uploads.stop();
      await registry.close();
      await keeper.noteEnd();
      await cutter.close();
      await store.close();
      walls.close();
    },
  };
}

/** The segments of the registry that the store has, in order. */
export function segmentsIn(folder: string): (SegmentPlace & { path: string })[] {
  const root = bucketIn(folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .flatMap((name) => {
      const place = parseSegmentName(name);
      return place === null ? [] : [{ ...place, path: join(root, name) }];
    })
    .sort((one, other) => compareSeries(one.series, other.series) || one.min - other.min);
}

/** The bytes of the registry as the store has it: of its newest series, up to a transaction. */
export async function rebuilt(folder: string, txid = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const all = segmentsIn(folder);
  const newest = all.at(-1)?.series;
  const chosen = all.filter(({ series, max }) => series.token === newest?.token && max <= txid);
  const at = mkdtempSync(join(tmpdir(), 'winterdock-rebuilt-'));
  try {
    await rebuild({ segments: chosen.map(({ path }) => path), target: join(at, 'registry.sqlite') });
    return readFileSync(join(at, 'registry.sqlite'));
  } finally {
    rmSync(at, { recursive: true });
  }
}

const WHOLE = `const D = require('better-sqlite3'); const d = new D(process.argv[1]); d.pragma('wal_checkpoint(TRUNCATE)'); d.close();`;

/**
 * The bytes of the registry as it is, with its log in it. Nobody writes meanwhile. Another program copies it: this
 * process has it open.
 */
export function wholeNow(folder: string): Buffer {
  const at = mkdtempSync(join(tmpdir(), 'winterdock-whole-'));
  const path = registryIn(folder);
  try {
    execFileSync('cp', [path, `${path}-wal`, at]);
    execFileSync(process.execPath, ['-e', WHOLE, join(at, 'registry.sqlite')]);
    return readFileSync(join(at, 'registry.sqlite'));
  } finally {
    rmSync(at, { recursive: true });
  }
}

/** Writes a row, about 60 kB of the log. */
export async function writeRow(registry: Registry, name: string): Promise<void> {
  const labels = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`label-${n}`, `${name} ${'x'.repeat(40)}`]));
  await makeInstance(registry, name, 'active', { labels });
}

if (import.meta.main) {
  const [folder = ''] = process.argv.slice(2);
  const { registry } = await openStage(folder);
  for (let n = 0; ; n += 1) {
    await writeRow(registry, `r-${n}`);
    process.stdout.write(`${JSON.stringify({ n, atMs: Date.now() })}\n`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
