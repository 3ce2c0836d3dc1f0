import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { gte, queriesOver } from '../../db/drizzle.ts';
import { events } from '../../db/schema.ts';
import { openSigner } from '../base/signing.ts';
import { CHAIN_START, canonicalLine, chainHash } from '../registry/chain.ts';
import type { LedgerHead } from './documents.ts';
import { readHead } from './head-file.ts';
import { DAY_SECONDS, openTestLedger, type TestLedger } from './testing/test-ledger.ts';
import { type LedgerProofResult, verifyLedger } from './verify.ts';

const LINES = 450;

let book: TestLedger;
let good: string;
let headPath: string;
/** A signed head of the middle, kept elsewhere. */
let elsewhere: LedgerHead;

beforeAll(async () => {
  book = await openTestLedger();
  headPath = book.driver.headPath ?? '';
  await book.write(200);
  elsewhere = await book.keeper.head();
  book.clock.advance(30 * DAY_SECONDS);
  expect((await book.keeper.tick()).sealed).toEqual(['2026-06']);
  await book.write(LINES - 201);
  await book.close();
  good = `${book.folder}-good`;
  cpSync(book.folder, good, { recursive: true });
});
afterAll(async () => {
  await book.discard();
  rmSync(good, { recursive: true, force: true });
});
beforeEach(() => cpSync(good, book.folder, { recursive: true, force: true }));

/** Runs the same verification as `npm run ledger:verify`. */
async function prove(heads: LedgerHead[] = []): Promise<LedgerProofResult> {
  const kept = readHead(headPath);
  const file = await book.driver.readLedger();
  try {
    return await verifyLedger(file, {
      heads: [...(kept === null ? [] : [kept]), ...heads],
      issuers: [book.signer.issuer],
    });
  } finally {
    await file.close();
  }
}

/** Recomputes every hash from line `first` on, as an attacker who knows the format would. */
function rechain(client: Database.Database, first: number): void {
  const before = client.prepare('SELECT hash FROM events WHERE seq < ? ORDER BY seq DESC LIMIT 1').pluck();
  let hash = (before.get(first) as string | undefined) ?? CHAIN_START.hash;
  const lines = queriesOver(client).select().from(events).where(gte(events.seq, first)).orderBy(events.seq);
  for (const line of lines.all()) {
    hash = chainHash(hash, canonicalLine(line));
    client.prepare('UPDATE events SET hash = ? WHERE seq = ?').run(hash, line.seq);
  }
}

test('the original ledger is proved, with its sealed month and its heads', async () => {
  expect(await prove([elsewhere])).toMatchObject({
    flaw: null,
    lines: LINES,
    dropped: 0,
    segments: 1,
    last: { seq: LINES },
    signedTo: LINES,
  });
});

const EVERY_FIELD: Readonly<Record<string, unknown>> = {
  time_ms: 1,
  instance: 'sb-other',
  tenant: null,
  type: 'something.else',
  from: 'active',
  to: 'active',
  trigger: 'idle',
  actor: 'user:innocent',
  via: 'console',
  source: 'cold',
  took_ms: 0.5,
  reason: 'because 9999',
  error: '',
  request_id: 'x',
  address: '192.0.2.1',
  hash: 'f'.repeat(64),
  blanked: '{}',
};

test.each(Object.entries(EVERY_FIELD))('a changed %s is found at its line', async (column, value) => {
  book.tamper((client) => client.prepare(`UPDATE events SET "${column}" = ? WHERE seq = 300`).run(value));
  expect((await prove()).flaw).toMatchObject({ seq: 300 });
});

test('the changed fields are all fields of a line', () => {
  const columns: string[] = [];
  book.tamper((client) => {
    for (const { name } of client.pragma('table_info(events)') as { name: string }[]) columns.push(name);
  });
  expect(columns.filter((name) => name !== 'seq').sort()).toEqual(Object.keys(EVERY_FIELD).sort());
});

const CHANGES: Readonly<Record<string, { change: (client: Database.Database) => void; seq: number | null }>> = {
  'a line removed in the middle': { change: (client) => client.exec('DELETE FROM events WHERE seq = 250'), seq: 250 },
  'a line removed, the rest renumbered': {
    change: (client) => {
      client.exec('DELETE FROM events WHERE seq = 250');
      for (let seq = 251; seq <= LINES; seq += 1) client.exec(`UPDATE events SET seq = ${seq - 1} WHERE seq = ${seq}`);
    },
    seq: 250,
  },
  'the first line removed': { change: (client) => client.exec('DELETE FROM events WHERE seq = 1'), seq: 1 },
  'the last line removed': { change: (client) => client.exec(`DELETE FROM events WHERE seq = ${LINES}`), seq: LINES },
  'many lines removed at the end': { change: (client) => client.exec('DELETE FROM events WHERE seq > 220'), seq: 221 },
  'the end removed, as far as the sealed month': {
    change: (client) => client.exec('DELETE FROM events WHERE seq > 150'),
    seq: 151,
  },
  'all lines removed': { change: (client) => client.exec('DELETE FROM events'), seq: 1 },
  'two lines exchanged': {
    change: (client) =>
      client.exec(
        'UPDATE events SET seq = -1 WHERE seq = 260; UPDATE events SET seq = 260 WHERE seq = 261; UPDATE events SET seq = 261 WHERE seq = -1',
      ),
    seq: 260,
  },
  'a line slipped in, the rest renumbered': {
    change: (client) => {
      for (let seq = LINES; seq >= 270; seq -= 1) client.exec(`UPDATE events SET seq = ${seq + 1} WHERE seq = ${seq}`);
      client.exec(
        'INSERT INTO events(seq, time_ms, type, "trigger", actor, via, hash) SELECT 270, time_ms, type, "trigger", actor, via, hash FROM events WHERE seq = 269',
      );
    },
    seq: 270,
  },
  'a line added at the end without knowing the chain': {
    change: (client) =>
      client.exec(
        `INSERT INTO events(seq, time_ms, type, "trigger", actor, via, hash) VALUES (${LINES + 1}, 1, 'x', 'idle', 'x', 'api', '${'0'.repeat(64)}')`,
      ),
    seq: LINES + 1,
  },
  'a changed line with all hashes made anew from there': {
    change: (client) => {
      client.exec("UPDATE events SET actor = 'user:innocent' WHERE seq = 300");
      rechain(client, 300);
    },
    seq: LINES,
  },
  'a changed line of the sealed month with all hashes made anew': {
    change: (client) => {
      client.exec("UPDATE events SET actor = 'user:innocent' WHERE seq = 100");
      rechain(client, 1);
    },
    seq: 200,
  },
  'a removed line with the whole chain made anew': {
    change: (client) => {
      client.exec('DELETE FROM events WHERE seq = 300');
      for (let seq = 301; seq <= LINES; seq += 1) client.exec(`UPDATE events SET seq = ${seq - 1} WHERE seq = ${seq}`);
      rechain(client, 300);
    },
    seq: LINES,
  },
  'a changed segment': {
    change: (client) => client.exec('UPDATE ledger_segments SET last_seq = 199, lines = 199'),
    seq: 1,
  },
  'a segment marked as dropped by someone else, its lines removed': {
    change: (client) =>
      client.exec(
        "UPDATE ledger_segments SET exported_ms = 1, dropped_ms = 1, drop_signature = 'x'; DELETE FROM events WHERE seq <= 200",
      ),
    seq: 1,
  },
};

test.each(Object.entries(CHANGES))('%s is found', async (_, { change, seq }) => {
  book.tamper(change);
  expect((await prove()).flaw).toMatchObject({ seq });
});

test('an attacker who rewrites the chain, the segment and the head needs the key; another key does not count', async () => {
  const head = readHead(headPath);
  const forger = openSigner(`${good}-forger`);
  rmSync(`${good}-forger`, { recursive: true });
  book.tamper((client) => {
    client.exec("DELETE FROM ledger_segments; UPDATE events SET actor = 'user:innocent' WHERE seq = 100");
    rechain(client, 1);
  });
  const last = await book.driver.readLedger();
  const [lastLine] = await last.lines(LINES - 1, 1);
  const hash = lastLine?.hash ?? '';
  await last.close();
  writeFileSync(headPath, JSON.stringify({ ...head, hash }));
  expect((await prove()).flaw?.why).toMatch(/no good signature/);
  const { signed } = await import('./sign.ts');
  const { issuer: _, signature: __, ...document } = { ...head, hash } as LedgerHead;
  writeFileSync(headPath, JSON.stringify(signed<LedgerHead>(forger, document)));
  expect((await prove()).flaw?.why).toMatch(/no good signature/);
});

test('a tail that was cut off together with the stored head is found by a head that was kept elsewhere', async () => {
  const older = { ...elsewhere };
  book.tamper((client) => client.exec('DELETE FROM ledger_segments; DELETE FROM events WHERE seq > 180'));
  rmSync(headPath);
  expect((await prove()).flaw).toBeNull();
  expect((await prove([older])).flaw).toMatchObject({ seq: 181 });
});

test('a server that finds its ledger changed reports it, signs no more of it and overwrites no proof', async () => {
  book.tamper((client) => client.exec(`DELETE FROM events WHERE seq > ${LINES - 10}`));
  const kept = readFileSync(headPath, 'utf8');
  await book.reopen();
  await book.write(30);
  await expect(book.keeper.head()).rejects.toMatchObject({ code: 'corrupt' });
  expect((await book.keeper.verify()).flaw).not.toBeNull();
  const broken = await book.registry.ledger.page({ type: 'ledger.broken' }, 10);
  expect(broken.rows).toHaveLength(1);
  book.clock.advance(60 * DAY_SECONDS);
  expect((await book.keeper.tick()).sealed).toEqual([]);
  await book.close();
  expect(readFileSync(headPath, 'utf8')).toBe(kept);
  expect((await prove()).flaw).not.toBeNull();
});

test('a tampered month is not sealed', async () => {
  book.tamper((client) => client.exec("UPDATE events SET actor = 'user:innocent' WHERE seq = 300"));
  await book.reopen();
  book.clock.advance(60 * DAY_SECONDS);
  expect((await book.keeper.tick()).sealed).toEqual([]);
  expect((await book.registry.segments.list()).map(({ id }) => id)).toEqual(['2026-06']);
  const [line] = (await book.registry.ledger.page({ type: 'ledger.broken' }, 10)).rows;
  expect(line?.error).toMatch(/line 300/);
  await book.close();
});

test('a start without the stored head records in the ledger that it was missing', async () => {
  rmSync(headPath);
  await book.reopen();
  expect((await book.registry.ledger.page({ type: 'ledger.head_missing' }, 10)).rows).toHaveLength(1);
  await book.close();
  expect((await prove()).flaw).toBeNull();
});
