import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ObjectStore } from './object-store.ts';
import { openObjectStore } from './open-store.ts';
import { loadS3 } from './s3-client.ts';
import { copyInParts } from './s3-copy.ts';
import { objectMetadata } from './s3-place.ts';
import { drawnBytes, objectStoreContract, sha256 } from './testing/contract-suite.ts';
import {
  connectionTo,
  type S3Server,
  type S3ServerOptions,
  startS3Server,
  TEST_KEYS,
  useTestKeys,
} from './testing/s3-server.ts';

const servers: S3Server[] = [];
const stores: ObjectStore[] = [];
let forget: () => void;
beforeAll(() => {
  forget = useTestKeys();
});
afterAll(async () => {
  forget();
  for (const store of stores) await store.close();
  for (const server of servers) await server.stop();
});

async function start(options?: Partial<S3ServerOptions>): Promise<S3Server> {
  const server = await startS3Server(options);
  servers.push(server);
  return server;
}
async function open(server: S3Server, url = `s3://bucket/${randomUUID()}`): Promise<ObjectStore> {
  const store = await openObjectStore(url, connectionTo(server.endpoint));
  stores.push(store);
  return store;
}

describe('a store on a server that speaks S3', () => {
  objectStoreContract(async () => open(await start({ pageSize: 7 }), 's3://bucket/some/prefix'));
});

test('two prefixes of one bucket see nothing of each other', async () => {
  const server = await start();
  const [one, other] = [await open(server, 's3://bucket/one'), await open(server, 's3://bucket/one-more')];
  await one.put('a', Buffer.from('one'));
  await other.put('a', Buffer.from('other'));
  const names = [];
  for await (const page of one.list('')) names.push(...page.map(({ name }) => name));
  expect(names).toEqual(['a']);
  await other.remove('a');
  expect(Buffer.from(await one.get('a')).toString()).toBe('one');
});

describe('versions', () => {
  test('go with their markers when a name is purged, and the names beside it stay', async () => {
    const store = await open(await start({ buckets: { bucket: { versioning: 'Enabled' } }, pageSize: 2 }));
    for (const text of ['one', 'two', 'three']) await store.put('a', Buffer.from(text));
    await store.put('a.row.json', Buffer.from('row'));
    await store.remove('a');
    expect(await store.head('a')).toBeNull();
    expect(await store.purge('a')).toEqual({ remainsUntil: null });
    expect(Buffer.from(await store.get('a.row.json')).toString()).toBe('row');
    expect(await store.traits()).toMatchObject({ versioning: 'on', remove: true, lockDays: 0 });
  });

  test('under a lock remain, and purging says until when', async () => {
    const store = await open(await start({ buckets: { bucket: { versioning: 'Enabled', lockDays: 30 } } }));
    await store.put('a', Buffer.from('one'));
    const { remainsUntil } = await store.purge('a');
    const days = ((remainsUntil ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThan(30.1);
    expect(await store.traits()).toMatchObject({ lockDays: 30, versioning: 'on' });
  });
});

test('rules of the bucket that remove objects of this prefix are told, and others are not', async () => {
  const rule = (id: string, prefix: string, what: string) =>
    `<Rule><ID>${id}</ID><Status>Enabled</Status><Filter><Prefix>${prefix}</Prefix></Filter>${what}</Rule>`;
  const lifecycle = [
    rule('all', '', '<Expiration><Days>90</Days></Expiration>'),
    rule('elsewhere', 'logs/', '<Expiration><Days>1</Days></Expiration>'),
    rule(
      'unfinished',
      '',
      '<AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
    ),
    rule('cold', 'mine/drawers/', '<Transition><Days>9</Days><StorageClass>GLACIER</StorageClass></Transition>'),
  ].join('');
  const store = await open(await start({ lifecycle }), 's3://bucket/mine');
  const { expiry } = await store.traits();
  expect(expiry).toEqual(['rule "all" removes objects: 90 days', 'rule "cold" moves objects to GLACIER']);
});

describe('a store that is away', () => {
  const away = (reason: string) => ({ code: 'storage_unavailable', extra: { away: reason }, retryAfterSeconds: 5 });

  test('is no missing object: without its bucket, without rights, without a server', async () => {
    const server = await start();
    const noBucket = await open(server, 's3://no-bucket/prefix');
    for (const method of [
      () => noBucket.get('a'),
      () => noBucket.head('a'),
      () => noBucket.put('a', Buffer.from('x')),
    ]) {
      await expect(method()).rejects.toMatchObject(away('no_bucket'));
    }
    const other = await start({ secretKey: 'another secret' });
    const refused = await open(other);
    for (const method of [() => refused.get('a'), () => refused.head('a'), () => refused.remove('a')]) {
      await expect(method()).rejects.toMatchObject(away('refused'));
    }
    const gone = await open(server);
    await server.stop();
    for (const method of [() => gone.get('a'), () => gone.head('a'), () => gone.copy('a', 'b')]) {
      await expect(method()).rejects.toMatchObject(away('unreachable'));
    }
  });

  test('says so without the keys', async () => {
    const refused = await open(await start({ secretKey: 'another secret' }));
    const error = await refused.get('a').catch((one: unknown) => one);
    const { message, hint } = error as { message: string; hint: string };
    expect(`${message} ${hint}`).not.toContain(TEST_KEYS.secretKey);
    expect(`${message} ${hint}`).not.toContain(TEST_KEYS.accessKey);
  });
});

test('a killed upload leaves parts, which purging its name removes and purging another does not', async () => {
  const server = await start();
  const store = await open(server, 's3://bucket/mine');
  const { S3Client, CreateMultipartUploadCommand, ListMultipartUploadsCommand } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true });
  for (const Key of ['mine/a', 'mine/a', 'mine/ab', 'other']) {
    await client.send(new CreateMultipartUploadCommand({ Bucket: 'bucket', Key }));
  }
  expect(await store.purge('a')).toEqual({ remainsUntil: null });
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'bucket' }));
  expect(Uploads.map(({ Key }) => Key).toSorted()).toEqual(['mine/ab', 'other']);
  client.destroy();
});

test('an object that is too large for one request is copied in parts, and a missing one leaves none', async () => {
  const server = await start();
  const connection = connectionTo(server.endpoint);
  const store = await open(server, 's3://bucket/mine');
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-s3-'));
  const content = drawnBytes(12 * 1024 * 1024 + 3, 9);
  const path = join(folder, 'large');
  writeFileSync(path, content);
  await store.upload('a', path);
  const place = {
    ...(await loadS3(connection)),
    bucket: 'bucket',
    key: (name: string) => `mine/${name}`,
    encryption: {},
  };
  const metadata = objectMetadata('b', sha256(content));
  await copyInParts(place, { from: 'a', to: 'b', bytes: content.length, metadata }, {}, 5 * 1024 * 1024);
  await store.download('b', join(folder, 'back'), { sha256: sha256(content), bytes: content.length });
  const missing = copyInParts(place, { from: 'nothing', to: 'c', bytes: 10, metadata }, {}, 5 * 1024 * 1024);
  await expect(missing).rejects.toMatchObject({ code: 'missing_file' });
  const { Uploads = [] } = await place.client.send(new place.sdk.ListMultipartUploadsCommand({ Bucket: 'bucket' }));
  expect(Uploads).toEqual([]);
  place.client.destroy();
  rmSync(folder, { recursive: true });
});

test('an object that is stored with a time has it where Litestream looks, in one request and in parts', async () => {
  const server = await start();
  const store = await open(server, 's3://bucket/mine');
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-s3-'));
  const { S3Client, HeadObjectCommand } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true });
  for (const [name, bytes] of Object.entries({ small: 100, large: 6 * 1024 * 1024 })) {
    writeFileSync(join(folder, name), drawnBytes(bytes, 3));
    await store.upload(name, join(folder, name), { timeMs: 1_795_000_000_123 });
    const { Metadata } = await client.send(new HeadObjectCommand({ Bucket: 'bucket', Key: `mine/${name}` }));
    expect([name, Metadata?.['litestream-timestamp']]).toEqual([name, '2026-11-18T11:06:40.123Z']);
  }
  client.destroy();
  rmSync(folder, { recursive: true });
});
