/** Workspaces of sessions as archives, in every form that clients of Ash send, and archives that mean harm. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { TAR_END, tarEntry } from '../../bundles/tar-records.ts';
import { useSessionServer } from '../../testing/session-server.ts';
import { SHAPES } from '../../testing/session-shapes.ts';

const { keys, ask, session, running } = useSessionServer();
const MIB = 1024 * 1024;

const file = (name: string) => ({ name, mode: 0o644, mtime: 0, kind: 'file' }) as const;
const link = (name: string, target: string) => ({ name, mode: 0o777, mtime: 0, kind: 'link', target }) as const;
const packed = (...pieces: Iterable<Uint8Array>[]) =>
  gzipSync(Buffer.concat([...pieces.flatMap((piece) => [...piece]), TAR_END]));

const download = async (id: string) => {
  const headers = { authorization: `Bearer ${keys.acme}` };
  return Buffer.from(await (await fetch(`${running().url}/api/sessions/${id}/workspace`, { headers })).arrayBuffer());
};
const upload = (id: string, body: unknown) => ask('POST', `/api/sessions/${id}/workspace`, body);
const bundle = (bytes: Uint8Array) => ({ bundle: Buffer.from(bytes).toString('base64') });
const files = async (id: string) =>
  SHAPES.files.parse((await ask('GET', `/api/sessions/${id}/files`)).json).files.map(({ path }) => path);
const run = async (id: string, command: string) =>
  SHAPES.exec.parse((await ask('POST', `/api/sessions/${id}/exec`, { command })).json).stdout;

test('a workspace goes round as a bundle and comes out as it went in, without a file that it had not', async () => {
  const one = await session('POST', '/api/sessions', { agent: 'writer' });
  await run(one.id, 'mkdir .claude; echo {} > .claude/settings.json; echo é > "a b"; ln -s agent.md linked');
  const before = await files(one.id);
  expect(before).toEqual(['.claude/settings.json', 'a b', 'agent.md']);
  const bytes = await download(one.id);
  expect(gunzipSync(bytes).toString('latin1')).not.toContain('.gitignore');
  const two = await session('POST', '/api/sessions', { agent: 'writer' });
  await run(two.id, 'rm agent.md');
  const answer = await upload(two.id, bundle(bytes));
  expect([answer.status, SHAPES.message.parse(answer.json).message.length > 0]).toEqual([200, true]);
  expect(await files(two.id)).toEqual(before);
  expect(await run(two.id, 'cat "a b" linked; ls /tmp')).toBe('é\nbe brief');
  // One that the workspace has is its own file, as it is.
  await run(two.id, 'echo build > .gitignore');
  const again = gunzipSync(await download(two.id)).toString('latin1');
  expect([again.includes('build\n'), again.includes('/memory/')]).toEqual([true, false]);
});

test('what is no bundle is refused before the sandbox sees it, and a broken archive leaves nothing in /tmp', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  for (const body of [
    {},
    [],
    null,
    7,
    { bundle: '' },
    { bundle: 'a' },
    { bundle: '%%%%' },
    { bundle: 7 },
    { bundle: 'YQ==' },
  ]) {
    const { status, json } = await upload(id, body);
    expect([JSON.stringify(body), status, SHAPES.error.parse(json).statusCode]).toEqual([
      JSON.stringify(body),
      400,
      400,
    ]);
  }
  const whole = packed(tarEntry(file('x'), Buffer.from('x')));
  expect((await upload(id, bundle(whole.subarray(0, -12)))).status).toBe(400);
  expect(await run(id, 'ls /tmp')).toBe('');
  expect((await upload(id, { ...bundle(whole), name: 'odd' })).status).toBe(200);
});

test('an archive writes nowhere but in the workspace, through no link and over no limit', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  await run(id, 'echo mine > /memory/mine');
  const evil = packed(
    tarEntry(file('../memory/mine'), Buffer.from('theirs')),
    tarEntry(file('/memory/mine'), Buffer.from('theirs')),
    tarEntry(link('out', '/memory'), undefined),
    tarEntry(file('out/mine'), Buffer.from('theirs')),
    tarEntry(link('host', '/etc/passwd'), undefined),
  );
  await upload(id, bundle(evil));
  expect(await run(id, 'cat /memory/mine; ls /tmp; readlink out host; cat host')).toBe('mine\n/memory\n/etc/passwd\n');
  // A gigabyte of zeros: members of gzip one after another are one stream.
  const header = Buffer.concat([...tarEntry(file('zeros'), Buffer.alloc(0))]);
  header.write('10000000000\0', 124, 'latin1');
  header.write('        ', 148, 'latin1');
  const sum = header.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  const zeros = gzipSync(Buffer.alloc(16 * MIB));
  const bomb = Buffer.concat([
    gzipSync(header.subarray(0, 512)),
    ...Array.from({ length: 64 }, () => zeros),
    gzipSync(TAR_END),
  ]);
  expect(bomb.length).toBeLessThan(2 * MIB);
  const answer = await upload(id, bundle(bomb));
  expect([answer.status, SHAPES.error.parse(answer.json).statusCode]).toEqual([400, 400]);
  expect(await run(id, 'ls /tmp; cat agent.md')).toBe('be brief');
});

test('calls without a body may say that it is JSON, as their client for Python does', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const headers = { authorization: `Bearer ${keys.acme}`, 'content-type': 'application/json' };
  for (const call of ['pause', 'resume', 'fork', 'stop']) {
    const answer = await fetch(`${running().url}/api/sessions/${id}/${call}`, { method: 'POST', headers });
    expect([call, answer.ok, SHAPES.session.safeParse(await answer.json()).success]).toEqual([call, true, true]);
  }
});
