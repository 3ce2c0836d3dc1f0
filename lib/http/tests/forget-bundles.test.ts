/** A forgotten tenant is in no object of a store that has bundles, nor in what waits for it on this machine. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { ForgettingStarted, Job } from '../../client/types.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { makeBucket } from '../../storage/object-store/testing/make-bucket.ts';
import { hasRadosgw, startRadosgw } from '../../storage/object-store/testing/radosgw.ts';
import { connectionTo, startS3Server, useTestKeys } from '../../storage/object-store/testing/s3-server.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer } from '../../testing/server.ts';

const SOON = { timeout: 240_000, interval: 200 };
const URL = 's3://bucket/forgotten';
/** In files, in the names of rows, and in the ledger. */
const WORD = 'chrysoberyl-and-nothing-else';

if (!hasRadosgw()) process.stderr.write('Forgetting was NOT tried on radosgw: it is not on this machine.\n');
const radosgw = async () => {
  const server = await startRadosgw();
  await makeBucket(server.endpoint, 'bucket');
  return server;
};

describe.each([
  ['the tests’ own server', true, startS3Server],
  ['radosgw', hasRadosgw(), radosgw],
] as const)('on %s', (_name, isHere, open) => {
  let forgetKeys: () => void;
  let store: { endpoint: string; stop(): Promise<void> };
  beforeAll(async () => {
    if (!isHere) return;
    forgetKeys = useTestKeys();
    store = await open();
  });
  afterAll(async () => {
    if (!isHere) return;
    await store.stop();
    forgetKeys();
  });

  test.skipIf(!isHere)('a marker of it is searched for everywhere', async () => {
    const root = mkdtempSync(join(tmpdir(), 'winterdock-forget-bundles-'));
    const data = join(root, 'data');
    const server = await startServer({
      folder: data,
      clock: systemClock,
      settings: { WB_REPLICA_URL: URL, WB_STORE_ENDPOINT: store.endpoint, WB_STORE_REGION: 'us-east-1' },
    });
    const objects = await openObjectStore(URL, connectionTo(store.endpoint));
    const ok = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const answer = await server.call<T>(method, `/api${path}`, body as object);
      expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
      return answer.json;
    };
    /** Objects that have the word. */
    const found = async () => {
      const names: string[] = [];
      for await (const page of objects.list('')) {
        for (const { name } of page) if ((await bytesOf(name)).includes(WORD)) names.push(name);
      }
      return names;
    };
    const bytesOf = async (name: string) => buffer(await objects.open(name)).catch(() => Buffer.alloc(0));
    const here = () => filesIn(data).filter((name) => readFileSync(join(data, name)).includes(WORD));
    try {
      const [mine, theirs] = [
        ['a', 'b', 'c'],
        ['x', 'y'],
      ];
      for (const id of mine) await ok('POST', '/instances', { id, tenant: 'acme', name: `${WORD}-${id}` });
      for (const id of theirs) await ok('POST', '/instances', { id, tenant: 'globex' });
      const put = (id: string, text: string) => ok('PUT', `/instances/${id}/volumes/workspace/what`, text);
      for (const id of [...mine, ...theirs]) await put(id, 'the base');
      // Until what several wrote at the same time has travelled together.
      let rounds = 0;
      await vi.waitFor(async () => {
        rounds += 1;
        await Promise.all(mine.map((id) => put(id, `${WORD} ${rounds}`)));
        await Promise.all(theirs.map((id) => put(id, `other ${rounds}`)));
        expect((await found()).some((name) => name.startsWith('bundles/acme/'))).toBe(true);
      }, SOON);
      await ok('POST', '/instances/a/snapshots', { tag: WORD });
      await ok('POST', '/instances/c/suspend', {});
      const kinds = async () => new Set((await found()).map((name) => name.split('/').slice(0, 2).join('/')));
      await vi.waitFor(
        async () =>
          expect([...(await kinds())].sort()).toEqual(
            expect.arrayContaining(['bundles/acme', 'replica/_copies', 'replica/_registry']),
          ),
        SOON,
      );
      expect(here().length).toBeGreaterThan(0);
      const { id: job } = await ok<ForgettingStarted>('DELETE', '/tenants/acme', { confirm: 'acme' });
      await vi.waitFor(async () => expect((await ok<Job>('GET', `/jobs/${job}`)).state).toBe('done'), SOON);
      expect(await found()).toEqual([]);
      expect(here()).toEqual([]);
      // What merges, ages and looks for what is lacking brings nothing back.
      server.host.replica?.levels.look();
      await server.host.replica?.levels.whenMerged();
      await server.host.replica?.retention.run();
      expect(await found()).toEqual([]);
      expect(here()).toEqual([]);
      const left: string[] = [];
      for await (const page of objects.list('')) left.push(...page.map(({ name }) => name));
      expect(left.some((name) => name.startsWith('bundles/globex/'))).toBe(true);
      expect(left.filter((name) => /acme|replica\/[abc]\//.test(name))).toEqual([]);
    } finally {
      await objects.close();
      await server.stop();
      rmSync(root, { recursive: true, force: true });
    }
  });
});
