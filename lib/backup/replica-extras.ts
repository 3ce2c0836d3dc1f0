/**
 * What a replica has beside the segments: the files of snapshots and blueprints, by their hash, and the key files,
 * encrypted where there is a passphrase. Owns the names and the document of the keys.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { CopyKind } from '../base/copy-paths.ts';
import { isWinterdockError } from '../base/errors.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

const KEYS = 'replica/_keys/';
const KEYS_NAME = /^replica\/_keys\/([0-9a-z]{9})-[0-9a-f]{12}\.json$/;
/** Milliseconds since the epoch as digits of base 36, which sort as they grow. */
const TIME_DIGITS = 9;

const keysSchema = z.object({
  form: z.literal(1),
  /** Names of the key files. */
  files: z.array(z.string().max(200)).max(1000),
  /** Whose signatures the key for signing makes. */
  issuer: z.string().max(200),
  /** The key files, encrypted by `encryptKeys`, in base64; null without a passphrase. */
  sealed: z.base64().nullable(),
});
type KeysDocument = z.infer<typeof keysSchema>;

export interface KeysInReplica extends Omit<KeysDocument, 'form' | 'sealed'> {
  sealed: Buffer | null;
}

/** Before the kind and the hash of each copy. */
export const COPIES_IN_REPLICA = 'replica/_copies/';

/** The name of the file of a snapshot or blueprint. What has it, has these bytes. */
export function copyInReplica(kind: CopyKind, hash: string): string {
  return `${COPIES_IN_REPLICA}${kind}/${hash}`;
}

/** Puts the key files as they are now beside those of before. Throws `storage_unavailable`. */
export async function putKeys(
  store: Pick<ObjectStore, 'put'>,
  { files, issuer, sealed }: KeysInReplica,
  nowMs: number,
): Promise<void> {
  const time = Math.floor(nowMs).toString(36).padStart(TIME_DIGITS, '0');
  const document: KeysDocument = { form: 1, files, issuer, sealed: sealed?.toString('base64') ?? null };
  await store.put(`${KEYS}${time}-${randomBytes(6).toString('hex')}.json`, Buffer.from(JSON.stringify(document)));
}

/**
 * The key files as they were at a time (epoch milliseconds), or the first after it; null: there are none. Documents
 * that are damaged, or of another version, are passed over, and named.
 */
export async function keysAt(
  store: Pick<ObjectStore, 'list' | 'get'>,
  atMs: number,
): Promise<{ keys: KeysInReplica | null; damaged: string[] }> {
  const found: { name: string; timeMs: number }[] = [];
  for await (const page of store.list(KEYS)) {
    for (const { name } of page) {
      const time = KEYS_NAME.exec(name)?.[1];
      if (time !== undefined) found.push({ name, timeMs: Number.parseInt(time, 36) });
    }
  }
  found.sort((one, other) => one.timeMs - other.timeMs);
  const damaged: string[] = [];
  const before = found.filter(({ timeMs }) => timeMs <= atMs);
  for (const { name } of [...before.toReversed(), ...found.slice(before.length)]) {
    try {
      const { sealed, ...rest } = keysSchema.parse(JSON.parse(Buffer.from(await store.get(name)).toString()));
      return { keys: { ...rest, sealed: sealed === null ? null : Buffer.from(sealed, 'base64') }, damaged };
    } catch (error) {
      if (isWinterdockError(error) && error.code === 'storage_unavailable') throw error;
      damaged.push(name);
    }
  }
  return { keys: null, damaged };
}
