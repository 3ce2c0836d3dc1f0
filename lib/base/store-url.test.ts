import { describe, expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { parseStoreUrl } from './store-url.ts';

describe('the URL of a store', () => {
  test('is a folder, or a bucket with a prefix', () => {
    expect(parseStoreUrl('file:///mnt/a%20store/')).toEqual({
      ...{ driver: 'file', folder: '/mnt/a store', url: 'file:///mnt/a%20store' },
    });
    expect(parseStoreUrl('S3://bucket/one/two/')).toEqual({
      ...{ driver: 's3', bucket: 'bucket', prefix: 'one/two/', url: 's3://bucket/one/two' },
    });
    expect(parseStoreUrl('s3://bucket')).toMatchObject({ prefix: '', url: 's3://bucket' });
  });

  test.each([
    's3://key:hunter22@bucket/prefix',
    's3://hunter22@bucket',
    's3://bucket/prefix?secret=hunter22',
    's3://bucket/prefix#hunter22',
    's3://bucket/../hunter22',
    's3://bucket//hunter22',
    's3://bucket/hunter22 ',
    's3://BUCKET-hunter22',
    's3://hunter22%2Fa',
    'file://host/hunter22',
    'file:///hunter22?a',
    'file:///hunter22%zz',
    'file:///hunter22%00',
    'file:///',
    '/hunter22',
    'hunter22',
    'https://key:hunter22@s3.example.org/bucket',
    '',
  ])('is not %s, and the message does not repeat it', (text) => {
    expect(() => parseStoreUrl(text)).toThrow(/^must be s3:\/\/BUCKET\/PREFIX or file:\/\/\/FOLDER: /);
    expect(messageAt(() => parseStoreUrl(text))).not.toContain('hunter22');
  });
});

function messageAt(work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    return String(error);
  }
}

describe('the settings of the store', () => {
  test('have defaults that leave files on this machine', () => {
    expect(readConfig({}).store).toEqual({
      cold: null,
      connection: {
        ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
      },
      cacheBytes: 10 * 1024 ** 3,
      ack: 'stored',
      isLeaving: false,
      replica: null,
      replicate: '1s',
      replicaKeeps: {
        commitsMs: 86_400_000,
        minutesMs: 7 * 86_400_000,
        hoursMs: 30 * 86_400_000,
        filingsMs: 365 * 86_400_000,
      },
      spoolBytes: 1024 ** 3,
      momentBytes: 2 * 1024 ** 3,
    });
  });

  test('say where it is and how it is spoken to; a server of one’s own has the bucket in the path', () => {
    const { store } = readConfig({
      WB_COLD_URL: 's3://bucket/prefix',
      WB_STORE_ENDPOINT: 'http://127.0.0.1:9000/',
      WB_STORE_ENCRYPTION: 'aws:kms:alias/winter',
      WB_STORE_CACHE: '0',
      WB_STORE_ACK: 'queued',
      AWS_REGION: 'eu-north-1',
      AWS_ACCESS_KEY_ID: 'key',
      WB_ADMIN_KEY: 'x'.repeat(16),
      PATH: '/bin',
    });
    expect(store).toMatchObject({
      cold: { driver: 's3', bucket: 'bucket' },
      connection: {
        endpoint: 'http://127.0.0.1:9000',
        region: 'eu-north-1',
        pathStyle: true,
        encryption: { algorithm: 'aws:kms', key: 'alias/winter' },
      },
      ...{ cacheBytes: 0, ack: 'queued' },
    });
    expect(store.connection.credentials).toEqual({ AWS_REGION: 'eu-north-1', AWS_ACCESS_KEY_ID: 'key' });
    const own = { WB_STORE_ENDPOINT: 'https://s3.example.org', WB_STORE_PATH_STYLE: '0' };
    expect(readConfig(own).store.connection.pathStyle).toBe(false);
  });

  test('that are wrong stop the start without a word of what was given', () => {
    const refused = { code: 'validation', extra: { start_refused: 'store_url' } };
    expect(() => readConfig({ WB_COLD_URL: 's3://key:hunter22@bucket' })).toThrow(expect.objectContaining(refused));
    for (const [name, value] of Object.entries({
      WB_COLD_URL: 's3://key:hunter22@bucket',
      WB_STORE_ENDPOINT: 'https://key:hunter22@s3.example.org',
    })) {
      const message = messageAt(() => readConfig({ [name]: value }));
      expect(message).toContain(`${name}=(hidden): must be`);
      expect(message).not.toContain('hunter22');
    }
    for (const wrong of [
      { WB_STORE_ENDPOINT: 'https://s3.example.org/path' },
      { WB_STORE_ENDPOINT: 'ftp://s3.example.org' },
      { WB_STORE_REGION: 'a b' },
      { WB_STORE_CACHE: '-1' },
      { WB_STORE_CACHE: '10G' },
      { WB_STORE_ACK: 'never' },
      { WB_STORE_ENCRYPTION: 'rot13' },
      { WB_REPLICATE: 'sync' },
      { WB_REPLICATE: '3601s' },
      { WB_REPLICA_SPOOL: '1G' },
      { WB_REPLICA_RETENTION: 'minutes=1h' },
    ]) {
      expect(() => readConfig(wrong)).toThrow('Wrong settings');
    }
  });
});
