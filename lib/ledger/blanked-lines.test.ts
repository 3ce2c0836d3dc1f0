import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSigner } from '../base/signing.ts';
import { CHAIN_START, canonicalLine, chainHash } from '../registry/chain.ts';
import { eachOf } from '../registry/each-of.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { BlankNoteDigest, blankNote, TENANT_FORGOTTEN } from './blanked-lines.ts';
import type { LedgerHead } from './documents.ts';
import { readHead } from './head-file.ts';
import { segmentHeadOf } from './sign.ts';
import { DAY_SECONDS, openTestLedger, type TestLedger } from './testing/test-ledger.ts';
import { type LedgerProofResult, verifyLedger } from './verify.ts';
import { exportedLine, verifySegmentFile } from './verify-file.ts';

const JOB = 'job-of-it';

let book: TestLedger;
beforeEach(async () => {
  book = await openTestLedger();
  for (let n = 0; n < 30; n += 1) {
    book.clock.advance(60);
    const tenant = n % 3 === 0 ? 'acme' : 'globex';
    await book.registry.ledger.append([
      entry({
        timeMs: book.clock.now(),
        tenant,
        instance: `${tenant}-${n}`,
        reason: `because ${n}`,
        address: '192.0.2.9',
      }),
    ]);
  }
});
afterEach(() => book.discard());

/** Blanks every line of acme, as a forgetting does; `ends` appends its last line. */
async function blank(ends = true, signer = book.signer): Promise<void> {
  const { tenantForgettings } = book.registry;
  const begun = { job: JOB, tenant: 'acme', actor: 'key:admin', via: 'api', started: 1 } as const;
  await tenantForgettings.begin(
    begun,
    entry({ type: 'tenant.forgetting', tenant: 'acme', reason: JOB, requestId: JOB }),
  );
  for (let seq: number | null = 0; seq !== null; ) {
    const { lines, next } = await tenantForgettings.toBlank(JOB, 'acme', seq, 4);
    await tenantForgettings.blank(
      lines.map(({ line, previous }) => ({ seq: line.seq, note: blankNote(signer, line, previous, JOB) })),
    );
    seq = next;
  }
  if (!ends) return;
  const digest = new BlankNoteDigest();
  for await (const note of eachOf(await tenantForgettings.notes(JOB))) digest.add(note);
  await tenantForgettings.finish(
    JOB,
    2,
    entry({ type: TENANT_FORGOTTEN, tenant: 'acme', reason: digest.words(), requestId: JOB }),
  );
}

async function prove(heads: LedgerHead[] = []): Promise<LedgerProofResult> {
  const kept = readHead(book.driver.headPath ?? '');
  const file = await book.driver.readLedger();
  try {
    const issuers = [book.signer.issuer];
    return await verifyLedger(file, { heads: [...heads, ...(kept === null ? [] : [kept])], issuers });
  } finally {
    await file.close();
  }
}

test('blanked lines keep their ids and their hashes, and earlier and later heads still prove the chain', async () => {
  const before = await book.keeper.head();
  const hashes = (await book.registry.ledger.chain(0, 100)).map(({ hash }) => hash);
  await blank();
  const lines = await book.registry.ledger.chain(0, 100);
  expect(lines.slice(0, 30).map(({ hash }) => hash)).toEqual(hashes);
  for (const line of lines.slice(0, 30)) {
    const own = line.tenant === 'acme';
    expect([line.instance, line.reason === null, line.address === null, line.blanked !== null]).toEqual([
      line.instance,
      own,
      own,
      own,
    ]);
  }
  const after = await book.keeper.head();
  expect(await prove([before, after])).toMatchObject({ flaw: null, lines: 32, blanked: 10 });
  // Half way, when the server was killed, it is proved as well.
  expect(await book.keeper.verify()).toMatchObject({ flaw: null, blanked: 10 });
});

test('a forgetting under way is verified, and continues over a month that is sealed meanwhile', async () => {
  await blank(false);
  expect(await prove()).toMatchObject({ flaw: null, blanked: 10 });
  book.clock.advance(31 * DAY_SECONDS);
  expect((await book.keeper.tick()).sealed).toEqual(['2026-06']);
  expect(await prove()).toMatchObject({ flaw: null, blanked: 10, segments: 1 });
});

test('the ledger gives up texts only for an open forgetting, and no other member of a line', async () => {
  const client = new Database(book.path);
  const update = (set: string) => () => client.prepare(`UPDATE events SET ${set} WHERE seq = 1`).run();
  const gone = 'reason = NULL, error = NULL, request_id = NULL, address = NULL';
  expect(update(`${gone}, blanked = '{"by":"${JOB}"}'`)).toThrow('append-only');
  const begun = { job: JOB, tenant: 'acme', actor: 'key:admin', via: 'api', started: 1 } as const;
  await book.registry.tenantForgettings.begin(begun, entry());
  expect(update(`${gone}, blanked = '{"by":"another"}'`)).toThrow('append-only');
  expect(update(`${gone}, actor = 'x', blanked = '{"by":"${JOB}"}'`)).toThrow('append-only');
  expect(update(`reason = 'other', blanked = '{"by":"${JOB}"}'`)).toThrow('append-only');
  expect(update(gone)).toThrow('append-only');
  expect(update(`${gone}, blanked = '{"by":"${JOB}"}'`)).not.toThrow();
  expect(update(`blanked = '{"by":"${JOB}","again":1}'`)).toThrow('append-only');
  expect(() => client.prepare('DELETE FROM forgettings').run()).toThrow('never forgotten');
  client.close();
});

test.each<
  [string, (client: Parameters<Parameters<TestLedger['tamper']>[0]>[0], signer: TestLedger['signer']) => void, RegExp]
>([
  ['a member of a blanked line', (client) => client.exec(`UPDATE events SET actor = 'x' WHERE seq = 4`), /line 4 /],
  ['its time', (client) => client.exec('UPDATE events SET time_ms = 1 WHERE seq = 4'), /line 4 /],
  ['a text put back', (client) => client.exec(`UPDATE events SET reason = 'mine' WHERE seq = 4`), /line 4 /],
  ['the note taken away', (client) => client.exec('UPDATE events SET blanked = NULL WHERE seq = 4'), /line 4 /],
  [
    'the note of another line',
    (client) => client.exec('UPDATE events SET blanked = (SELECT blanked FROM events WHERE seq = 7) WHERE seq = 4'),
    /line 4 /,
  ],
  [
    'the lines before it, with hashes made anew',
    (client) => {
      let hash = CHAIN_START.hash;
      for (const seq of [1, 2, 3]) {
        if (seq === 1) {
          hash = client.prepare('SELECT hash FROM events WHERE seq = 1').pluck().get() as string;
          continue;
        }
        const line = entry({ timeMs: seq, tenant: 'globex', reason: 'never happened' });
        hash = chainHash(hash, canonicalLine({ ...line, seq }));
        client
          .prepare(
            `UPDATE events SET time_ms = ?, tenant = 'globex', instance = NULL, reason = 'never happened', address = NULL, hash = ? WHERE seq = ?`,
          )
          .run(seq, hash, seq);
      }
    },
    /line 4 was blanked/,
  ],
  [
    'a line blanked with another key',
    (client, other) => {
      const line = { ...entry({ tenant: 'globex' }), seq: 5, hash: 'a'.repeat(64), blanked: null };
      client
        .prepare('UPDATE events SET reason = NULL, address = NULL, blanked = ? WHERE seq = 5')
        .run(blankNote(other, line, 'b'.repeat(64), JOB));
    },
    /line 5 was blanked/,
  ],
])('%s is found', async (_what, change, found) => {
  await blank();
  await book.close();
  book.tamper((client) => change(client, openSigner(`${book.folder}/other`)));
  expect((await prove()).flaw?.why).toMatch(found);
});

test('a line that the server’s own key blanked without announcing it is found at the last line of the forgetting', async () => {
  await blank();
  await book.close();
  book.tamper((client) => {
    const previous = client.prepare('SELECT hash FROM events WHERE seq = 4').pluck().get() as string;
    const row = client.prepare('SELECT instance, hash, time_ms FROM events WHERE seq = 5').get() as {
      instance: string;
      hash: string;
      time_ms: number;
    };
    const line = { ...entry({ tenant: 'globex', instance: row.instance }), seq: 5, hash: row.hash, blanked: null };
    const note = blankNote(book.signer, { ...line, timeMs: row.time_ms }, previous, JOB);
    client.prepare('UPDATE events SET reason = NULL, address = NULL, blanked = ? WHERE seq = 5').run(note);
  });
  expect((await prove()).flaw).toMatchObject({ seq: 32, why: expect.stringContaining('but the blanked lines are') });
});

test('a month with blanked lines is exported without their texts and proves itself', async () => {
  book.clock.advance(31 * DAY_SECONDS);
  await book.keeper.tick();
  await blank();
  const [segment] = await book.registry.segments.list();
  if (segment === undefined) throw new Error('no month was sealed');
  const lines = await book.registry.ledger.chain(segment.firstSeq - 1, segment.lines);
  const file = [...lines.map(exportedLine), JSON.stringify(segmentHeadOf(segment))];
  const proved = async (texts: string[], trusted: string[] | null = [book.signer.issuer]) =>
    (
      await verifySegmentFile(
        (async function* () {
          yield* texts;
        })(),
        trusted,
      )
    ).flaw;
  expect(await proved(file)).toBeNull();
  expect(await proved(file, null)).toBeNull();
  expect(file[0]).not.toContain('because');
  // The first line, one in the middle, and a line before a blanked one.
  for (const [at, from, to] of [
    [0, '"acme-0"', '"acme-9"'],
    [3, '"acme-3"', '"acme-9"'],
    [3, '"by":"job-of-it"', '"by":"job-of-me"'],
    [2, 'because 2', 'because 7'],
  ] as const) {
    const changed = file.map((text, line) => (line === at ? text.replace(from, to) : text));
    expect(changed).not.toEqual(file);
    expect([at, await proved(changed)]).not.toEqual([at, null]);
    expect([at, await proved(changed, null)]).not.toEqual([at, null]);
  }
});
