/** For drills: where the replica is. A store is our own server, far away or behind a network that breaks. */
import { type Fault, type FaultProxy, startFaultProxy } from '../storage/object-store/testing/fault-proxy.ts';
import { startS3Server, TEST_KEYS } from '../storage/object-store/testing/s3-server.ts';

export const DRILL_STORES = ['folder', 's3', 'away', 'disturbed'] as const;
export type DrillStoreName = (typeof DRILL_STORES)[number];

/** What a store that is away adds to each answer, in milliseconds. */
const AWAY_MS = 50;
/** Of a hundred requests so many go wrong, in any way but a lie. */
const DISTURBED_PERCENT = 10;
const BROKEN: readonly Fault[] = ['reset', 'error500', 'error503', 'slowDown', 'cutRequest', 'lostAnswer', 'cutAnswer'];

export interface DrillStore {
  /** Settings of the server and of the restore. */
  settings: Record<string, string>;
  /** Requests that went wrong so far. */
  readonly faults: number;
  /** Nothing goes wrong any more. */
  calm(): void;
  stop(): Promise<void>;
}

/** `draw`: a number from 0 up to 1, the next one at each call. Null for a folder, which needs nothing. */
export async function openDrillStore(name: DrillStoreName, draw: () => number): Promise<DrillStore | null> {
  if (name === 'folder') return null;
  const server = await startS3Server(name === 'away' ? { delayMs: AWAY_MS } : {});
  let proxy: FaultProxy | null = null;
  if (name === 'disturbed') {
    proxy = await startFaultProxy(server.endpoint, draw);
    proxy.disturb(DISTURBED_PERCENT, BROKEN);
  }
  return {
    settings: {
      WB_REPLICA_URL: 's3://bucket/drill',
      WB_STORE_ENDPOINT: proxy?.endpoint ?? server.endpoint,
      AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey,
      AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey,
    },
    get faults() {
      return [...(proxy?.counts.values() ?? [])].reduce((sum, count) => sum + count, 0);
    },
    calm: () => proxy?.disturb(0),
    async stop() {
      await proxy?.stop();
      await server.stop();
    },
  };
}
