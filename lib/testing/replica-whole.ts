/** For tests: whether what a replica in a folder would restore of sandboxes is what was answered. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../base/errors.ts';
import { findMoment, restoreMoment } from '../replication/moments/replica-reader.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { ABSENT, digestOf, type Kept } from './whole.ts';

const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };

/**
 * Sentences about what a restore of now would have and nobody was told, or lacks; `folder`: absolute, of the replica. A
 * sandbox that was never awake is made of a copy, and one that is deleted of nothing: neither is looked at.
 */
export async function lookReplica(folder: string, book: ReadonlyMap<string, Kept>): Promise<string[]> {
  const findings: string[] = [];
  const store = await openObjectStore(pathToFileURL(folder).href, CONNECTION);
  const tmp = mkdtempSync(join(tmpdir(), 'winterdock-replica-whole-'));
  try {
    for (const [id, { states, files }] of book) {
      if (states.has('created') || states.has('deleted')) continue;
      const restored = await filesIn(store, id, join(tmp, `${id}.sqlite`)).catch((error: unknown) => messageOf(error));
      if (restored === null || typeof restored === 'string') {
        findings.push(`${id}: ${restored ?? 'the replica has nothing of it'}`);
        continue;
      }
      for (const [name, allowed] of files) {
        const digest = restored.get(name) ?? ABSENT;
        if (!allowed.has(digest)) findings.push(`${id}: in the replica ${name} is ${digest}, not ${[...allowed]}`);
      }
      for (const name of restored.keys()) if (!files.has(name)) findings.push(`${id}: the replica has ${name}`);
    }
  } finally {
    await store.close();
    rmSync(tmp, { recursive: true });
  }
  return findings;
}

/** The files of the newest moment as `volume/path` and digest, without `tmp`; null: there is none. */
async function filesIn(store: ObjectStore, id: string, target: string): Promise<Map<string, string> | null> {
  const moment = await findMoment(store, id, null, null);
  if (moment === null) return null;
  await restoreMoment(store, moment, { target, tmp: `${target}.segments`, atRest: true });
  const db = new DatabaseSync(target, { readOnly: true });
  try {
    const check = db.prepare('PRAGMA quick_check').get();
    if (check?.quick_check !== 'ok') throw new Error('the replica has a damaged database');
    const rows = db.prepare("SELECT volume, path, content FROM vfs WHERE volume <> 'tmp'").all();
    return new Map(
      rows.map(({ volume, path, content }) => [`${volume}${path}`, digestOf((content ?? '') as Uint8Array)]),
    );
  } finally {
    db.close();
  }
}
