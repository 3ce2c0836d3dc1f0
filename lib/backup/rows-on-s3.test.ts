import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { makeBucket } from '../storage/object-store/testing/make-bucket.ts';
import { hasRadosgw, startRadosgw } from '../storage/object-store/testing/radosgw.ts';
import { connectionTo, startS3Server, TEST_KEYS, useTestKeys } from '../storage/object-store/testing/s3-server.ts';
import { olderFromTheStore, RowsStage, wholeFromTheStore } from './testing/rows-stage.ts';

interface Server {
  endpoint: string;
  stop(): Promise<void>;
}

const SERVERS: [string, boolean, () => Promise<Server>][] = [
  ['a server that gives three names a page', true, () => startS3Server({ pageSize: 3 })],
  [
    'a server that keeps versions',
    true,
    () => startS3Server({ pageSize: 3, buckets: { bucket: { versioning: 'Enabled' } } }),
  ],
  [
    'radosgw (where its programs are installed)',
    hasRadosgw(),
    async () => {
      const server = await startRadosgw();
      await makeBucket(server.endpoint, 'bucket');
      return server;
    },
  ],
];

describe.each(SERVERS)('rows from a store on %s', (_name, isHere, open) => {
  let server: Server;
  let forget: () => void;
  let stage: RowsStage;
  let places = 0;
  beforeAll(async () => {
    if (!isHere) return;
    forget = useTestKeys();
    server = await open();
  });
  afterAll(async () => {
    if (!isHere) return;
    forget();
    await server.stop();
  });
  beforeEach(() => {
    places += 1;
    stage = new RowsStage(() => ({
      WB_COLD_URL: `s3://bucket/rows/of-${places}`,
      WB_STORE_ENDPOINT: server.endpoint,
      WB_STORE_REGION: 'us-east-1',
      // A server reads them from its environment, for the process that transfers files.
      AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey,
      AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey,
    }));
  });
  afterEach(() => stage.end());

  test.skipIf(!isHere)('an empty machine and one command: what was stored is whole', async () => {
    await wholeFromTheStore(stage);
  });

  test.skipIf(!isHere)('of what the store lost or changed the object before is taken', async () => {
    const objects = await openObjectStore(stage.url, connectionTo(server.endpoint));
    await olderFromTheStore(stage, objects);
    await objects.close();
  });

  test.skipIf(!isHere)(
    'a prefix that nobody claimed, and keys that the server does not know, are refused',
    async () => {
      const none = stage.restore('--dry-run');
      expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('no backup')]);
      const refused = stage.restoreWith({ AWS_SECRET_ACCESS_KEY: 'another+secret' }, '--dry-run');
      expect([refused.status, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toMatch(/refuses/);
      expect(refused.stderr).not.toContain('another+secret');
    },
  );
});
