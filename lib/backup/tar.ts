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
import { type BackupManifest, parseBackupManifest } from './manifest.ts';
import { type BackupTarget, LOCK, lockTarget } from './store.ts';

const OBJECT = /^objects\/([0-9a-f]{64})$/;
const MANIFEST_NAME = 'manifest.json';
/** Of a manifest: a million sandboxes are some 400 MB. */
const MOST_MANIFEST_BYTES = 512 * 1024 * 1024;

/** Begins a backup in a file; what is there is replaced once the new one is whole. */
export async function openTarTarget(path: string): Promise<BackupTarget> {
  const drafts = `${path}.unfinished`;
  const unfinished = join(drafts, 'tar');
  await makeFolder(drafts);
  const unlock = lockTarget(drafts);
  // Of one that was killed.
  for (const name of readdirSync(drafts)) if (name !== LOCK) await removeTree(join(drafts, name));
  const tar = pack();
  const written = pipeline(tar, writeStream(unfinished));
  // Whoever waits for an entry or the end is told; nobody may be waiting when the disk is full.
  written.catch(() => undefined);
  const held = new Set<string>();
  const entry = (name: string, bytes: number, source: Readable) => {
    const done = new Promise<void>((resolve, reject) => {
      const into = tar.entry({ name, size: bytes, mode: 0o400 }, (error) => (error ? reject(error) : resolve()));
      pipeline(source, into).catch(reject);
    });
    // A disk that is full fails the writing, and an entry that nobody takes would be waited for.
    return Promise.race([done, written.then(() => done)]);
  };
  return {
    last: null,
    has: ({ sha256 }) => held.has(sha256),
    draft: () => join(drafts, randomUUID()),
    async keep(draft, { sha256, bytes }) {
      if (!held.has(sha256)) await entry(`objects/${sha256}`, bytes, createReadStream(draft));
      held.add(sha256);
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
 * Reads a tar from beginning to end: hashes every object, and hands those that `wanted` names to files. Returns the
 * manifest and what was found under each name. Throws `corrupt` when there is no manifest in it, or the file is cut
 * off.
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
