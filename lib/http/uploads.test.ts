import { once } from 'node:events';
import { createReadStream, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SMALL_KEY as KEY, LIMITS, MIB, type SmallServer, startSmallServer } from '../testing/small-server.ts';
import { answerWeb } from './web-adapter.ts';

let small: SmallServer;
let folder: string;
let saved: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-upload-'));
  saved = join(folder, 'saved');
  small = await startSmallServer(saved);
});
afterEach(() => {
  small.stop();
  rmSync(folder, { recursive: true, force: true });
});

function upload(headers: Record<string, string> = {}) {
  return request({
    port: small.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/api/instances/a/upload',
    agent: false,
    headers: { authorization: `Bearer ${KEY}`, ...headers },
  });
}

/** Sends pieces that each begin with their number. Resolves with the status, or null when the connection was cut. */
async function send(bytes: number, headers?: Record<string, string>): Promise<number | null> {
  const req = upload(headers);
  const answer = once(req, 'response').then(
    ([res]) => {
      res.resume();
      return res.statusCode as number;
    },
    () => null,
  );
  const closed = once(req, 'close').catch(() => undefined);
  for (let at = 0; at < bytes; at += MIB) {
    const piece = Buffer.alloc(Math.min(MIB, bytes - at));
    piece.writeUInt32LE(at / MIB);
    if (req.destroyed) break;
    if (!req.write(piece)) await Promise.race([once(req, 'drain'), closed]);
  }
  req.end();
  return answer;
}

test('an upload goes to a file as it comes, whole and in order, and is not held in memory', async () => {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 5);
  expect(await send(200 * MIB)).toBe(201);
  clearInterval(timer);
  expect(most - before).toBeLessThan(100 * MIB);
  expect(statSync(saved).size).toBe(200 * MIB);
  expect(statSync(saved).mode & 0o777).toBe(0o600);
  let at = 0;
  for await (const piece of createReadStream(saved, { highWaterMark: MIB })) {
    expect((piece as Buffer).readUInt32LE()).toBe(at);
    at += 1;
  }
});

test('an upload over the limit is refused by its length at once, else while it streams, and leaves nothing', async () => {
  const req = upload({ 'content-length': String(LIMITS.maxSandboxBytes + 1) });
  req.flushHeaders();
  const [res] = await once(req, 'response');
  expect(res.statusCode).toBe(413);
  req.destroy();
  expect(await send(LIMITS.maxSandboxBytes + MIB)).toBe(413);
  expect(readdirSync(folder)).toEqual([]);
});

test('an upload whose sender goes away in its middle leaves nothing', async () => {
  const req = upload({ 'content-length': String(50 * MIB) });
  req.on('error', () => undefined);
  req.write(Buffer.alloc(MIB));
  await expect.poll(() => readdirSync(folder)).toEqual(['saved']);
  req.destroy();
  await expect.poll(() => readdirSync(folder)).toEqual([]);
});

test('the web adapter takes uploads as the other one does', async () => {
  const pieces = new ReadableStream({
    start(controller) {
      for (const text of ['one ', 'two ', 'three']) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
  const answer = await answerWeb(
    small.dispatcher,
    new Request('http://dock.example/api/instances/a/upload', {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/zip' },
      body: pieces,
      duplex: 'half',
    } as RequestInit),
  );
  expect([answer.status, await answer.json()]).toEqual([201, { size: 13, type: 'application/zip' }]);
});

test('an upload of nothing is an empty file', async () => {
  expect(await send(0)).toBe(201);
  expect(statSync(saved).size).toBe(0);
});
