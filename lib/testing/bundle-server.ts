/**
 * For tests of the calls about bundles: a server, sandboxes in it, unpacked bundles, and what lies in its data
 * folder.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { openPromise } from 'yauzl';
import { rawZip } from '../bundles/testing/raw-zip.ts';
import type { Event, Inspection } from '../contract/schema.ts';
import { tmpFile } from '../vfs/testing/tmp-files.ts';
import type { Got } from './call.ts';
import { startServer, type TestServer } from './server.ts';

export interface BundleServer extends TestServer {
  /** A new sandbox with these files (`volume/path`: content); active when there are any. */
  sandbox(files?: Record<string, string | Buffer>, tenant?: string): Promise<string>;
  ship(id: string, body?: object): Promise<Got>;
  take(bytes: Buffer, query?: string): Promise<Got>;
  inspect(bytes: Buffer): Promise<Inspection>;
  stateOf(id: string): Promise<string>;
  /** The text of a file, or the status when there is none. */
  readIn(id: string, place: string): Promise<string | number>;
  linesOf(query: string): Promise<Event[]>;
  /** Resolves when no transfer is under way: the drawer is empty, and no bundle process runs. */
  settled(): Promise<void>;
  /**
   * Every file of the data folder, once settled, that is no registry, no log of one, no compiled code and no expanded
   * copy.
   */
  files(): Promise<string[]>;
}

/** Starts a server of small limits: sandboxes of 64 MiB, files of 32 MiB. */
export async function startBundleServer(): Promise<BundleServer> {
  const server = await startServer({
    settings: { WB_MAX_SANDBOX: String(64 * 1024 * 1024), WB_MAX_FILE: String(32 * 1024 * 1024) },
  });
  const { call, folder } = server;
  let made = 0;
  const settled = () =>
    eventually(() => readdirSync(join(folder, 'bundles')).length === 0 && bundleProcesses(folder).length === 0);
  return {
    ...server,
    settled,
    async sandbox(files = {}, tenant = 'acme') {
      made += 1;
      const id = `box-${made}`;
      expect((await call('POST', '/api/instances', { id, tenant })).status).toBe(201);
      for (const [place, content] of Object.entries(files)) {
        expect((await call('PUT', `/api/instances/${id}/volumes/${place}`, content)).status).toBe(201);
      }
      return id;
    },
    ship: (id, body = {}) => call('POST', `/api/instances/${id}/ship`, body),
    take: (bytes, query = 'tenant=acme') => call('POST', `/api/instances/import?${query}`, bytes),
    async inspect(bytes) {
      const answer = await call<Inspection>('POST', '/api/bundles/inspect', bytes);
      expect(answer.status).toBe(200);
      return answer.json;
    },
    stateOf: async (id) => String((await call('GET', `/api/instances/${id}`)).json.state),
    async readIn(id, place) {
      const answer = await call('GET', `/api/instances/${id}/volumes/${place}`);
      return answer.status === 200 ? answer.text : answer.status;
    },
    linesOf: async (query) => (await call<Event[]>('GET', `/api/events?${query}`)).json,
    async files() {
      await settled();
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .filter((name) => !/^(registry|cache|expanded)|-(wal|shm)$/.test(name))
        .sort();
    },
  };
}

/** The members of a zip by name. */
export async function membersOf(bytes: Buffer): Promise<Record<string, Buffer>> {
  const file = tmpFile();
  writeFileSync(file, bytes);
  const zip = await openPromise(file, { strictFileNames: true });
  const found: Record<string, Buffer> = {};
  for await (const entry of zip.eachEntry())
    found[entry.fileName] = await buffer(await zip.openReadStreamPromise(entry));
  return found;
}

/** A zip of these members. */
export function zipOf(content: Record<string, Buffer>): Buffer {
  return rawZip(Object.entries(content).map(([name, bytes]) => ({ name, content: bytes })));
}

/** Ids of the bundle processes of a data folder that run. */
export function bundleProcesses(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        /bundles\/worker\.ts|\/bundle\.cjs/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) &&
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder)
      );
    } catch {
      // It ended while it was looked at.
      return false;
    }
  });
}

/** Resolves when `check` holds; throws when it does not within a minute. */
export async function eventually(check: () => boolean | Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 60_000; !(await check()); await pause(20)) {
    if (Date.now() > until) throw new Error('It did not come to pass in a minute.');
  }
}
