/** Requests that say to come from a host and do not, or not so: over real sockets, byte for byte. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOP_ANSWER, HOP_HEADER } from '../hosts/hop/hop-headers.ts';
import { type SmallHosts, startSmallHosts } from '../testing/small-hosts.ts';
import { startSmallServer } from '../testing/small-server.ts';

const WAIT = { timeout: 60_000, interval: 10 };
let folder: string;
let hosts: SmallHosts;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-hop-'));
  hosts = await startSmallHosts(['one', 'two'], folder);
  hosts.owners.set('a', 'two');
});
afterEach(() => {
  hosts.stop();
  rmSync(folder, { recursive: true, force: true });
});

const one = () => hosts.at('one');
const two = () => hosts.at('two');

describe('whoever is no host', () => {
  test.each([
    ['a client that imitates the header', 'anything'],
    ['a client that sends an empty one', ''],
  ])('is refused, whatever key it has: %s', async (_what, value) => {
    const { status, headers, json } = await two().call('GET', '/api/instances/a/look', undefined, {
      headers: { [HOP_HEADER]: value },
    });
    expect([status, headers[HOP_ANSWER], json.code]).toEqual([421, 'refused', 'forbidden']);
    expect(two().seen.looks).toBeUndefined();
    expect(two().logged.map(({ why }) => why)).toContain('it is no statement of a host');
  });

  test('sees a refused body read to its end, and the connection goes on', async () => {
    const body = Buffer.alloc(300_000);
    const { status } = await two().call('PUT', '/api/instances/a/files/x', body, { headers: { [HOP_HEADER]: 'x' } });
    expect(status).toBe(421);
    expect(two().seen.sizes).toEqual([]);
  });

  /** What host one sends to host two, byte for byte, and what it answered; `arrives`: host two gets it. */
  async function recorded({ arrives }: { arrives: boolean }): Promise<{ raw: Buffer; answer: string }> {
    const pieces: Buffer[] = [];
    const [row, port] = [hosts.rows.get('two'), two().port];
    if (row === undefined) throw new Error('There is no row.');

    const between = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (piece) => {
        pieces.push(piece);
        if (!arrives && String(piece).includes('recorded')) socket.destroy();
      });
      if (!arrives) return;
      const onward = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.pipe(onward).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    // The clock of host two is known by then.
    await one().call('POST', '/api/instances/a/echo', { text: 'first' });
    hosts.rows.set('two', { ...row, url: `http://127.0.0.1:${(between.address() as AddressInfo).port}` });
    const { text } = await one().call('POST', '/api/instances/a/echo', { text: 'recorded' });
    hosts.rows.set('two', row);
    between.close();
    return { raw: Buffer.concat(pieces), answer: text };
  }

  /** Sends bytes to host two as they are; resolves with the status and the body of the answer. */
  async function replay(raw: Buffer): Promise<{ status: number; body: string }> {
    const socket = connect(two().port, '127.0.0.1');
    socket.write(raw);
    let text = '';
    socket.on('data', (piece) => {
      text += piece;
    });
    await expect.poll(() => /\r\n\r\n.*}/s.test(text), WAIT).toBe(true);
    socket.destroy();
    return { status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), body: text.slice(text.indexOf('\r\n\r\n') + 4) };
  }

  test('cannot send again what a host sent', async () => {
    const { raw, answer } = await recorded({ arrives: true });
    expect(JSON.parse(answer)).toMatchObject({ body: { text: 'recorded' } });
    expect(await replay(raw)).toMatchObject({ status: 421, body: expect.not.stringContaining('recorded') });
  });

  test('cannot alter what a host sends on its way', async () => {
    const { raw, answer } = await recorded({ arrives: false });
    expect(JSON.parse(answer)).toMatchObject({ status: 503, started: true });
    const altered = Buffer.from(raw.toString('latin1').replaceAll('recorded', 'altered!'), 'latin1');
    expect(await replay(altered)).toMatchObject({ status: 400, body: expect.not.stringContaining('altered!') });
    // The very same bytes come through where nothing was altered and they had not come before.
    const untouched = await recorded({ arrives: false });
    expect(await replay(untouched.raw)).toMatchObject({ status: 200, body: expect.stringContaining('recorded') });
  });

  test('finds no hop on a server that has its registry for itself', async () => {
    const alone = await startSmallServer();
    const headers = { [HOP_HEADER]: 'x' };
    const { status, json } = await alone.call('GET', '/api/instances/a/look', undefined, { headers });
    expect([status, json.code]).toEqual([421, 'forbidden']);
    alone.stop();
  });
});
