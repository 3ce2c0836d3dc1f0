/**
 * A backup as one tar file: its objects and, last, its manifest. It has a temporary name until it is complete.
 * Knows nothing of what is in an object.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack } from 'tar-stream';
import { makeFolder, removeTree, renameFile, syncFile, syncFolder, unlinkFile, writeStream } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { LOCK, lockTarget } from './folder-place.ts';
import { type BackupManifest, parseBackupManifest } from './manifest.ts';
import type { BackupTarget } from './store.ts';

const OBJECT = /^objects\/([0-9a-f]{64})$/;
const MANIFEST_NAME = 'manifest.json';
/** Largest manifest: one of a million sandboxes has some 400 MB. */
const MOST_MANIFEST_BYTES = 512 * 1024 * 1024;

/** Starts a backup to a file. An existing file is replaced when the new one is complete. */
export async function openTarTarget(path: string): Promise<BackupTarget> {
  const drafts = `${path}.unfinished`;
  const unfinished = join(drafts, 'tar');
  await makeFolder(drafts);
  const unlock = lockTarget(drafts);
  // Of one that was killed.
  for (const name of readdirSync(drafts)) if (name !== LOCK) await removeTree(join(drafts, name));
  const tar = pack();
  const written = pipeline(tar, writeStream(unfinished));
  // A caller that waits for an entry or the end gets the error. No caller may be waiting when the disk is full.
  written.catch(() => undefined);
  const stored = new Set<string>();
  const entry = (name: string, bytes: number, source: Readable) => {
    const done = new Promise<void>((resolve, reject) => {
      const into = tar.entry({ name, size: bytes, mode: 0o400 }, (error) => (error ? reject(error) : resolve()));
      pipeline(source, into).catch(reject);
    });
    // On a full disk the write fails, and nothing would read the entry that this waits for.
    return Promise.race([done, written.then(() => done)]);
  };
  return {
    last: null,
    has: async ({ sha256 }) => stored.has(sha256),
    missing: async () => [],
    draft: () => join(drafts, randomUUID()),
    async keep(draft, { sha256, bytes }) {
      if (!stored.has(sha256)) await entry(`objects/${sha256}`, bytes, createReadStream(draft));
      stored.add(sha256);
      await unlinkFile(draft);
    },
    async finish(_id, text) {
      await entry(MANIFEST_NAME, Buffer.byteLength(text), Readable.from([Buffer.from(text)]));
      tar.finalize();
      await written;
      await syncFile(unfinished);
      await renameFile(unfinished, path);
      await syncFolder(dirname(path));
    },
    async close() {
      tar.destroy();
      await written.catch(() => undefined);
      await removeTree(drafts);
      unlock();
    },
  };
}

/**
 * Reads a whole tar: hashes every object, and writes those in `wanted` to files. Returns the manifest and the hash
 * under each name. Throws `corrupt` for a tar that is truncated or has no manifest.
 */
export async function readTar(
  path: string,
  wanted: (sha256: string) => string | null = () => null,
): Promise<{ manifest: BackupManifest; found: Map<string, string> }> {
  const found = new Map<string, string>();
  let text: string | null = null;
  const reader = extract();
  const feeding = pipeline(createReadStream(path), reader);
  feeding.catch(() => undefined);
  try {
    for await (const entry of reader) {
      const [, sha256] = OBJECT.exec(entry.header.name) ?? [];
      if (sha256 === undefined) {
        if (entry.header.name !== MANIFEST_NAME || (entry.header.size ?? 0) > MOST_MANIFEST_BYTES) {
          throw new Error(`"${entry.header.name.slice(0, 80)}" is no part of a backup`);
        }
        const chunks: Buffer[] = [];
        for await (const chunk of entry) chunks.push(chunk as Buffer);
        text = Buffer.concat(chunks).toString();
        continue;
      }
      const hash = createHash('sha256');
      const to = wanted(sha256);
      if (to === null) for await (const chunk of entry) hash.update(chunk as Buffer);
      else await pipeline(entry, hashing(hash), writeStream(to));
      found.set(sha256, hash.digest('hex'));
    }
    await feeding;
  } catch (error) {
    throw new WinterdockError('corrupt', `${path} is not a whole backup.`, { cause: error });
  }
  if (text === null) throw new WinterdockError('corrupt', `${path} is not a whole backup: its end is missing.`);
  return { manifest: parseBackupManifest(text), found };
}

function hashing(hash: ReturnType<typeof createHash>): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}
