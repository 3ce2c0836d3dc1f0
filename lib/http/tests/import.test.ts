import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSigner } from '../../base/signing.ts';
import { DISK, MANIFEST, type Member, PAGE, signedBytes } from '../../bundles/manifest.ts';
import { rawZip } from '../../bundles/testing/raw-zip.ts';
import type { Instance, Variable } from '../../contract/schema.ts';
import { type BundleServer, eventually, membersOf, startBundleServer, zipOf } from '../../testing/bundle-server.ts';
import { startServer, TEST_KEY } from '../../testing/server.ts';
import { tmpFile, tmpFolder, writeRows } from '../../vfs/testing/tmp-files.ts';

let server: BundleServer;
beforeAll(async () => {
  server = await startBundleServer();
});
afterAll(() => server.stop());

test('one key that sends its bundles slowly delays nobody else', async () => {
  const id = await server.sandbox({ 'workspace/a': 'work' });
  const made = await server.call('POST', '/api/keys', { name: 'slow', role: 'tenant', tenant: 'acme' });
  const opened = Array.from({ length: 9 }, () => {
    const slow = request(`${server.url}/api/instances/import?tenant=acme`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${made.json.key}`, 'content-length': '100000' },
    });
    slow.on('error', () => undefined);
    slow.write('PK');
    return slow;
  });
  const refused = await Promise.any(opened.map(async (one) => ((await once(one, 'response')) as [IncomingMessage])[0]));
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
  await eventually(() => readdirSync(join(server.folder, 'bundles')).length === 8);
  expect((await server.ship(id)).status).toBe(200);
  for (const one of opened) one.destroy();
  await server.settled();
});

describe('imports', () => {
  test('36. a bundle has the names of variables and no value, and an import says which have none', async () => {
    const id = await server.sandbox({ 'workspace/a': 'work' });
    const patch = (path: string, env: object) => server.call('PATCH', `/api/${path}/env`, { env });
    await patch('tenants/acme', { OF_TENANT: 'canary-value-1' });
    await patch(`instances/${id}`, { TOKEN: 'canary-value-2', STAGE: 'canary-value-3' });
    const { bytes } = await server.ship(id);
    const members = await membersOf(bytes);
    for (const content of Object.values(members)) expect(content.includes('canary-value')).toBe(false);
    expect(JSON.parse(String(members[MANIFEST])).env).toEqual(['OF_TENANT', 'STAGE', 'TOKEN']);
    expect(String(members[PAGE])).toContain('<code>TOKEN</code>: names alone');
    await patch('tenants/globex', { STAGE: 'theirs' });
    expect((await server.take(bytes, 'tenant=globex&id=wanting')).status).toBe(201);
    const { json } = await server.call('GET', '/api/instances/wanting/env');
    expect((json as unknown as Variable[]).map(({ name, value, is_set }) => [name, value, is_set])).toEqual([
      ['OF_TENANT', null, false],
      ['STAGE', 'theirs', true],
      ['TOKEN', null, false],
    ]);
    const lines = (await server.call('GET', '/api/events?type=instance.imported&instance=wanting')).text;
    expect(lines).toContain('variables without a value: OF_TENANT, TOKEN');
    const env = await server.call('POST', '/api/instances/wanting/exec', { command: 'echo "$STAGE.$TOKEN."; env' });
    expect(env.text).toContain('theirs..');
    expect(env.text).not.toContain('TOKEN');
    await patch('instances/wanting', { TOKEN: 'given', OF_TENANT: null });
    expect((await server.call('GET', '/api/instances/wanting/env')).text).not.toContain('"is_set":false');
    // Snapshots and blueprints keep names too, and what is made from them asks for values.
    const taken = await server.call('POST', `/api/instances/${id}/snapshots`, {});
    await server.call('POST', `/api/snapshots/${taken.json.id}/restore`, { tenant: 'umbra', name: 'restored' });
    await server.call('POST', '/api/blueprints', { name: 'wanted', from_instance: id });
    await server.call('POST', '/api/blueprints/wanted/clone', { tenant: 'umbra', name: 'cloned' });
    const made = (await server.call('GET', '/api/instances?tenant=umbra')).json as unknown as Instance[];
    expect(made.map(({ name }) => name).sort()).toEqual(['cloned', 'restored']);
    for (const one of made) {
      const found = (await server.call('GET', `/api/instances/${one.id}/env`)).json as unknown as Variable[];
      expect(found.map(({ name, value }) => [name, value])).toEqual([
        ['OF_TENANT', null],
        ['STAGE', null],
        ['TOKEN', null],
      ]);
    }
  });

  test('27. importing twice makes two sandboxes in state created, each its own', async () => {
    const source = await server.sandbox({ 'workspace/a': 'work', 'memory/m': 'learned' });
    const { bytes } = await server.ship(source);
    const first = await server.take(bytes, 'tenant=acme&name=first');
    const second = await server.take(bytes, 'tenant=other&id=chosen');
    expect([first.status, second.status, first.headers.location]).toEqual([
      201,
      201,
      `/api/instances/${first.json.id}`,
    ]);
    const [one, two] = [first.json as unknown as Instance, second.json as unknown as Instance];
    expect(one).toMatchObject({
      state: 'created',
      tenant: 'acme',
      name: 'first',
      lineage: { parent: source },
      fault: null,
    });
    expect(two).toMatchObject({ id: 'chosen', state: 'created', tenant: 'other', lineage: { parent: null } });
    expect(one.bytes).toBeGreaterThan(0);
    expect([await server.readIn(one.id, 'workspace/a'), await server.readIn(one.id, 'memory/m')]).toEqual([
      'work',
      404,
    ]);
    expect(await server.stateOf(one.id)).toBe('created');
    await server.call('PUT', `/api/instances/${one.id}/volumes/workspace/a`, 'changed');
    expect([
      await server.readIn(one.id, 'workspace/a'),
      await server.readIn(two.id, 'workspace/a'),
      await server.readIn(source, 'workspace/a'),
    ]).toEqual(['changed', 'work', 'work']);
    const resumed = await server.call('POST', `/api/instances/${two.id}/resume`, {});
    expect([resumed.json.path, resumed.json.source]).toEqual(['cold', 'local']);
    const ran = await server.call('POST', `/api/instances/${two.id}/exec`, { command: 'cat a && ls -A /memory /tmp' });
    expect(ran.json.stdout).toContain('work');
    const [line] = await server.linesOf(`instance=${one.id}&type=instance.imported`);
    expect(line?.reason).toMatch(/^from bundle ship-.*, signed by did:key:z6Mk/);
  });

  test('27. a bare VFS file of the seed is imported in the same way', async () => {
    const file = tmpFile();
    writeRows(file, [
      ['workspace', '/src/a.txt', 'of the seed', 1_700_000_000],
      ['memory', '/m', 'learned', 1],
      ['tmp', '/t', 'scratch', 1],
    ]);
    const taken = await server.take(readFileSync(file));
    expect(taken.status).toBe(201);
    const id = String(taken.json.id);
    expect([
      await server.readIn(id, 'workspace/src/a.txt'),
      await server.readIn(id, 'memory/m'),
      await server.readIn(id, 'tmp/t'),
    ]).toEqual(['of the seed', 'learned', 404]);
    const ran = await server.call('POST', `/api/instances/${id}/exec`, {
      command: 'cat src/a.txt; echo more >> src/a.txt; cat src/a.txt',
    });
    expect(ran.json.stdout).toBe('of the seedof the seedmore\n');
  });

  test('27. an imported sandbox that was never resumed is there after a restart, and is read, frozen away and deleted like any other', async () => {
    const own = await startServer({ folder: tmpFolder() });
    const bytes = (await server.ship(await server.sandbox({ 'workspace/a': 'work' }))).bytes;
    const { id } = (await own.call('POST', '/api/instances/import?tenant=acme', bytes)).json as unknown as Instance;
    mkdirSync(join(own.folder, 'bundles', 'left-behind'), { recursive: true });
    writeFileSync(join(own.folder, 'bundles', 'left-behind', 'upload'), 'of a server that was killed');
    await own.stop();
    const again = await startServer({ folder: own.folder });
    try {
      expect(readdirSync(join(own.folder, 'bundles'))).toEqual([]);
      expect((await again.call('GET', `/api/instances/${id}/volumes/workspace/a`)).text).toBe('work');
      for (const verb of ['resume', 'archive'])
        expect((await again.call('POST', `/api/instances/${id}/${verb}`, {})).status).toBe(200);
      expect((await again.call('DELETE', `/api/instances/${id}`)).status).toBe(204);
      expect(existsSync(join(own.folder, 'live', id))).toBe(false);
    } finally {
      await again.stop();
    }
  });

  test('27. unsigned and foreign bundles are imported and the ledger says so; altered ones are refused', async () => {
    const found = await membersOf((await server.ship(await server.sandbox({ 'workspace/a': 'work' }))).bytes);
    const { signature: _gone, issuer: _too, ...rest } = JSON.parse(found[MANIFEST]?.toString() ?? '');
    const manifest = { ...rest, id: 'wb-of-nobody', signed: false };
    const unsigned = zipOf({ ...found, [MANIFEST]: Buffer.from(JSON.stringify(manifest)) });
    const taken = await server.take(unsigned);
    expect(taken.status).toBe(201);
    expect((await server.linesOf(`instance=${taken.json.id}&type=instance.imported`))[0]?.reason).toContain('UNSIGNED');
    const nobody = { signed: false, issuer: null, notes: [expect.stringMatching(/^UNSIGNED: /)] };
    expect(taken.json.imported).toEqual(nobody);
    expect((await server.take(found[DISK] ?? Buffer.alloc(0))).json.imported).toEqual(nobody);
    expect(await server.inspect(unsigned)).toMatchObject({
      signed: false,
      verified: false,
      importable: true,
      problems: nobody.notes,
    });
    expect((await server.call('POST', '/api/blueprints?name=unsigned', unsigned)).status).toBe(201);
    expect((await server.linesOf('type=blueprint.made'))[0]?.reason).toContain('UNSIGNED');
    const choosy = await server.take(unsigned, 'tenant=acme&require_signed=true');
    expect([choosy.status, choosy.json.code]).toEqual([422, 'validation']);
    expect(choosy.json.detail).toContain('UNSIGNED: only what is signed');

    const other = await startServer();
    try {
      await other.call('POST', '/api/instances', { id: 'theirs', tenant: 'acme' });
      await other.call('PUT', '/api/instances/theirs/volumes/workspace/a', 'theirs');
      const foreign = (await other.call('POST', '/api/instances/theirs/ship', {})).bytes;
      const verdict = await server.inspect(foreign);
      expect([verdict.verified, verdict.importable, verdict.share?.verdict]).toEqual([true, true, 'unknown']);
      expect(verdict.problems).toEqual([
        expect.stringMatching(/^It was signed by did:key:z6Mk.*, which is not this dock/),
      ]);
      const adopted = await server.take(foreign);
      expect(await server.readIn(String(adopted.json.id), 'workspace/a')).toBe('theirs');
      expect(adopted.json.imported).toMatchObject({ signed: true, issuer: verdict.issuer });
      expect((await server.take(foreign, 'tenant=acme&require_signed=true')).status).toBe(201);
    } finally {
      await other.stop();
    }

    const before = await server.files();
    const altered = zipOf({
      ...found,
      [MANIFEST]: Buffer.from(JSON.stringify({ ...JSON.parse(found[MANIFEST]?.toString() ?? ''), tenant: 'evil' })),
    });
    const refused = await server.take(altered);
    expect([refused.status, refused.json.code]).toEqual([422, 'validation']);
    expect(JSON.stringify(refused.json.errors)).toContain('Its signature is not that of');
    expect(await server.files()).toEqual(before);
  });

  test('27. a share of this server that has lost its signature, or got another, is refused to every tenant', async () => {
    const whole = (await server.ship(await server.sandbox({ 'workspace/a': 'work' }))).bytes;
    const found = await membersOf(whole);
    const { signature: _gone, issuer, ...rest } = JSON.parse(found[MANIFEST]?.toString() ?? '');
    const withManifest = (manifest: object) => zipOf({ ...found, [MANIFEST]: Buffer.from(JSON.stringify(manifest)) });
    const other = openSigner(tmpFolder());
    const resigned = { ...rest, issuer: other.issuer, signed: true };
    const cases: [Buffer, string][] = [
      [withManifest({ ...rest, signed: false }), 'UNSIGNED: it is share'],
      [withManifest({ ...rest, signed: false, issuer }), `UNSIGNED: it names ${issuer}`],
      // Whoever else signed it: it names whom it was taken from, or itself.
      [
        withManifest({ ...rest, id: 'wb-elsewhere', signed: false, issuer: other.issuer }),
        'UNSIGNED: it names did:key:',
      ],
      [withManifest({ ...resigned, signature: other.sign(signedBytes(resigned)) }), 'which was signed by did:key:'],
    ];
    const before = await server.files();
    for (const [bytes, says] of cases) {
      for (const tenant of ['acme', 'globex']) {
        const refused = await server.take(bytes, `tenant=${tenant}`);
        expect([refused.status, refused.json.code]).toEqual([422, 'validation']);
        expect(refused.json.detail).toContain(says);
      }
      const upload = await server.call('POST', '/api/blueprints?name=stripped', bytes);
      expect([upload.status, upload.json.detail]).toEqual([422, expect.stringContaining(says)]);
      const seen = await server.inspect(bytes);
      expect([seen.importable, seen.verified]).toEqual([false, false]);
      expect(seen.problems.join('\n')).toContain(says);
    }
    expect(await server.files()).toEqual(before);
    expect((await server.take(whole, 'tenant=globex')).status).toBe(201);
  });

  test('27. with WB_REQUIRE_SIGNED nothing comes in that has no valid signature, and what has one does', async () => {
    const whole = (await server.ship(await server.sandbox({ 'workspace/a': 'work' }))).bytes;
    const found = await membersOf(whole);
    const { signature: _gone, issuer: _too, ...rest } = JSON.parse(found[MANIFEST]?.toString() ?? '');
    const unsigned = zipOf({ ...found, [MANIFEST]: Buffer.from(JSON.stringify({ ...rest, signed: false })) });
    const strict = await startServer({ settings: { WB_REQUIRE_SIGNED: '1' } });
    try {
      for (const bytes of [unsigned, found[DISK] ?? Buffer.alloc(0)]) {
        for (const path of ['/api/instances/import?tenant=acme', '/api/blueprints?name=base']) {
          const refused = await strict.call('POST', path, bytes);
          expect([refused.status, refused.json.detail]).toEqual([422, expect.stringContaining('UNSIGNED')]);
        }
        expect((await strict.call('POST', '/api/bundles/inspect', bytes)).json.importable).toBe(false);
      }
      expect((await strict.call('POST', '/api/instances/import?tenant=acme', whole)).status).toBe(201);
      expect((await strict.call('POST', '/api/blueprints?name=base', whole)).status).toBe(201);
    } finally {
      await strict.stop();
    }
  });

  test('29. a refused import leaves no file and no row, whatever is wrong with it', async () => {
    const source = await server.sandbox({ 'workspace/a': 'work' });
    const good = (await server.ship(source)).bytes;
    const found = await membersOf(good);
    await server.call('POST', '/api/instances', { tenant: 'acme', name: 'taken' });
    const total = async () => (await server.call('GET', '/api/instances?limit=1')).headers['x-total-count'];
    const [before, rows] = [await server.files(), await total()];
    const member = (name: Member) => ({ name, content: found[name] ?? Buffer.alloc(0) });
    const padded = rawZip([member(MANIFEST), member(PAGE), member(DISK)], { beforeEnd: Buffer.from('hidden here') });
    const bomb = rawZip([
      { name: MANIFEST, content: found[MANIFEST] ?? Buffer.alloc(0) },
      { name: PAGE, content: found[PAGE] ?? Buffer.alloc(0) },
      { name: DISK, content: Buffer.alloc(100 * 1024 * 1024) },
    ]);
    for (const [bytes, query, status, code] of [
      [good.subarray(0, good.length / 2), 'tenant=acme', 422, 'validation'],
      [Buffer.from('garbage'), 'tenant=acme', 422, 'validation'],
      [Buffer.alloc(0), 'tenant=acme', 422, 'validation'],
      [bomb, 'tenant=acme', 413, 'too_large'],
      [padded, 'tenant=acme', 422, 'validation'],
      [Buffer.concat([good, Buffer.from('hidden here')]), 'tenant=acme', 422, 'validation'],
      [Buffer.alloc(65 * 1024 * 1024), 'tenant=acme', 413, 'too_large'],
      [good, 'tenant=acme&name=taken', 409, 'conflict'],
      [good, `tenant=acme&id=${source}`, 409, 'conflict'],
      [good, 'tenant=acme&id=UPPER', 422, 'validation'],
      [good, '', 422, 'validation'],
    ] as const) {
      const refused = await server.take(Buffer.from(bytes), query);
      expect([refused.status, refused.json.code]).toEqual([status, code]);
      expect(refused.text).not.toContain(server.folder);
      expect([await server.files(), await total()]).toEqual([before, rows]);
    }
    expect((await server.linesOf('tenant=acme&type=import.refused')).length).toBeGreaterThanOrEqual(4);
  });

  test('29. an upload that breaks off leaves no file', async () => {
    const before = await server.files();
    const upload = request(`${server.url}/api/instances/import?tenant=acme`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-length': '1000000' },
    });
    const broken = new Promise((resolve) => upload.once('error', resolve));
    upload.write(Buffer.alloc(500_000));
    await eventually(() => readdirSync(join(server.folder, 'bundles')).length === 1);
    upload.destroy();
    await broken;
    expect(await server.files()).toEqual(before);
  });
});

describe('inspections', () => {
  test('28. a share is recognised, altered or not, and its faults are named', async () => {
    const { bytes, headers } = await server.ship(await server.sandbox({ 'workspace/a': 'work' }));
    const id = headers['x-share'];
    const unaltered = await server.inspect(bytes);
    expect(unaltered).toMatchObject({
      verified: true,
      importable: true,
      problems: [],
      share: { id, verdict: 'unaltered', says: `this is share ${id}, unaltered` },
    });
    expect(unaltered.issuer).toMatch(/^did:key:z6Mk/);
    expect(unaltered.manifest).toMatchObject({ id, format: 'wbundle/1' });

    const found = await membersOf(bytes);
    const repacked = await server.inspect(zipOf(found));
    expect([repacked.verified, repacked.share?.verdict]).toEqual([true, 'unaltered']);

    const disk = Buffer.from(found[DISK] ?? []);
    disk[disk.length - 1] = (disk.at(-1) ?? 0) ^ 1;
    const altered = await server.inspect(zipOf({ ...found, [DISK]: disk }));
    expect(altered).toMatchObject({
      verified: false,
      importable: false,
      share: { id, verdict: 'altered', altered: [DISK], says: `this is share ${id}, altered: vfs.sqlite` },
    });
    expect(altered.problems).toEqual(['vfs.sqlite was altered: it is not the one that the manifest names.']);

    const page = await server.inspect(zipOf({ ...found, [PAGE]: Buffer.from('<!doctype html>another') }));
    expect([page.verified, page.share?.altered]).toEqual([false, [PAGE]]);

    const forged = Buffer.from((found[MANIFEST]?.toString() ?? '').replace(`"id": "${id}"`, '"id": "ship-mine"'));
    const renamed = await server.inspect(zipOf({ ...found, [MANIFEST]: forged }));
    expect([renamed.verified, renamed.issuer, renamed.share]).toEqual([
      false,
      undefined,
      { id, verdict: 'altered', altered: [MANIFEST], says: `this is share ${id}, altered: manifest.json` },
    ]);

    const bare = await server.inspect(Buffer.from(found[DISK] ?? []));
    expect([bare.verified, bare.importable, bare.share?.verdict]).toEqual([false, true, 'unaltered']);
    const cut = await server.inspect(bytes.subarray(0, bytes.length - 100));
    expect([cut.verified, cut.manifest, cut.problems.length > 0]).toEqual([false, null, true]);
    const nothing = await server.inspect(Buffer.from('hello'));
    expect(nothing).toEqual({
      manifest: null,
      verified: false,
      signed: false,
      importable: false,
      problems: ['It is neither a bundle nor a VFS file.'],
    });
  });

  test('28. inspecting keeps nothing', async () => {
    const { bytes } = await server.ship(await server.sandbox({ 'workspace/a': 'work' }));
    await server.settled();
    const before = await server.files();
    await server.inspect(bytes);
    expect(await server.files()).toEqual(before);
  });
});
