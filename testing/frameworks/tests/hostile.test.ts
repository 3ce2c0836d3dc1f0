/** What sandboxes and states that somebody else wrote do to the program that an adapter is in. */
import { applyDiff } from '@openai/agents-core';
import { Manifest } from '@openai/agents-core/sandbox';
import { compute } from 'computesdk';
import { expect, test } from 'vitest';
import { sandboxProvider, sandboxSession } from '../../../lib/client/adapters/ai-sdk.ts';
import { winterdock } from '../../../lib/client/adapters/computesdk.ts';
import { sandboxBackend } from '../../../lib/client/adapters/deepagents.ts';
import { sandboxClient } from '../../../lib/client/adapters/openai-agents.ts';
import { Sandbox } from '../../../lib/client/sandbox.ts';
import { startTestServer } from './test-server.ts';

test('an id or a state that names another tenant’s sandbox shows, changes and deletes nothing of it', async () => {
  const { admin, connection } = await startTestServer();
  const theirs = await Sandbox.create({ client: admin, id: 'theirs', tenant: 'blue' });
  await theirs.files.write('secret', 'blue');
  const provider = sandboxProvider(connection);
  await expect(provider.resumeSession({ sessionId: 'theirs' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(provider.createSession({ sessionId: 'theirs' })).rejects.toMatchObject({ code: 'conflict' });
  const sandboxes = sandboxClient({ Manifest, applyDiff, ...connection });
  const state = await sandboxes.deserializeSessionState({ sandboxId: 'theirs' });
  await expect(sandboxes.resume(state)).rejects.toMatchObject({ code: 'not_found' });
  await expect(sandboxes.delete(state)).rejects.toMatchObject({ code: 'not_found' });
  const manager = compute({ provider: winterdock(connection) });
  expect(await manager.sandbox.getById('theirs')).toBeNull();
  expect(await manager.sandbox.list()).toEqual([]);
  await expect(manager.sandbox.destroy('theirs')).rejects.toThrow();
  await expect(manager.snapshot.create('theirs')).rejects.toThrow();
  expect(await theirs.files.read('secret')).toBe('blue');
  expect((await theirs.info()).labels).toEqual({});
});

test('a state that leads out of the API’s path is refused as an id that there is not', async () => {
  const { connection } = await startTestServer();
  const sandboxes = sandboxClient({ Manifest, applyDiff, ...connection });
  for (const sandboxId of ['../tenants/acme', 'a/../../keys', '', '.', '..', '%2e%2e', 'a?force=true']) {
    const state = await sandboxes.deserializeSessionState({ sandboxId });
    await expect(sandboxes.resume(state), sandboxId).rejects.toMatchObject({ name: 'ApiError' });
  }
});

/** Names that a shell, a pattern or a reader of lines could take for something else. */
const NAMES = [
  '$(touch pwned)',
  '`touch pwned`',
  "'; touch pwned; '",
  '"; touch pwned; "',
  '-rf',
  '--help',
  'two\nlines:1:found it',
  'tab\t7\t8',
  '*',
  '[a',
  '{a,b}',
  '\\',
  ' ',
  '\u202eabc',
];

test('names and texts that a sandbox made run nothing, and stand for nothing but themselves', async () => {
  const { connection } = await startTestServer();
  const box = await Sandbox.create(connection);
  for (const name of NAMES) await box.files.write(`odd/${name}`, 'found it $(touch pwned)\n');
  const backend = sandboxBackend(box);
  const paths = NAMES.map((name) => `/workspace/odd/${name}`).toSorted();
  const { files } = await backend.glob('*', '/workspace/odd');
  expect(files?.map(({ path }) => path).toSorted()).toEqual(paths);
  for (const text of ['found it $(touch pwned)', 'it $(', '-e', "'", '$']) {
    const { matches } = await backend.grep(text, '/workspace/odd');
    const expected = 'found it $(touch pwned)'.includes(text) ? paths : [];
    expect(matches?.map(({ path }) => path).toSorted(), text).toEqual(expected);
    expect(matches?.every(({ line, text: found }) => line === 1 && found === 'found it $(touch pwned)')).toBe(true);
  }
  // The shell is asked only where a link is in the way, so each name has one.
  const session = sandboxSession(box);
  await box.commands.run(
    'ln -s odd link; mkdir links; cd odd; for name in *; do ln -s -- "../odd/$name" "../links/$name"; done',
  );
  for (const name of NAMES) {
    expect(await session.readTextFile({ path: `links/${name}` }), name).toBe('found it $(touch pwned)\n');
    expect(await session.stat({ path: `link/${name}` }), name).toMatchObject({ type: 'file' });
    expect((await backend.read(`/workspace/odd/${name}`)).content, name).toBe('found it $(touch pwned)');
    expect(await backend.edit(`/workspace/links/${name}`, 'found', '$& $1'), name).toMatchObject({ occurrences: 1 });
    expect(await box.files.read(`odd/${name}`), name).toBe('$& $1 it $(touch pwned)\n');
  }
  const left = await box.files.list();
  expect(left.map(({ name }) => name).toSorted()).toEqual(['link', 'links', 'odd']);
});

test('a link in a circle, or out of the volumes, is nothing or a refusal, and never a wait', async () => {
  const { connection } = await startTestServer();
  const box = await Sandbox.create(connection);
  await box.commands.run('ln -s a b; ln -s b a; ln -s /usr/bin/bash out; ln -s . here');
  const session = sandboxSession(box);
  const backend = sandboxBackend(box);
  expect(await session.readFile({ path: 'a' })).toBeNull();
  expect((await backend.read('/workspace/a')).error).toMatch(/not found/);
  await expect(session.readFile({ path: 'out' })).rejects.toMatchObject({ code: 'validation' });
  expect((await backend.read('/workspace/out')).error).toMatch(/none of/);
  await box.files.write('f', 'text');
  expect(await session.readTextFile({ path: `${'here/'.repeat(30)}f` })).toBe('text');
  expect((await backend.grep('text', '/workspace')).matches?.length).toBe(1);
});
