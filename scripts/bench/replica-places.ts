/** Where the benchmarks of the replica put it: into a folder, and into a store that is far away. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '../../lib/storage/object-store/open-store.ts';
import {
  connectionTo,
  startS3Server,
  TEST_KEYS,
  useTestKeys,
} from '../../lib/storage/object-store/testing/s3-server.ts';
import { must } from './measure.ts';
import { KEY, type Running } from './server.ts';

/** Milliseconds that the store is away. */
const AWAY_MS = 50;
const POLL_MS = 50;
/** Objects that are copied at the same time. */
const COPIES = 64;

export const PLACES = { folder: 'to a folder', store: `to a store ${AWAY_MS} ms away` } as const;
export type PlaceName = keyof typeof PLACES;
export const PLACE_NAMES = Object.keys(PLACES) as PlaceName[];

export interface Places {
  /** Origin of the store. */
  endpoint: string;
  /** Settings with which a server has its replica there, apart from that of any other `name`. */
  settings(place: PlaceName, name: string): Record<string, string>;
  /** Where the folder has what is under a name; absolute. */
  folderOf(name: string): string;
  /** Puts into the store what the folder has under a name. */
  copyToStore(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function openPlaces(): Promise<Places> {
  const forget = useTestKeys();
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-bench-replica-'));
  const store = await startS3Server({ delayMs: AWAY_MS });
  const places: Places = {
    endpoint: store.endpoint,
    settings(place, name): Record<string, string> {
      if (place === 'folder') return { WB_REPLICA_URL: pathToFileURL(join(folder, name)).href };
      return {
        WB_REPLICA_URL: `s3://bucket/${name}`,
        WB_STORE_ENDPOINT: store.endpoint,
        AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey,
        AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey,
      };
    },
    folderOf: (name) => join(folder, name),
    async copyToStore(name) {
      const open = (place: PlaceName) =>
        openObjectStore(places.settings(place, name).WB_REPLICA_URL ?? '', connectionTo(store.endpoint));
      const [from, to] = [await open('folder'), await open('store')];
      for await (const page of from.list('')) {
        const left = page.values();
        const copy = async () => {
          for (const { name: object } of left) await to.upload(object, join(folder, name, object));
        };
        await Promise.all(Array.from({ length: COPIES }, copy));
      }
      await Promise.all([from.close(), to.close()]);
    },
    async stop() {
      await store.stop();
      forget();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return places;
}

/** Resolves once the replica has everything of a sandbox, which commits nothing meanwhile. */
export async function untilShipped(server: Running, id: string): Promise<void> {
  for (;;) {
    const { body } = await must('GET', `${server.url}/api/instances/${id}`, KEY);
    const { at, behind_s } = JSON.parse(body.toString()).recovery_point;
    if (at !== null && behind_s === 0) return;
    await setTimeout(POLL_MS);
  }
}
