import { afterAll, beforeAll, describe } from 'vitest';
import { openObjectStore } from './open-store.ts';
import { objectStoreContract } from './testing/contract-suite.ts';
import { makeBucket } from './testing/make-bucket.ts';
import { hasRadosgw, type Radosgw, startRadosgw } from './testing/radosgw.ts';
import { connectionTo, useTestKeys } from './testing/s3-server.ts';

let server: Radosgw;
let forget: () => void;

describe.skipIf(!hasRadosgw())('a store on radosgw (where its programs are installed)', () => {
  beforeAll(async () => {
    forget = useTestKeys();
    server = await startRadosgw();
    await makeBucket(server.endpoint, 'bucket');
  });
  afterAll(async () => {
    forget();
    await server?.stop();
  });

  objectStoreContract(() => openObjectStore('s3://bucket/some/prefix', connectionTo(server.endpoint)));
});
