/** What ships segments to a store that is a server, with bundles, for tests. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../base/log.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { connectionTo, type S3Server } from '../../storage/object-store/testing/s3-server.ts';
import { lackingInLevels, mergeLacking } from '../levels/bundle-cover.ts';
import { SegmentLevels } from '../levels/segment-levels.ts';
import { Cutter } from '../log/cutter.ts';
import { findMoment } from '../moments/replica-reader.ts';
import { restoreSound } from '../moments/restore-sound.ts';
import { TenantBundles } from '../segment-bundles/bundle-reader.ts';
import { BundleWriter } from '../segment-bundles/bundle-writer.ts';
import { MinuteBundles } from '../segment-bundles/minute-bundles.ts';
import { ReplicaTraffic } from '../shipping/replica-traffic.ts';
import { SegmentUploads } from '../shipping/segment-uploads.ts';
import { MadeSegments } from './made-segments.ts';

export interface BundlingStage {
  /** Absolute. */
  folder: string;
  store: ObjectStore;
  made: MadeSegments;
  cutter: Cutter;
  /** Of the segments' times, in epoch milliseconds. */
  clock: { now: () => number; at: number };
  /** What the store was asked for, as `verb name`. */
  asked: string[];
  levels: SegmentLevels;
  bundles: BundleWriter;
  minutes: MinuteBundles;
  uploads: SegmentUploads;
  traffic: ReplicaTraffic;
  /** Names in the store that begin like this, in order. */
  names(prefix?: string): Promise<string[]>;
  /** Ships the next segment of each sandbox, and waits. */
  ship(tenants: Record<string, readonly string[]>): Promise<void>;
  /** The file of a sandbox at a time (now without one), as a restore makes it; null: there is none. */
  restored(
    tenant: string,
    id: string,
    atMs?: number,
  ): Promise<{ bytes: Buffer; timeMs: number; isShort: boolean } | null>;
  /** Another process begins, as after a kill. */
  restart(): Promise<void>;
  /** Merges what is of minutes that are over. */
  merge(): Promise<void>;
  close(): Promise<void>;
}

/** `change` may fail, at each request. `mostAlone`: sandboxes whose minutes lie by themselves; those of more do not. */
export async function bundlingStage(
  server: Pick<S3Server, 'endpoint'>,
  place: string,
  {
    isBundling = true,
    change = () => undefined,
    mostAlone = 60,
  }: { isBundling?: boolean; change?: (op: string, name: string) => void; mostAlone?: number } = {},
): Promise<BundlingStage> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-bundles-'));
  const asked: string[] = [];
  const real = await openObjectStore(`s3://bucket/${place}`, connectionTo(server.endpoint));
  const store = watched(real, (op, name) => {
    asked.push(`${op} ${name}`);
    change(op, name);
  });
  const clock = { at: Date.now(), now: () => clock.at };
  const log = createLogger('silent');
  const cutter = new Cutter();
  let restores = 0;
  const begin = () => {
    const traffic = new ReplicaTraffic(() => performance.now());
    const bundles: BundleWriter = new BundleWriter({
      ...{ store, folder: join(folder, 'bundles'), clock, log, term: 1 },
      lacking: (...of) => lackingInLevels(store, ...of),
      merge: (segments) => mergeLacking(levels, segments),
    });
    const minutes = new MinuteBundles({ bundles, traffic, gatherMs: 300 });
    const levels: SegmentLevels = new SegmentLevels({
      ...{ folder: join(folder, 'levels'), store, cutter, clock, log, traffic, keptBytes: 2 ** 26, againMs: 1 },
      ...{ minutes, mostAlone },
      onMerged: (segments) => bundles.merged(segments),
    });
    const uploads = new SegmentUploads({
      ...{ store, log, levels, traffic, isBack: async () => true },
      ...(isBundling && { bundles }),
    });
    return { traffic, levels, bundles, minutes, uploads };
  };
  const stage: BundlingStage = {
    ...{ folder, store, made: new MadeSegments(join(folder, 'spool')), cutter, clock, asked },
    ...begin(),
    async names(prefix = '') {
      const found: string[] = [];
      for await (const page of real.list(prefix)) found.push(...page.map(({ name }) => name));
      return found.sort();
    },
    async ship(tenants) {
      for (const [tenant, ids] of Object.entries(tenants)) {
        for (const id of ids) {
          stage.bundles.note(id, tenant);
          stage.uploads.add(await stage.made.next(id, stage.clock.at));
        }
      }
      await Promise.all(Object.values(tenants).flatMap((ids) => ids.map((id) => stage.uploads.whenShipped(id))));
    },
    async restored(tenant, id, atMs) {
      const own = new TenantBundles(store, tenant, { nowMs: clock.now });
      const found = await findMoment(store, id, atMs ?? null, own);
      if (found === null) return null;
      restores += 1;
      const target = join(folder, `restored-${restores}`);
      const how = { target, tmp: join(folder, `tmp-${restores}`) };
      const { moment } = await restoreSound(store, { id, atMs: atMs ?? null, bundles: own }, found, how);
      return { bytes: readFileSync(target), timeMs: moment.timeMs, isShort: moment.isShort };
    },
    async restart() {
      await stage.uploads.stop();
      await stage.bundles.stop();
      await stage.minutes.stop();
      await stage.levels.stop();
      Object.assign(stage, begin());
      await stage.levels.prepare();
      await stage.bundles.prepare();
    },
    async merge() {
      stage.levels.look();
      // What failed is tried again at a look.
      const looking = setInterval(() => stage.levels.look(), 20);
      await stage.levels.whenMerged().finally(() => clearInterval(looking));
    },
    async close() {
      await stage.uploads.stop();
      await stage.bundles.stop();
      await stage.minutes.stop();
      await stage.levels.stop();
      await cutter.close();
      await real.close();
      rmSync(folder, { recursive: true });
    },
  };
  await stage.levels.prepare();
  await stage.bundles.prepare();
  return stage;
}

/** A store that tells what it is asked for before it answers, and what has arrived. */
function watched(store: ObjectStore, tell: (op: string, name: string) => void): ObjectStore {
  return new Proxy(store, {
    get(target, key) {
      const own = target[key as keyof ObjectStore];
      if (typeof own !== 'function') return own;
      if (key === 'list') {
        return (...given: Parameters<ObjectStore['list']>) => {
          tell('list', given[0]);
          return target.list(...given);
        };
      }
      return async (...given: unknown[]) => {
        tell(String(key), String(given[0]));
        const answer = await (own as (...all: unknown[]) => unknown).apply(target, given);
        if (key === 'upload') tell('uploaded', String(given[0]));
        return answer;
      };
    },
  });
}
