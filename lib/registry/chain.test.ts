import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CHAIN_START, type ChainedLine, canonicalLine, chainHash } from './chain.ts';
import { entry, HOSTILE, makeInstance, transitionTo } from './testing/fixtures.ts';
import { openTestRegistry } from './testing/open-test-registry.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-chain-'));
  path = join(folder, 'registry.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openTestRegistry(path);

/** Verifies a chain without any of the code that makes it. */
function expectChained(lines: ChainedLine[], first = 1, before = '0'.repeat(64)): void {
  let previous = before;
  for (const [at, line] of lines.entries()) {
    expect(line.seq).toBe(first + at);
    const digest = createHash('sha256').update(previous).update(canonicalLine(line)).digest('hex');
    expect(line.hash, `line ${line.seq}`).toBe(digest);
    previous = line.hash;
  }
}

test('the canonical text and the hash of a line never change', () => {
  const line = {
    ...entry({ type: 'transition', from: 'active', to: 'frozen', tookMs: 1.25, reason: 'ü "x"\n' }),
    seq: 7,
  };
  const text =
    '{"seq":7,"time_ms":1765500000000,"type":"transition","from":"active","to":"frozen","trigger":"request",' +
    '"actor":"key:test","via":"api","took_ms":1.25,"reason":"ü \\"x\\"\\n"}';
  expect(canonicalLine(line)).toBe(text);
  expect(chainHash(CHAIN_START.hash, text)).toBe(
    createHash('sha256')
      .update(`${'0'.repeat(64)}${text}`)
      .digest('hex'),
  );
  expect(canonicalLine({ ...line, address: '192.0.2.1' })).toBe(`${text.slice(0, -1)},"address":"192.0.2.1"}`);
});

test('every way of appending extends the chain, across processes and restarts, whatever the text', async () => {
  const first = await open();
  const row = await makeInstance(first, 'a', 'active');
  await first.instances.commit(transitionTo(row, 'suspended'));
  await first.ledger.append(HOSTILE.map((text) => entry({ reason: text, actor: text, tookMs: 0.1 + 0.2 })));
  await first.ledger.append([entry({ reason: 'half \ud800', address: '2001:db8::1' })]);
  const other = await open();
  await other.ledger.append([entry({ type: 'by another' })]);
  await first.ledger.append([entry({ type: 'by the first again' })]);
  await expect(async () => first.instances.commit(transitionTo(row, 'frozen'))).rejects.toThrow();
  await other.ledger.append([entry()]);
  await first.close();
  await other.close();
  const again = await open();
  await again.ledger.append([entry()]);
  const lines = await again.ledger.chain(0, 1000);
  expect(lines).toHaveLength(3 + HOSTILE.length + 5);
  expectChained(lines);
  expect(lines.map(({ hash, blanked, ...line }) => line)).toEqual(await again.ledger.after(0, 1000));
  expect(lines.at(-5)?.reason).toBe('half \ufffd');
  expect(await again.ledger.head()).toEqual({ seq: lines.length, hash: lines.at(-1)?.hash });
  await again.close();
});

test('the database itself refuses to change, remove, replace or slip in a line', async () => {
  const registry = await open();
  await registry.ledger.append([entry(), entry(), entry()]);
  const client = new Database(path);
  const insert = (verb: string, seq: string, hash: string) =>
    `${verb} INTO events(seq, time_ms, type, "trigger", actor, via, hash) VALUES (${seq}, 1, 'x', 'request', 'x', 'api', ${hash})`;
  const refused = [
    "UPDATE events SET actor = 'nobody' WHERE seq = 2",
    "UPDATE events SET hash = 'x' WHERE seq = 2",
    'UPDATE events SET hash = NULL WHERE seq = 2',
    'UPDATE OR REPLACE events SET seq = 2 WHERE seq = 3',
    'DELETE FROM events WHERE seq = 3',
    'DELETE FROM events',
    insert('INSERT OR REPLACE', '2', "'x'"),
    insert('INSERT OR REPLACE', '3', "'x'"),
    insert('INSERT', '5', "'x'"),
    insert('INSERT', '0', "'x'"),
    insert('INSERT', 'NULL', "'x'"),
    insert('INSERT', '4', 'NULL'),
  ];
  for (const sql of refused) expect(() => client.exec(sql), sql).toThrow(/append-only/);
  client.close();
  expectChained(await registry.ledger.chain(0, 10));
  expect(await registry.ledger.lastSeq()).toBe(3);
  await registry.close();
});
