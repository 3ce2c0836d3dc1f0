/**
 * Frozen sandboxes whose files are in an object store, beside a bare client of the same server and a server without a
 * store; and calls of a hot one while a large one is frozen into the store.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { startS3Server, TEST_KEYS, useTestKeys } from '../../lib/storage/object-store/testing/s3-server.ts';
import type { BarName } from './bars.ts';
import { createAsk, timed } from './measure.ts';
import { cpuOf } from './processes.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { execIn, freezeSandbox, makeSandbox, NOTE, poolReady } from './sandboxes.ts';
import { type Running, startAll, startWinterdock } from './server.ts';
import { ratioOf, type Slices } from './statistics.ts';

const MIB = 1024 * 1024;
/** What the bar of a thaw is made of. */
const OF_DOWNLOAD = 1.5;
const OF_WAKE = 1.2;
const HOT = 'hot';
const SMALL = 'small';
/** In which the worker that was started in place of the last one is done with its rehearsal, and a freeze's check. */
const REST_MS = 300;
const EXCLUDES = {
  download: 'anything but one request: no row, no worker, no access check.',
  local: 'a store: its file is renamed.',
  thaw: 'a network: the store is a process of this machine, which shares its processors.',
  cached: 'a file that the cache gave up.',
  hot: 'a store that is slower than this machine.',
};

export interface StoreSizes {
  /** Mebibytes of each sandbox, and how often it is thawed. */
  thaws: readonly { mebibytes: number; rounds: number }[];
  /** Wakes of a sandbox of 1 MiB from the cache, beside those without a store. */
  cachedWakes: number;
  /** Of the sandbox that is frozen beside a hot one. */
  freeze: { mebibytes: number; rounds: number };
}

export async function measureStore({ thaws, cachedWakes, freeze }: StoreSizes): Promise<PartResult> {
  const forget = useTestKeys();
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-bench-store-'));
  const store = await startS3Server();
  const client = new S3Client({ endpoint: store.endpoint, region: 'us-east-1', forcePathStyle: true });
  const keys = { AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey, AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey };
  const cold = { WB_COLD_URL: 's3://bucket/bench', WB_STORE_ENDPOINT: store.endpoint, ...keys };
  const [server, local] = await startAll([startWinterdock(cold), startWinterdock()]);
  const result: PartResult = { series: [], figures: [] };

  const send = async (mebibytes: number) => {
    const file = join(folder, 'sent');
    writeFileSync(file, Buffer.alloc(mebibytes * MIB, randomBytes(MIB)));
    await sendBare(store.endpoint, `bare-${mebibytes}`, file);
  };
  /** The floor of a thaw: to a file that is hashed and on disk. */
  const receive = async (mebibytes: number) => {
    const file = join(folder, 'received');
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key: `bare-${mebibytes}` }));
    const hash = createHash('sha256');
    const hashed = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        hash.update(piece);
        yield piece;
      }
    };
    await pipeline(Body as Readable, hashed, createWriteStream(file));
    const handle = await open(file, 'r');
    await handle.sync();
    await handle.close();
    hash.digest();
    rmSync(file);
  };
  const wake = async (of: Running, id: string) => {
    await poolReady(of);
    await setTimeout(REST_MS);
    return timed(async () => {
      if ((await execIn(of, id, 'cat note')) !== NOTE) throw new Error(`The note of ${id} is gone.`);
    });
  };
  /** Milliseconds on a processor that each wake took a server. */
  const onProcessor = { local: [] as number[][], cached: [] as number[][] };
  const counted = async (name: 'local' | 'cached', of: Running, round: number) => {
    await freezeSandbox(of, SMALL);
    await poolReady(of);
    await setTimeout(REST_MS);
    const before = cpuOf(of.pid);
    const took = await timed(() => execIn(of, SMALL, 'cat note'));
    if (round >= 0) onProcessor[name].push([cpuOf(of.pid) - before]);
    return [took];
  };

  try {
    for (const { mebibytes, rounds } of thaws) {
      const id = `box-${mebibytes}`;
      await send(mebibytes);
      for (const one of [server, local]) await makeSandbox(one, id, { mebibytes });
      const found = await roundRobin(rounds, {
        download: async () => [await timed(() => receive(mebibytes))],
        local: async () => {
          await freezeSandbox(local, id);
          return [await wake(local, id)];
        },
        thaw: async () => {
          await freezeSandbox(server, id);
          rmSync(join(server.folder, 'cold', `${id}.sqlite`));
          return [await wake(server, id)];
        },
      });
      addThaw(result, `${mebibytes} MiB`, found);
    }
    for (const one of [server, local]) await makeSandbox(one, SMALL, { mebibytes: 1 });
    const wakes = await roundRobin(cachedWakes, {
      local: (round) => counted('local', local, round),
      cached: (round) => counted('cached', server, round),
    });
    addCached(result, wakes, onProcessor);
    const id = 'large';
    await makeSandbox(server, HOT);
    await makeSandbox(server, id, { mebibytes: freeze.mebibytes });
    const file = join(folder, 'sent');
    writeFileSync(file, Buffer.alloc(freeze.mebibytes * MIB, randomBytes(MIB)));
    const beside = await roundRobin(freeze.rounds, {
      upload: () => callsDuring(server, () => sendBare(store.endpoint, 'bare-beside', file)),
      freeze: async (round) => {
        // What has not changed is stored already.
        await execIn(server, id, `echo ${round} >> changed`);
        return callsDuring(server, () => freezeSandbox(server, id));
      },
    });
    addFreeze(result, `${freeze.mebibytes} MiB`, beside);
    return result;
  } finally {
    client.destroy();
    for (const one of [server, local]) await one.stop();
    await store.stop();
    forget();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A connection of its own: on one they would wait for each other. */
const ask = createAsk();

/** Times of calls of the hot sandbox, one after the other, while `work` runs. */
async function callsDuring(server: Running, work: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) samples.push(await timed(() => execIn(server, HOT, 'true', ask)));
  await working;
  return samples;
}

/** Sends a file by a process of its own, as whoever has no server would. */
async function sendBare(endpoint: string, key: string, file: string): Promise<void> {
  const script = join(import.meta.dirname, 'bare-store-client.ts');
  const child = spawn(process.execPath, ['--no-warnings', script, endpoint, key, file], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The bare client ended with ${code}.`);
}

type Thaws = Record<'download' | 'local' | 'thaw', Slices>;
type Wakes = Record<'local' | 'cached', Slices>;

function addThaw({ series, figures }: PartResult, size: string, found: Thaws): void {
  const names = {
    download: `${size}: a bare client’s download, hashed and synced`,
    local: `${size}: first exec, frozen, without a store`,
    thaw: `${size}: first exec, frozen, its file only in the store`,
  };
  const bar = found.download.map((slice, at) =>
    slice.map((took, n) => OF_DOWNLOAD * took + OF_WAKE * (found.local[at]?.[n] ?? 0)),
  );
  figures.push(
    figureOf(`${size}: thaw / (1.5 × download + 1.2 × local wake)`, ratioOf(found.thaw, bar), {
      ...{ unit: '×', bar: 'store: thaw over its parts', excludes: EXCLUDES.thaw },
    }),
  );
  series.push(
    seriesOf(names.download, found.download, { excludes: EXCLUDES.download }),
    seriesOf(names.local, found.local, { excludes: EXCLUDES.local }),
    seriesOf(names.thaw, found.thaw, { floor: names.download, excludes: EXCLUDES.thaw }),
  );
}

function addCached({ series, figures }: PartResult, wakes: Wakes, onProcessor: Wakes): void {
  const add = (of: string, bar: BarName, { local, cached }: Wakes) => {
    const without = `${of}, without a store`;
    figures.push(
      figureOf(`${of}: from the cache / without a store`, ratioOf(cached, local), {
        ...{ unit: '×', bar, excludes: EXCLUDES.cached },
      }),
    );
    series.push(
      seriesOf(without, local, { excludes: EXCLUDES.local }),
      seriesOf(`${of}, from the cache`, cached, { floor: without, excludes: EXCLUDES.cached }),
    );
  };
  add('first exec of a frozen 1 MiB', 'store: cached wake', wakes);
  add('processor time of the server for it', 'store: processor time of a cached wake', onProcessor);
}

function addFreeze({ series, figures }: PartResult, size: string, found: Record<'upload' | 'freeze', Slices>): void {
  const names = {
    upload: `hot exec beside a bare client’s upload of ${size}`,
    freeze: `hot exec beside a freeze of ${size} into the store`,
  };
  const p99 = (slices: Slices): Slices =>
    slices.map((slice) => [slice.toSorted((one, other) => one - other)[Math.floor(slice.length * 0.99)] ?? 0]);
  figures.push(
    figureOf('hot exec beside a freeze / beside a bare upload, p99', ratioOf(p99(found.freeze), p99(found.upload)), {
      ...{ unit: '×', bar: 'store: hot exec beside a freeze', excludes: EXCLUDES.hot },
    }),
  );
  series.push(
    seriesOf(names.upload, found.upload, { excludes: EXCLUDES.hot }),
    seriesOf(names.freeze, found.freeze, { floor: names.upload, excludes: EXCLUDES.hot }),
  );
}
