/** Where a store is in its bucket, and what its objects carry. Sends nothing. */
import { createHash } from 'node:crypto';
import type { PutObjectCommandInput } from '@aws-sdk/client-s3';
import type { S3Access } from './s3-client.ts';
import { wrongBytes } from './store-errors.ts';

/** In the metadata of each object. */
const NAME_KEY = 'winterdock-name';
const HASH_KEY = 'winterdock-sha256';
/** Where Litestream looks for the time of a segment. */
const TIME_KEY = 'litestream-timestamp';

/** What all requests of a store have in common. */
export interface S3Place extends S3Access {
  readonly bucket: string;
  /** The whole key of a name. */
  key(name: string): string;
  /** Headers of each write: how the store encrypts. */
  readonly encryption: Partial<PutObjectCommandInput>;
}

/** As a header has it. */
export function md5Of(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('base64');
}

/** The metadata of an object. `sha256`: of its bytes, where it is known. `timeMs`: of what is stored. */
export function objectMetadata(name: string, sha256: string | null, timeMs?: number): Record<string, string> {
  return {
    [NAME_KEY]: name,
    ...(sha256 !== null && { [HASH_KEY]: sha256 }),
    ...(timeMs !== undefined && { [TIME_KEY]: new Date(timeMs).toISOString() }),
  };
}

/** The hash in the metadata; null where there is none. Throws `corrupt` for metadata of another object. */
export function hashIn(name: string, metadata: Record<string, string> | undefined): string | null {
  const of = metadata?.[NAME_KEY];
  if (of !== undefined && of !== name) throw wrongBytes(name, 'the store answers with another object');
  return metadata?.[HASH_KEY] ?? null;
}

/** A source of a copy, as S3 wants it. */
export function copySource({ bucket, key }: S3Place, name: string): string {
  return `${bucket}/${key(name).split('/').map(encodeURIComponent).join('/')}`;
}
