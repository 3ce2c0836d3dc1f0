import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verify } from '../../base/signing.ts';
import { DISK, MANIFEST, PAGE, readManifest, signedBytes } from '../../bundles/manifest.ts';
import type { Instance, Share } from '../../contract/schema.ts';
import {
  type BundleServer,
  bundleProcesses,
  eventually,
  membersOf,
  startBundleServer,
} from '../../testing/bundle-server.ts';
import { TEST_KEY } from '../../testing/server.ts';

let server: BundleServer;
beforeAll(async () => {
  server = await startBundleServer();
});
afterAll(() => server.stop());

describe('ships', () => {
  test('26. the seed’s demo: memory stays by default, the manifest says so, and it ships on request', async () => {
    const id = await server.sandbox({ 'workspace/note': 'the work', 'memory/note': 'carried across the wire' });
    const shipped = await server.ship(id);
    expect([shipped.status, shipped.headers['content-type']]).toEqual([200, 'application/zip']);
    const manifest = JSON.parse((await membersOf(shipped.bytes))[MANIFEST]?.toString() ?? '');
    expect(manifest).toMatchObject({
      format: 'wbundle/1',
      volumes: ['workspace'],
      signed: true,
      private_included: false,
    });
    const restored = (await server.take(shipped.bytes)).json as unknown as Instance;
    expect([
      await server.readIn(restored.id, 'workspace/note'),
      await server.readIn(restored.id, 'memory/note'),
    ]).toEqual(['the work', 404]);

    const whole = await server.ship(id, { include_private: true });
    const opened = JSON.parse((await membersOf(whole.bytes))[MANIFEST]?.toString() ?? '');
    expect([opened.volumes, opened.private_included]).toEqual([['workspace', 'memory', 'tmp'], true]);
    const second = (await server.take(whole.bytes)).json as unknown as Instance;
    expect(await server.readIn(second.id, 'memory/note')).toBe('carried across the wire');
  });

  test('3. no secret of memory, tmp or what was deleted is in any member that was sent', async () => {
    const id = await server.sandbox({
      'workspace/kept': 'the work',
      'workspace/old': 'secret-deleted '.repeat(3000),
      'workspace/changed': 'secret-changed '.repeat(3000),
      'memory/m': 'secret-memory '.repeat(3000),
      'tmp/t': 'secret-tmp '.repeat(3000),
    });
    await server.call('DELETE', `/api/instances/${id}/volumes/workspace/old`);
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/changed`, 'new');
    const found = await membersOf((await server.ship(id)).bytes);
    expect(Object.keys(found).sort()).toEqual([MANIFEST, DISK, PAGE].sort());
    for (const [name, bytes] of Object.entries(found)) expect([name, bytes.includes('secret-')]).toEqual([name, false]);
    expect(found[DISK]?.includes('the work')).toBe(true);
  });

  test('26. it works in every state, waking nothing, and leaves no file', async () => {
    const id = await server.sandbox({ 'workspace/a': 'work' });
    const created = await server.sandbox();
    expect((await membersOf((await server.ship(created)).bytes))[DISK]?.length).toBeGreaterThan(0);
    expect(await server.stateOf(created)).toBe('created');
    for (const [verb, state] of [
      [null, 'active'],
      ['suspend', 'suspended'],
      ['freeze', 'frozen'],
      ['archive', 'archived'],
    ] as const) {
      if (verb !== null) expect((await server.call('POST', `/api/instances/${id}/${verb}`, {})).status).toBe(200);
      const before = await server.files();
      const lines = (await server.linesOf(`instance=${id}&type=transition`)).length;
      const shipped = await server.ship(id);
      expect([state, shipped.status, await server.stateOf(id)]).toEqual([state, 200, state]);
      expect((await membersOf(shipped.bytes))[DISK]?.includes('work')).toBe(true);
      expect((await server.linesOf(`instance=${id}&type=transition`)).length).toBe(lines);
      await server.settled();
      expect(await server.files()).toEqual(before);
    }
    await server.call('POST', `/api/instances/${id}/revive`, { reason: 'test' });
    await server.call('POST', `/api/instances/${id}/archive`, {});
    await server.call('DELETE', `/api/instances/${id}`);
    expect((await server.ship(id)).status).toBe(410);
    expect((await server.ship('nobody')).json.code).toBe('not_found');
  });

  test('6. the signature is the dock’s, over the manifest and by its hashes over all members', async () => {
    const found = await membersOf((await server.ship(await server.sandbox({ 'workspace/a': 'work' }))).bytes);
    const read = readManifest(found[MANIFEST] ?? Buffer.alloc(0));
    if (!('manifest' in read)) throw new Error(read.problems.join());
    const { manifest } = read;
    expect(manifest.issuer).toMatch(/^did:key:z6Mk/);
    expect(verify(manifest.issuer ?? '', signedBytes(manifest), manifest.signature ?? '')).toBe(true);
    expect(verify(manifest.issuer ?? '', signedBytes({ ...manifest, created: 1 }), manifest.signature ?? '')).toBe(
      false,
    );
  });

  test('26. each ship is one share and one ledger line, private ones have a line of their own', async () => {
    const id = await server.sandbox({ 'workspace/a': 'work' }, 'sharers');
    const first = await server.ship(id, { reason: 'for the customer' });
    const second = await server.ship(id, { include_private: true });
    const shares = (await server.call('GET', '/api/shares?tenant=sharers')).json as unknown as Share[];
    expect(shares.map((share) => share.id)).toEqual([second.headers['x-share'], first.headers['x-share']]);
    expect(shares[1]).toMatchObject({
      instance: id,
      tenant: 'sharers',
      format: 'wbundle/1',
      volumes: ['workspace'],
      private_included: false,
      signed: true,
      bytes: first.bytes.length,
      sha256: first.headers['x-sha256'],
      actor: 'key:admin',
    });
    expect((await server.call('GET', `/api/instances/${id}/shares`)).json).toEqual(shares);
    const page = await server.call('GET', '/api/shares?tenant=sharers&limit=1');
    expect([(page.json as unknown as Share[]).length, /rel="next"/.test(page.headers.link ?? '')]).toEqual([1, true]);
    const shipped = await server.linesOf(`instance=${id}&type=bundle.shipped`);
    expect(shipped).toHaveLength(2);
    expect(shipped[1]?.reason).toContain('for the customer');
    const opened = await server.linesOf(`instance=${id}&type=private.read`);
    expect(opened).toHaveLength(1);
    expect(opened[0]?.reason).toBe(`in bundle ${second.headers['x-share']}`);
  });

  test('26. a client that goes away leaves no file and no process', async () => {
    const id = await server.sandbox();
    const noise = randomBytes(24 * 1024 * 1024);
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/large`, noise);
    for (const path of [`/api/instances/${id}/ship`, `/api/instances/${id}/checkout`]) {
      await new Promise<void>((resolve, reject) => {
        const download = request(
          `${server.url}${path}`,
          { method: path.endsWith('ship') ? 'POST' : 'GET', headers: { authorization: `Bearer ${TEST_KEY}` } },
          (answer) => {
            expect(answer.statusCode).toBe(200);
            answer.once('data', () => {
              answer.destroy();
              resolve();
            });
          },
        );
        download.once('error', reject).end();
      });
      await server.settled();
    }
  });

  test('5. a file that was damaged at rest does not ship, and the ledger records it', async () => {
    const id = await server.sandbox({ 'workspace/a': 'work '.repeat(20_000) });
    await server.call('POST', `/api/instances/${id}/suspend`, {});
    const file = join(server.folder, 'live', id, 'vfs.sqlite');
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096, 4096 * 4);
    writeFileSync(file, bytes);
    const before = await server.files();
    const refused = await server.ship(id);
    expect([refused.status, refused.json.code]).toEqual([409, 'corrupt']);
    expect(await server.linesOf(`instance=${id}&type=bundle.failed`)).toHaveLength(1);
    expect(await server.linesOf(`instance=${id}&type=bundle.shipped`)).toHaveLength(0);
    expect(await server.files()).toEqual(before);
    // Its bundle process was started beside the copy that failed.
    await eventually(() => bundleProcesses(server.folder).length === 0);
  });
});
