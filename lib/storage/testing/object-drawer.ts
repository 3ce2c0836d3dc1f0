/**
 * Drawers that keep their files in another process and reach them over HTTP alone: the proof that a drawer needs no
 * local path. For tests; knows nothing of rows, like every driver.
 */
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, unlinkFile, writeFile } from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { Drawer, Drawers, RestingFile } from '../drawer.ts';
import { intoPlace, stagingFor } from '../files.ts';
import { expand, pack } from '../zstd.ts';

export interface ObjectServer {
  /** The address that objects are under, without a slash at its end. */
  url: string;
  /** Lets requests wait, and then go on. */
  pause(): void;
  goOn(): void;
  stop(): Promise<void>;
}

/** Starts a process that stores objects until it is stopped. */
export async function startObjectServer(): Promise<ObjectServer> {
  const file = join(import.meta.dirname, 'object-server.ts');
  const server = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${line.toString().trim()}`,
    pause: () => void server.kill('SIGSTOP'),
    goOn: () => void server.kill('SIGCONT'),
    async stop() {
      const ended = once(server, 'exit');
      server.stdin.end();
      await ended;
    },
  };
}

interface ObjectDrawerOptions {
  url: string;
  /** The folder of local copies, in a subfolder named after the drawer. */
  dataFolder: string;
  /** The drawer's name, the prefix of its addresses and object names. */
  name: string;
  packed?: boolean;
  /** Separates the objects of this data folder from those of others. */
  bucket: string;
}

/** A drawer whose objects are on a server. `put` and `fetch` copy; the tag is the object's ETag. */
function createObjectDrawer({ url, dataFolder, name, packed = false, bucket }: ObjectDrawerOptions): Drawer {
  const suffix = packed ? '.sqlite.zst' : '.sqlite';
  const address = (key: string) => `${name}/${key}${suffix}`;
  const staging = join(dataFolder, name, '.staging');

  const send = async (key: string, method: string, body?: Buffer, headers: Record<string, string> = {}) => {
    const object = encodeURIComponent(`${bucket}/${address(key)}`);
    const answer = await fetch(`${url}/${object}`, { method, headers, ...(body && { body: new Uint8Array(body) }) });
    if (answer.ok || answer.status === 404 || answer.status === 412) return answer;
    throw new WinterdockError('storage_unavailable', `The object store answered ${answer.status}.`);
  };
  const download = async (key: string, path: string) => {
    const answer = await send(key, 'GET');
    const content = Buffer.from(await answer.arrayBuffer());
    if (answer.status === 404) throw new WinterdockError('missing_file', `The store has no object of "${key}".`);
    await writeFile(path, content);
  };
  const withTemporary = async <T>(work: (path: string) => Promise<T>): Promise<T> => {
    await makeFolder(staging);
    const path = join(staging, randomUUID());
    try {
      return await work(path);
    } finally {
      await unlinkFile(path);
    }
  };
  const upload = async (key: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await send(key, 'PUT', await readFile(path), headers);
    if (answer.status === 412) throw new WinterdockError('conflict', `There is an object of "${key}" already.`);
  };

  const at = (key: string): RestingFile => ({
    address: address(key),
    packed,
    async stat() {
      const { status, headers } = await send(key, 'HEAD');
      if (status === 404) return null;
      return { size: Number(headers.get('content-length')), tag: headers.get('etag') ?? '' };
    },
    read: (look) =>
      withTemporary(async (path) => {
        await download(key, path);
        return look(path);
      }),
    async remove(part = '') {
      if (part === '') await send(key, 'DELETE');
    },
    neighbours: async () => [],
    async takeOut(part, target) {
      if (part !== '') throw new WinterdockError('missing_file', 'Nothing lies beside an object.');
      await intoPlace(target, stagingFor(dataFolder, target), (unfinished) => download(key, unfinished));
      await send(key, 'DELETE');
    },
    async giveBack(source) {
      await upload(key, source);
      await unlinkFile(source);
    },
    replace: (write) =>
      withTemporary(async (path) => {
        await write(path);
        await upload(key, path);
      }),
    allocatedBytes: async () => (await at(key).stat())?.size ?? null,
  });
  const prefix = `${bucket}/${name}/`;
  const list = async () => {
    const answer = await fetch(`${url}/?prefix=${encodeURIComponent(prefix)}`);
    return (await answer.json()) as { name: string; size: number }[];
  };
  const keyOf = (object: string) => object.slice(prefix.length, -suffix.length);

  return {
    prepare: async () => {},
    at,
    async put(source, key) {
      const unlessTaken = { 'if-none-match': '*' };
      if (packed) {
        return withTemporary(async (path) => {
          const sha256 = await pack(source, path);
          await upload(key, path, unlessTaken);
          return sha256;
        });
      }
      await upload(key, source, unlessTaken);
      return createHash('sha256')
        .update(await readFile(source))
        .digest('hex');
    },
    async fetch(key, target) {
      await intoPlace(target, stagingFor(dataFolder, target), async (unfinished) => {
        if (!packed) return download(key, unfinished);
        await at(key).read((path) => expand(path, unfinished, key));
      });
      return { moved: false, makeDurable: async () => {} };
    },
    async *keyPages() {
      yield (await list()).map((object) => keyOf(object.name));
    },
    async usage(signal) {
      signal.throwIfAborted();
      const objects = await list();
      return { files: objects.length, bytes: objects.reduce((sum, { size }) => sum + size, 0) };
    },
    async status() {
      await list();
      return { writable: true, volume: null };
    },
    async probe() {
      const object = encodeURIComponent(`${bucket}/probe/${name}`);
      await fetch(`${url}/${object}`, { method: 'PUT', body: new Uint8Array(4096) });
      await fetch(`${url}/${object}`, { method: 'DELETE' });
    },
    async clear() {
      for (const object of await list()) await at(keyOf(object.name)).remove();
    },
  };
}

/** Every drawer, on one server. */
export function createObjectDrawers(options: Pick<ObjectDrawerOptions, 'url' | 'dataFolder' | 'bucket'>): Drawers {
  return {
    cold: createObjectDrawer({ ...options, name: 'cold' }),
    archive: createObjectDrawer({ ...options, name: 'archive', packed: true }),
    snapshot: createObjectDrawer({ ...options, name: 'snapshots' }),
    blueprint: createObjectDrawer({ ...options, name: 'blueprints' }),
  };
}
