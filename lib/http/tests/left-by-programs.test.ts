import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance } from '../../contract/schema.ts';
import { S_IFIFO } from '../../native/file/inode.ts';
import { OpenedFile } from '../../native/testing/opened.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { tmpFolder } from '../../vfs/testing/tmp-files.ts';

const MIB = 1024 * 1024;
const SIZE = 65 * MIB + 3;
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** A file as real programs leave it at rest. */
function leftBy(work: (at: OpenedFile) => void): Buffer {
  const at = new OpenedFile().open();
  try {
    work(at);
    at.native.close();
    return readFileSync(at.file);
  } finally {
    at.remove();
  }
}

const api = (method: string, path: string, body?: object | Buffer) => server.call(method, `/api/${path}`, body);

test('what real programs left is a sandbox like others: imported, read, changed by interpreters, copied and filed', async () => {
  const bytes = leftBy((at) => {
    at.mkdir('workspace/src');
    at.write('workspace/src/a', 'needle one');
    at.link('workspace/src/a', 'workspace/twin');
    at.make('workspace/fifo', S_IFIFO, 0o600);
    at.write('memory/m', 'learned');
    at.rest();
    at.rename('workspace/src', 'workspace/lib');
  });
  expect((await api('POST', 'instances/import?tenant=acme&id=left', bytes)).status).toBe(201);
  expect((await api('GET', 'instances/left/volumes/workspace/lib/a')).text).toBe('needle one');
  expect(
    (await api('POST', 'instances/left/exec', { command: 'echo two >> lib/a; cat lib/a twin' })).json,
  ).toMatchObject({
    exit_code: 0,
    stdout: 'needle onetwo\nneedle one',
  });
  for (const verb of ['suspend', 'freeze']) expect((await api('POST', `instances/left/${verb}`, {})).status).toBe(200);
  expect((await api('GET', 'instances/left/search?q=needle&in=content')).text).toContain('/lib/a');
});

test('a sandbox with a file above 64 MiB is read, searched, compared, shipped, checked out and copied, and its programs are needed to wake it', async () => {
  const bytes = leftBy((at) => {
    at.mkdir('workspace/d');
    at.write('workspace/d/large', 'begin');
    at.truncate('workspace/d/large', 65 * MIB);
    at.write('workspace/d/large', 'end', 65 * MIB);
    at.write('workspace/small', 'needle');
  });
  expect((await api('POST', 'instances/import?tenant=acme&id=large', bytes)).status).toBe(201);
  const readsOf = async (id: string) => {
    const list = (await api('GET', `instances/${id}/volumes/workspace`)).json as unknown as {
      path: string;
      size: number;
    }[];
    const range = await server.call('GET', `/api/instances/${id}/volumes/workspace/d/large`, undefined, {
      headers: { range: `bytes=${SIZE - 4}-${SIZE + 9}` },
    });
    const whole = await api('GET', `instances/${id}/volumes/workspace/d/large`);
    return [list.map(({ path, size }) => [path, size]), [range.status, range.text], [whole.status, whole.json.code]];
  };
  const expected = [
    [
      ['/d/large', SIZE],
      ['/small', 6],
    ],
    [206, '\0end'],
    [413, 'too_large'],
  ];
  expect(await readsOf('large')).toEqual(expected);
  expect((await api('GET', 'instances/large/search?q=needle&in=content')).text).toContain('/small');
  const sql = 'SELECT path FROM vfs ORDER BY path';
  expect((await api('POST', 'instances/large/query', { sql })).json).toMatchObject({
    rows: [['/d/large'], ['/small']],
  });
  const copy = await api('POST', 'instances/large/snapshots', {});
  expect(copy.status).toBe(201);
  const same = await api('GET', `instances/large/compare/workspace?snapshot=${copy.json.id}`);
  expect(same.json).toMatchObject({ changed: 0 });
  const restored = (await api('POST', `snapshots/${copy.json.id}/restore`, { tenant: 'acme' }))
    .json as unknown as Instance[];
  expect(await readsOf(restored[0]?.id ?? '')).toEqual(expected);
  const shipped = await api('POST', 'instances/large/ship', {});
  expect([shipped.status, (await api('POST', 'instances/import?tenant=acme&id=again', shipped.bytes)).status]).toEqual([
    ...[200, 201],
  ]);
  expect(await readsOf('again')).toEqual(expected);
  const out = tmpFolder();
  const tar = await api('GET', 'instances/again/checkout?format=tar.gz');
  mkdirSync(join(out, 'tree'));
  execFileSync('tar', ['-xz', '-C', join(out, 'tree'), '--no-same-owner'], { input: tar.bytes });
  expect(statSync(join(out, 'tree', 'd', 'large')).size).toBe(SIZE);
  // Its policy has no real programs: it is told so, is no damaged sandbox, and can be read as before.
  const woken = await api('POST', 'instances/again/resume', {});
  expect([woken.status, woken.json.code]).toEqual([409, 'conflict']);
  expect(woken.text).toContain('real programs');
  expect((await api('GET', 'instances/again')).json).toMatchObject({ fault: null });
  expect(await readsOf('again')).toEqual(expected);
});
