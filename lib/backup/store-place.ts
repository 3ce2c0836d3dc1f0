/**
 * A place of backups in an object store, below `backups/`. Every name is written once: that of an object ends in a
 * random token, and a manifest says by which names its objects are had. So nothing that comes late can replace or
 * remove what somebody else wrote. A list tells only of more names to ask for; what is not in it is not concluded to
 * be gone.
 */
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { makeFolder, removeTree, syncFile, unlinkFile, writeFile } from '../base/effects.ts';
import { isWinterdockError, WinterdockError } from '../base/errors.ts';
import { newToken } from '../registry/owner.ts';
import { MOST_DOCUMENT_BYTES, type ObjectStore } from '../storage/object-store/object-store.ts';
import { type BackupPlace, objectName, type PlacedFile } from './place.ts';

/** Of names in the store. */
const PREFIX = 'backups/';
const OBJECT = /^objects\/[0-9a-f]{2}\/([0-9a-f]{64})(?:-[A-Za-z0-9_-]{1,80})?$/;
/** The largest manifest, in bytes: one of a million sandboxes has some 400 MB. */
const MOST_MANIFEST_BYTES = 512 * 1024 * 1024;
/** Whoever says so writes, or was killed while they did. */
const RUNNING_MS = 48 * 3600 * 1000;

/** In the store manifests have a name that tells them from the place. */
const stored = (name: string) => `${PREFIX}${name.replace(/^backups\//, 'manifests/')}`;
const placed = (name: string) => name.slice(PREFIX.length).replace(/^manifests\//, 'backups/');

/**
 * The place in `store`. `draftsIn`: absolute path of a folder that is made for the drafts, which are on this machine.
 */
export function storePlace(store: ObjectStore, draftsIn: string): BackupPlace {
  /** The names by which an object is had, by its hash: from manifests, lists and what was written here. */
  const names = new Map<string, Set<string>>();
  const learn = (name: string) => {
    const [, sha256] = OBJECT.exec(name) ?? [];
    if (sha256 === undefined) return;
    const known = names.get(sha256) ?? new Set();
    names.set(sha256, known.add(name));
  };
  const mark = `running/r${newToken()}.json`;

  /** The name by which an object is there, with its bytes; null when none of its names is. */
  const find = async (name: string): Promise<{ name: string; bytes: number } | null> => {
    const [, sha256] = OBJECT.exec(name) ?? [];
    if (sha256 === undefined) {
      const stat = await store.head(stored(name));
      return stat === null ? null : { name, bytes: stat.bytes };
    }
    const ask = async (candidates: Iterable<string>) => {
      for (const one of candidates) {
        const stat = await store.head(stored(one));
        if (stat !== null) return { name: one, bytes: stat.bytes };
      }
      return null;
    };
    const known = new Set(names.get(sha256));
    const found = await ask(known);
    if (found !== null) return found;
    // What a broken off backup wrote, nobody names.
    for await (const some of store.list(stored(objectName(sha256)))) for (const one of some) learn(placed(one.name));
    return ask([...(names.get(sha256) ?? [])].filter((one) => !known.has(one)));
  };

  const place: BackupPlace = {
    name: store.url,
    async *list(prefix) {
      for await (const some of store.list(stored(prefix))) {
        const files: PlacedFile[] = some.map(({ name, bytes, at }) => ({ name: placed(name), bytes, atMs: at }));
        for (const { name } of files) learn(name);
        yield files;
      }
    },
    async read(name) {
      let text: Buffer;
      try {
        const chunks: Buffer[] = [];
        let bytes = 0;
        for await (const chunk of await store.open(stored(name))) {
          chunks.push(chunk as Buffer);
          bytes += (chunk as Buffer).length;
          if (bytes > MOST_MANIFEST_BYTES) throw new WinterdockError('corrupt', `${name} is too large for a manifest.`);
        }
        text = Buffer.concat(chunks);
      } catch (error) {
        if (isWinterdockError(error) && error.code === 'missing_file') return null;
        throw error;
      }
      for (const one of namesIn(text)) learn(one);
      return text;
    },
    bytesOf: async (name) => (await find(name))?.bytes ?? null,
    async write(name, text) {
      const whole = name.startsWith('backups/') ? `${text.trimEnd()}\n${namesLine(text, names)}` : text;
      const bytes = Buffer.from(whole);
      if (bytes.length <= MOST_DOCUMENT_BYTES) {
        await store.put(stored(name), bytes);
        return;
      }
      await makeFolder(draftsIn);
      const draft = join(draftsIn, randomUUID());
      await writeFile(draft, bytes);
      await syncFile(draft);
      await store.upload(stored(name), draft);
      await unlinkFile(draft);
    },
    async keep(draft, name, { sha256 }) {
      const own = `${name}-${newToken()}`;
      await store.upload(stored(own), draft, { sha256 });
      learn(own);
      await unlinkFile(draft);
    },
    async copyWithin(url, from, name, { bytes }) {
      if (url !== store.url) return false;
      const own = `${name}-${newToken()}`;
      const copied = await store.copy(from, stored(own));
      if (copied.bytes !== bytes) {
        await store.remove(stored(own));
        throw new WinterdockError(
          'corrupt',
          `${from} has ${copied.bytes} bytes, and not the ${bytes} that were stored.`,
        );
      }
      learn(own);
      return true;
    },
    async fetch(name, to) {
      const found = await find(name);
      if (found === null) return null;
      await makeFolder(dirname(to));
      await store.download(stored(found.name), to, { bytes: found.bytes });
      return to;
    },
    remove: (name) => store.remove(stored(name)),
    async drafts() {
      await removeTree(draftsIn);
      await makeFolder(draftsIn);
      return draftsIn;
    },
    async hold() {
      await store.put(stored(mark), Buffer.from(JSON.stringify({ began_ms: Date.now() })));
      return () => {};
    },
    async isAlone() {
      for await (const some of store.list(stored('running/'))) {
        const others = some.filter(({ name, at }) => placed(name) !== mark && Date.now() - at < RUNNING_MS);
        if (others.length > 0) return false;
      }
      return true;
    },
    async close() {
      await store.remove(stored(mark));
      await removeTree(draftsIn);
    },
  };
  return place;
}

/** The names of objects in the last line of a manifest. What is none is no name. */
function namesIn(text: Buffer): string[] {
  const [, , line = ''] = text.toString().split('\n');
  try {
    const { names } = JSON.parse(line) as { names?: unknown };
    return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
  } catch {
    // Whoever lacks a name asks for it by a list.
    return [];
  }
}

/** The line that says by which names the objects of a manifest are had. */
function namesLine(text: string, names: ReadonlyMap<string, ReadonlySet<string>>): string {
  const wanted = new Set(text.match(/[0-9a-f]{64}/g));
  const own = [...wanted].flatMap((sha256) => [...(names.get(sha256) ?? [])]);
  return `${JSON.stringify({ names: own })}\n`;
}
