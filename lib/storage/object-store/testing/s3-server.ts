/** Starts a small server that speaks S3, strictly: signatures, checksums, conditions, versions and locks. For tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { StoreConnection } from '../../../base/store-url.ts';
import type { BucketOptions } from './s3-objects.ts';

export interface S3ServerOptions {
  accessKey: string;
  secretKey: string;
  buckets: Record<string, BucketOptions>;
  /** Entries of a page of a list; 1000 by default. */
  pageSize?: number;
  /** The rules of all buckets, as XML. */
  lifecycle?: string;
  /** Milliseconds for which each answer is held back, as a network between would; none by default. */
  delayMs?: number;
}

export interface S3Server {
  /** Its origin. */
  endpoint: string;
  pid: number;
  stop(): Promise<void>;
}

/** The keys of every server in tests; their values are looked for where no secret may be. */
export const TEST_KEYS = { accessKey: 'WINTERTESTKEY0001', secretKey: 'winter+test/secret/0123456789abcdef' };

/** Has the SDK of this process find the keys, as a server does. Returns the way back. */
export function useTestKeys(): () => void {
  const before = { id: process.env.AWS_ACCESS_KEY_ID, secret: process.env.AWS_SECRET_ACCESS_KEY };
  process.env.AWS_ACCESS_KEY_ID = TEST_KEYS.accessKey;
  process.env.AWS_SECRET_ACCESS_KEY = TEST_KEYS.secretKey;
  return () => {
    restore('AWS_ACCESS_KEY_ID', before.id);
    restore('AWS_SECRET_ACCESS_KEY', before.secret);
  };
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** How a store on such a server is opened. */
export function connectionTo(endpoint: string): StoreConnection {
  const credentials = { AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey, AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey };
  return { endpoint, region: 'us-east-1', pathStyle: true, encryption: null, credentials };
}

/** Starts one as a process of its own, with an empty bucket `bucket` unless `options` have others. */
export async function startS3Server(options: Partial<S3ServerOptions> = {}): Promise<S3Server> {
  const all: S3ServerOptions = { ...TEST_KEYS, buckets: { bucket: {} }, ...options };
  const file = join(import.meta.dirname, 's3-server-process.ts');
  const server = spawn(process.execPath, [file, JSON.stringify(all)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { NODE_ENV: 'test' },
  });
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  return {
    endpoint: `http://127.0.0.1:${line.toString().trim()}`,
    pid: server.pid ?? 0,
    async stop() {
      if (server.exitCode !== null) return;
      const ended = once(server, 'exit');
      server.stdin.end();
      await ended;
    },
  };
}
