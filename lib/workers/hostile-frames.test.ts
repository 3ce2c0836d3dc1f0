import { expect, test } from 'vitest';
import { WinterdockError } from '../base/errors.ts';
import { watchLoop } from '../testing/loop-watch.ts';
import { SupervisedInstance } from './supervisor.ts';
import { startScriptedWorker } from './testing/scripted-worker.ts';

/** Milliseconds of processor time of one turn: 50, and as many for a machine whose caches others use. */
const HELD_MS = 100;

/** What a process that was taken over answers to a call, as statements; `raw` writes bytes past the channel. */
const LIES: Record<string, string> = {
  'half a JSON text as a value': `channel.send({ type: 'evaluated', id, result: { ok: true, json: '{"half', timedOut: false, tookMs: 1, rest: [] } })`,
  'a code that is none': `channel.send({ type: 'failed', id, failure: { code: 'constructor', message: 'x' } })`,
  'half a result': `channel.send({ type: 'executed', id, result: { exitCode: 0 } })`,
  'a text': `channel.send('anything')`,
  'what V8 serialises': `raw(v8.serialize({ type: 'executed', id, result: {} }))`,
  'a frame whose text is V8’s': `frame(v8.serialize({ type: 'pong' }))`,
  'a text that claims 4 GB': `raw(Buffer.from([255, 255, 255, 255, 0, 0, 0, 0, 255]))`,
  'bytes that claim 4 GB': `raw(Buffer.from([0, 0, 0, 2, 255, 255, 255, 255, 0]))`,
  'more bytes than its files may have': `raw(Buffer.from([0, 0, 0, 2, 16, 0, 0, 0, 0]))`,
  'no JSON': `frame(Buffer.from('{"type":'))`,
  'bytes that belong nowhere': `frame(Buffer.from(JSON.stringify({ type: 'pong' })), Buffer.from('bytes'), 0)`,
  'bytes at a place that there is not': `frame(Buffer.from(JSON.stringify({ type: 'done', id, result: {} })), Buffer.from('x'), 7)`,
  'three million objects': `frame(Buffer.from('{"type":"done","id":' + id + ',"result":[' + '{},'.repeat(3_000_000) + '0]}'))`,
  'lists in lists': `frame(Buffer.from('{"type":"done","id":' + id + ',"result":' + '['.repeat(501) + ']'.repeat(501) + '}'))`,
  'a failure of lists in lists': `frame(Buffer.from('{"type":"failed","id":' + id + ',"failure":{"code":"conflict","message":"x","extra":{"a":' + '['.repeat(50_000) + ']'.repeat(50_000) + '}}}'))`,
  'a text of 16 MiB': `raw(Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 255]))`,
  'a value that is as heavy': `channel.send({ type: 'evaluated', id, result: { ok: true, json: '[' + '{},'.repeat(50_000) + '0]', timedOut: false, tookMs: 1, rest: [] } })`,
  'a value of 5 MiB': `channel.send({ type: 'evaluated', id, result: { ok: true, json: JSON.stringify('x'.repeat(5 << 20)), timedOut: false, tookMs: 1, rest: [] } })`,
  'an error of 5 MiB': `channel.send({ type: 'evaluated', id, result: { ok: false, error: 'x'.repeat(5 << 20), timedOut: false, tookMs: 1, rest: [] } })`,
  'a folder of 5 MiB': `channel.send({ type: 'executed', id, result: { exitCode: 0, cwd: '/'.repeat(5 << 20), timedOut: false, truncated: false, tookMs: 1, rest: [] } })`,
  'a time to try again that is none': `frame(Buffer.from('{"type":"failed","id":' + id + ',"failure":{"code":"capacity","message":"x","retryAfterSeconds":1e999}}'))`,
  'bytes without a place': `frame(Buffer.from(JSON.stringify({ type: 'pong' })), Buffer.from('bytes'), 255)`,
};

/** A process that answers a call with a lie. */
function startLiar(lie: string) {
  const worker = startScriptedWorker(
    `import { writeSync } from 'node:fs';
     import v8 from 'node:v8';
     const raw = (bytes) => {
       for (let at = 0; at < bytes.length; ) {
         try {
           at += writeSync(3, bytes, at);
         } catch (error) {
           if (error.code !== 'EAGAIN') return;
         }
       }
     };
     const frame = (text, bytes = Buffer.alloc(0), place = 255) => {
       const header = Buffer.alloc(9);
       header.writeUInt32BE(text.length, 0);
       header.writeUInt32BE(bytes.length, 4);
       header.writeUInt8(place, 8);
       raw(Buffer.concat([header, text, bytes]));
     };
     function message({ type, id }) {
       if (type === 'open') channel.send({ type: 'opened' });
       if (type === 'call') ${lie};
     }`,
  );
  const limits = { policy: 'posix', maxBytes: 1e6, maxFileBytes: 1e6, mustExist: false };
  return new SupervisedInstance(worker, { id: 'taken', file: ':memory:', ...limits });
}

test.each(Object.keys(LIES))(
  'a process that was taken over and sends %s is killed, and its server goes on',
  async (lie) => {
    const taken = startLiar(LIES[lie] ?? '');
    await expect(taken.eval({ language: 'js', code: '1' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await taken.ended).toMatchObject({ cause: 'crash', detail: 'Its process broke the protocol.' });
  },
);

/** The heaviest frames that come through: whole ones, and those that are refused at their last byte. */
const HEAVY: Record<string, string> = {
  'objects, as many as 64 MiB hold': `frame(Buffer.from('{"type":"done","id":' + id + ',"result":[' + '{},'.repeat(21_000_000) + '0]}'))`,
  'objects of different keys, just too many': `frame(Buffer.from(JSON.stringify({ type: 'done', id, result: Array.from({ length: 30_001 }, (_, at) => ({ ['k' + at]: 0 })) })))`,
  'objects of different keys, as many as it may': `frame(Buffer.from(JSON.stringify({ type: 'done', id, result: Array.from({ length: 29_990 }, (_, at) => ({ ['k' + at]: 0 })) })))`,
  'a text of 15 MiB': `frame(Buffer.from('{"type":"done","id":' + id + ',"result":"' + 'x'.repeat(15 * 1024 * 1024 - 100) + '"}'))`,
  'a text of 15 MiB of escapes': `frame(Buffer.from('{"type":"done","id":' + id + ',"result":"' + '\\\\u0000'.repeat(2_621_420) + '"}'))`,
};

test.each(Object.keys(HEAVY))('a frame of %s does not hold the server', async (what) => {
  const taken = startLiar(`${HEAVY[what]}, channel.send({ type: 'evaluated', id, result: {} })`);
  await taken.opened;
  const longestTurn = watchLoop();
  await expect(taken.eval({ language: 'js', code: '1' })).rejects.toMatchObject({ code: 'conflict' });
  await taken.ended;
  const ms = longestTurn();
  process.stdout.write(`a frame of ${what}: ${ms.toFixed(0)} ms of processor time in one turn\n`);
  expect(ms).toBeLessThan(HELD_MS);
});

test('what a process says of its failure is bounded, whatever it is', async () => {
  const failure = `{ code: 'internal', message: 'm'.repeat(10 << 20), hint: 'h'.repeat(5 << 20), extra: { reason: { toString: 0, valueOf: 0 } } }`;
  const taken = startLiar(`channel.send({ type: 'failed', id, failure: ${failure} })`);
  const error = await taken.eval({ language: 'js', code: '1' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WinterdockError);
  expect(String((error as Error).message).length).toBeLessThanOrEqual(4096);
  await taken.kill('killed');
});

test('messages without end, each as small as can be, do not hold the server', async () => {
  const taken = startLiar(
    `{ const one = Buffer.from([0, 0, 0, 15, 0, 0, 0, 0, 255, ...Buffer.from('{"type":"pong"}')]);
       const many = Buffer.concat(Array.from({ length: 20_000 }, () => one));
       for (let n = 0; n < 20; n += 1) raw(many);
       frame(Buffer.from('no JSON')); }`,
  );
  await taken.opened;
  const longestTurn = watchLoop();
  await expect(taken.eval({ language: 'js', code: '1' })).rejects.toMatchObject({ code: 'conflict' });
  expect(await taken.ended).toMatchObject({ cause: 'crash', detail: 'Its process broke the protocol.' });
  const ms = longestTurn();
  process.stdout.write(`400 000 messages: ${ms.toFixed(0)} ms of processor time in one turn\n`);
  expect(ms).toBeLessThan(HELD_MS);
});
