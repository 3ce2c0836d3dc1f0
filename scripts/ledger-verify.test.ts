import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issuerOf } from '../lib/base/signing.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { startServer } from '../lib/testing/server.ts';

const SCRIPT = fileURLToPath(new URL('ledger-verify.ts', import.meta.url));

let folder: string;
let server: ServerProcess;
let head: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-verify-'));
  server = await spawnServer({ folder });
  for (let n = 0; n < 5; n += 1) await server.call('POST', '/api/instances', { id: `i-${n}`, tenant: 'acme' });
  head = join(folder, 'head.json');
  writeFileSync(head, (await server.call('GET', '/api/events/head')).text);
});
afterAll(async () => {
  if (server.child.exitCode === null) await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function verify(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    env: { ...process.env, WB_DATA: folder },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

// One ledger, longer from test to test.
describe('a ledger and its server', { shuffle: false }, () => {
  test('beside a running server the command proves the ledger and says what it did', async () => {
    const { status, stdout, stderr } = verify();
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^5 lines verified in [\d.]+ s, up to line 5 \([0-9a-f]{64}\)\.$/m);
    expect(stdout).toMatch(/^Proved: no line was changed, removed or reordered\.$/m);
    expect(status).toBe(0);
    expect((await server.call('POST', '/api/instances', { id: 'after', tenant: 'acme' })).status).toBe(201);
  });

  test('on a folder that nobody uses it does the same and leaves nothing there', async () => {
    expect(await server.end('SIGTERM')).toBe(0);
    const before = readdirSync(folder).sort();
    const { status, stdout } = verify('--head', head);
    expect(stdout).toContain('It goes through the head that was given: line 5');
    expect(stdout).toContain('6 lines verified');
    expect(status).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  test('a server that was killed leaves a ledger that is proved, before and after the next start', async () => {
    const killed = await spawnServer({ folder });
    for (let n = 0; n < 8; n += 1) await killed.call('POST', '/api/instances', { id: `k-${n}`, tenant: 'acme' });
    await killed.end('SIGKILL');
    const after = verify('--head', head);
    expect([after.status, after.stderr]).toEqual([0, '']);
    expect(after.stdout).toContain('14 lines verified');
    const again = await spawnServer({ folder });
    const proof = await again.call('GET', '/api/events/verify');
    await again.end('SIGTERM');
    expect(proof.json).toMatchObject({ ok: true, lines: 14, signed_to: 14 });
  });

  test('a ledger that was changed, cut off or lost its head fails, with the first bad line', () => {
    const path = join(folder, 'registry.sqlite');
    const good = readFileSync(path);
    const change = (sql: string) => {
      const client = new Database(path);
      client.exec(`DROP TRIGGER events_not_changed; DROP TRIGGER events_not_removed; ${sql}`);
      client.close();
      const done = verify();
      writeFileSync(path, good);
      return done;
    };
    const changed = change("UPDATE events SET actor = 'user:innocent' WHERE seq = 3");
    expect([changed.status, changed.stderr]).toEqual([1, expect.stringMatching(/^NOT PROVED at line 3: /)]);
    const cut = change('DELETE FROM events WHERE seq = 14');
    expect([cut.status, cut.stderr]).toEqual([
      1,
      expect.stringMatching(/^NOT PROVED at line 14: .*its end was removed/),
    ]);

    const kept = readFileSync(`${path}.head`);
    rmSync(`${path}.head`);
    expect([verify().status, verify().stderr]).toEqual([1, expect.stringMatching(/head is missing/)]);
    writeFileSync(`${path}.head`, kept);
    expect(verify().status).toBe(0);
  });
});

test('what is not there, not a ledger or not an option fails', () => {
  expect(verify('--head', join(folder, 'none')).status).toBe(1);
  expect(verify('--head', join(folder, 'registry.sqlite')).status).toBe(1);
  expect(verify('--file', join(folder, 'none')).status).toBe(1);
  expect(verify('--file', head).status).toBe(1);
  expect(verify('--wrong').status).toBe(1);
  const empty = spawnSync(process.execPath, [SCRIPT], { env: { ...process.env, WB_DATA: join(folder, 'empty') } });
  expect(empty.status).toBe(1);
});

test('an exported month is proved by itself, by whoever knows the issuer', async () => {
  const other = await startServer();
  try {
    await other.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
    other.clock.advance(60 * 86_400);
    await other.host.ledger.tick();
    const [{ id } = { id: '' }] = (await other.call<{ id: string }[]>('GET', '/api/events/segments')).json;
    const { text } = await other.call('GET', `/api/events/segments/${id}`);
    const file = join(folder, 'segment.jsonl');
    writeFileSync(file, text);
    const issuer = issuerOf(other.folder) ?? '';
    const stranger = verify('--file', file);
    expect([stranger.status, stranger.stderr]).toEqual([1, expect.stringMatching(/nobody vouches/)]);
    const known = verify('--file', file, '--issuer', issuer);
    expect(known.stdout).toMatch(/^Proved: /m);
    expect(known.status).toBe(0);
    writeFileSync(file, text.replace('acme', 'acne'));
    const changed = verify('--file', file, '--issuer', issuer);
    expect([changed.status, changed.stderr]).toEqual([1, expect.stringMatching(/^NOT PROVED/)]);
  } finally {
    await other.stop();
  }
});
