import { expect, test } from 'vitest';
import { parseVfsPath } from '../vfs/paths.ts';
import type { ReadRequest } from '../vfs/types.ts';
import { SupervisedInstance } from './supervisor.ts';
import { startScriptedWorker } from './testing/scripted-worker.ts';
import { stage } from './testing/stage.ts';

const at = stage();
const path = parseVfsPath('/f');
const GET: ReadRequest = { op: 'get', volume: 'workspace', path };
const STAT: ReadRequest = { op: 'stat', volume: 'workspace', path };

test('the process of an awake sandbox answers small reads between its calls', async () => {
  const a = at.open('peeked');
  await a.exec({ command: 'echo 0123456789 > f' });
  const answer = await a.peek(GET);
  expect(answer).toMatchObject({ op: 'get', stat: { path: '/f', size: 11 } });
  expect(answer?.op === 'get' && Buffer.from(answer.content ?? []).toString()).toBe('0123456789\n');
  expect(await a.peek({ ...GET, range: { start: 1, end: 3 } })).toMatchObject({
    content: new Uint8Array([49, 50, 51]),
  });
  expect(await a.peek(STAT)).toMatchObject({ op: 'stat', stat: { size: 11 } });
  expect(await a.peek({ ...STAT, path: parseVfsPath('/none') })).toEqual({ op: 'stat', stat: null });
  expect(await a.peek({ ...GET, path: parseVfsPath('/none') })).toEqual({ op: 'get', stat: null, content: null });
  expect(a.busy).toBe(false);
  await a.close({ drainMs: 1000, force: false });
  expect(await a.peek(GET)).toBeNull();
});

test('large contents, queries and lists are left to a reader process, and so is everything during a call', async () => {
  const a = at.open('large');
  await a.write({ op: 'put', volume: 'workspace', path, content: Buffer.alloc(256 * 1024 + 1) });
  expect(await a.peek(GET)).toBeNull();
  expect(await a.peek({ ...GET, range: { start: 0, end: 256 * 1024 } })).toBeNull();
  expect(await a.peek({ ...GET, range: { start: 9, end: 12 } })).toMatchObject({ content: new Uint8Array(4) });
  expect(await a.peek({ op: 'query', sql: 'SELECT 1' })).toBeNull();
  expect(await a.peek({ op: 'list', volume: 'workspace', limit: 1 })).toBeNull();
  const call = a.exec({ command: 'sleep 0.3' });
  expect(await a.peek(STAT)).toBeNull();
  await call;
  expect(await a.peek(STAT)).not.toBeNull();
  await a.kill('killed');
});

/** What a hostile process answers to a read, as an expression of its request `r`. */
const LIES = [
  'null',
  '"text"',
  '{}',
  '{ op: "stat", stat: { path: r.path, size: 1, mtime: 1, version: 1 } }',
  '{ op: r.op, stat: { path: r.path, size: 1, mtime: 1, version: "1" }, content: new Uint8Array(1) }',
  '{ op: r.op, stat: { path: r.path, size: 1.5, mtime: 1, version: 1 }, content: new Uint8Array(1) }',
  '{ op: r.op, stat: "stat", content: new Uint8Array(1) }',
  '{ op: r.op, stat: null, content: new Uint8Array(1) }',
  '{ op: r.op, stat: { path: r.path, size: 1, mtime: 1, version: 1 }, content: null }',
  '{ op: r.op, stat: { path: r.path, size: 1, mtime: 1, version: 1 }, content: "text" }',
  '{ op: r.op, stat: { path: r.path, size: 1, mtime: 1, version: 1 }, content: new Uint8Array(300000) }',
];

test('what a hostile process makes up is no answer, and one that says nothing is not waited for', async () => {
  const worker = startScriptedWorker(
    `let next = 0;
     const lies = [${LIES.map((lie) => `(r) => (${lie})`).join(', ')}];
     function message({ type, id, request }) {
       if (type === 'open') channel.send({ type: 'opened' });
       if (type !== 'peek') return;
       const lie = lies[next++];
       if (lie) channel.send({ type: 'done', id, result: lie(request) });
     }`,
  );
  const spec = { id: 'x', file: ':memory:', policy: 'posix', maxBytes: 1e6, maxFileBytes: 1e6, mustExist: false };
  const instance = new SupervisedInstance(worker, spec);
  await instance.opened;
  for (const lie of LIES) expect(await instance.peek(GET), lie).toBeNull();
  const before = performance.now();
  expect(await instance.peek(GET)).toBeNull();
  expect(performance.now() - before).toBeGreaterThan(150);
  expect(instance.busy).toBe(false);
  const last = instance.peek(GET);
  await instance.kill('killed');
  expect(await last).toBeNull();
});
