import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { isWinterdockError } from '../base/errors.ts';
import { KEY_FILES, type KeyName, newKeyFile, oldKeyFile } from '../base/key-files.ts';
import { openSigner, signerOf, trustedIssuersOf } from '../base/signing.ts';
import { HEAD_KIND, type LedgerHead } from '../ledger/documents.ts';
import { readHead, writeHead } from '../ledger/head-file.ts';
import { isSigned, signed } from '../ledger/sign.ts';
import { DAY_SECONDS, openTestLedger } from '../ledger/testing/test-ledger.ts';
import { programOf } from '../testing/program.ts';
import { acceptKey, finishKey, rotateKey } from './change-key.ts';
import { keyProblems, requireOwnKeys } from './start-keys.ts';
import { changeKey, fillFolder, opened, placesOf, SECRETS, type Verb, withRegistry } from './testing/key-folder.ts';

const VICTIM = programOf(fileURLToPath(new URL('./testing/victim.ts', import.meta.url)));
const EVERYTHING = SECRETS + 2;

let root: string;
let base: string;
let made = 0;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-rotation-'));
  base = join(root, 'base');
  mkdirSync(base);
  await fillFolder(base);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function copyOf(folder: string): string {
  made += 1;
  const copy = join(root, `copy-${made}`);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

const problemsOf = (folder: string) => keyProblems(placesOf(folder));
const headOf = (folder: string) => readHead(join(folder, 'registry.sqlite.head'));

/** The change, or the code of its refusal where everything was done already. */
async function again(folder: string, verb: Verb, name: KeyName): Promise<void> {
  try {
    await changeKey(folder, verb, name, systemClock);
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'conflict') throw error;
    expect(error.message).toMatch(/is being rotated since|is not being rotated|is the key that the registry knows/);
    // It is refused for what was done, and not for what was left.
    expect(await problemsOf(folder)).toEqual([]);
  }
}

/** What holds of a folder whose change is done. */
async function expectDone(folder: string, verb: Verb, name: KeyName, isLost: boolean): Promise<void> {
  expect(await problemsOf(folder)).toEqual([]);
  expect(existsSync(join(folder, newKeyFile(name)))).toBe(false);
  expect(existsSync(join(folder, oldKeyFile(name)))).toBe(verb === 'rotate');
  const own = await requireOwnKeys(placesOf(folder));
  expect(Object.keys(own.before)).toEqual(verb === 'rotate' ? [name] : []);
  const opens = isLost && name === 'secrets' ? 0 : EVERYTHING;
  expect(await opened(folder, { withOld: verb === 'rotate' })).toBe(opens);
  const head = headOf(folder);
  const [issuer = ''] = trustedIssuersOf(folder);
  expect(head !== null && isSigned(head, [issuer])).toBe(true);
}

/** Kills the change before each of its effects in turn, looks, and does it again. */
async function killEach(from: string, verb: Verb, name: KeyName, isLost = false): Promise<number> {
  const whole = copyOf(from);
  const run = (folder: string, at: number) =>
    spawnSync(process.execPath, [VICTIM, folder, verb, name, String(at)], { encoding: 'utf8', timeout: 120_000 });
  const effects = Number(run(whole, -1).stdout);
  expect(effects).toBeGreaterThan(2);
  await expectDone(whole, verb, name, isLost);
  for (let at = 0; at < effects; at += 1) {
    const folder = copyOf(from);
    expect(run(folder, at).signal).toBe('SIGKILL');
    const problems = await problemsOf(folder);
    const known = isLost
      ? /is missing: the registry knows|was interrupted: npm run keys -- rotate/
      : /was interrupted: npm run keys -- rotate/;
    for (const problem of problems) expect(problem).toMatch(known);
    // A server that may start opens everything.
    if (problems.length === 0 && !isLost) {
      const { before } = await requireOwnKeys(placesOf(folder));
      expect(await opened(folder, { withOld: before.secrets !== undefined })).toBe(EVERYTHING);
    }
    await again(folder, verb, name);
    await expectDone(folder, verb, name, isLost);
    rmSync(folder, { recursive: true });
  }
  return effects;
}

test.each(['secrets', 'signing', 'auth'] as const)(
  'a rotation of %s that is killed before any of its effects starts or says what goes on, and goes on',
  async (name) => {
    await killEach(base, 'rotate', name);
    const rotated = copyOf(base);
    await changeKey(rotated, 'rotate', name, systemClock);
    await killEach(rotated, 'finish', name);
  },
);

test.each(['secrets', 'signing'] as const)(
  'a lost key of %s that is given up by a command that is killed before any of its effects is given up once',
  async (name) => {
    const without = copyOf(base);
    rmSync(join(without, KEY_FILES[name]));
    await killEach(without, 'accept', name, true);
  },
);

test('while a key is rotated two open and one seals, and what it sealed alone is left after it', async () => {
  const folder = copyOf(base);
  const before = readFileSync(join(folder, 'secrets.key'), 'utf8');
  await changeKey(folder, 'rotate', 'secrets', systemClock);
  expect(readFileSync(join(folder, oldKeyFile('secrets')), 'utf8')).toBe(before);
  expect(readFileSync(join(folder, 'secrets.key'), 'utf8')).not.toBe(before);
  await expect(changeKey(folder, 'rotate', 'secrets', systemClock)).rejects.toMatchObject({
    code: 'conflict',
    hint: 'npm run keys -- finish secrets ends that.',
  });
  expect(await opened(folder, { withOld: false })).toBe(0);
  expect(await opened(folder, { withOld: true })).toBe(EVERYTHING);
  const aside = join(root, 'aside');
  cpSync(join(folder, oldKeyFile('secrets')), aside);
  rmSync(join(folder, oldKeyFile('secrets')));
  expect(await problemsOf(folder)).toEqual([
    expect.stringMatching(/secrets-old\.key is missing: secrets\.key is being rotated, and the registry still accepts/),
  ]);
  await expect(changeKey(folder, 'finish', 'secrets', systemClock)).rejects.toMatchObject({ code: 'conflict' });
  cpSync(aside, join(folder, oldKeyFile('secrets')));
  const said = await changeKey(folder, 'finish', 'secrets', systemClock);
  expect(said).toEqual([
    `${SECRETS + 1} secrets were sealed again.`,
    'secrets-old.key is removed, and no longer accepted.',
  ]);
  expect(await opened(folder, { withOld: false })).toBe(EVERYTHING);
  const types = await withRegistry(folder, async (registry) =>
    (await registry.ledger.page({}, 10)).rows.map(({ type, actor }) => `${type} ${actor}`),
  );
  expect(types.slice(0, 2)).toEqual(['keys.finished keys', 'keys.rotated keys']);
});

test('a month that a replaced key sealed still verifies and is dropped, and that key signs no end of the ledger', async () => {
  const book = await openTestLedger();
  try {
    await book.write(30);
    book.clock.advance(31 * DAY_SECONDS);
    await book.write(5);
    expect((await book.keeper.tick()).sealed).toEqual(['2026-06']);
    const places = placesOf(book.folder);
    for (const name of ['auth.secret', 'admin.key'])
      writeFileSync(join(book.folder, name), 'x'.repeat(20), { mode: 0o600 });
    writeFileSync(join(book.folder, 'secrets.key'), `${Buffer.alloc(32, 7).toString('base64url')}\n`, { mode: 0o600 });
    await (await requireOwnKeys(places)).record(book.registry.facts, book.clock);
    await book.close();
    const first = openSigner(book.folder);
    const stolen = readFileSync(join(book.folder, 'signing.key'), 'utf8');

    for (const verb of [rotateKey, finishKey, rotateKey, finishKey]) {
      await withRegistry(book.folder, (registry) => verb({ places, registry, clock: book.clock }, 'signing'));
    }
    expect(readdirSync(book.folder).filter((name) => /-(?:old|new)\.key$/.test(name))).toEqual([]);
    const trusted = trustedIssuersOf(book.folder);
    expect(trusted).toHaveLength(3);
    expect(trusted[2]).toBe(first.issuer);
    await book.reopen({ keepDays: 1 });
    expect(book.keeper.flaw()).toBeNull();
    expect(await book.keeper.verify()).toMatchObject({ flaw: null, segments: 1 });
    await book.registry.segments.markExported('2026-06', book.clock.now());
    book.clock.advance(40 * DAY_SECONDS);
    expect((await book.keeper.tick()).dropped).toContain('2026-06');
    expect(await book.keeper.verify()).toMatchObject({ flaw: null, dropped: 30 });
    await book.close();

    const { seq, hash } = headOf(book.folder) as LedgerHead;
    const forger = signerOf(stolen, 'stolen');
    await writeHead(
      join(book.folder, 'registry.sqlite.head'),
      signed<LedgerHead>(forger, { kind: HEAD_KIND, seq, hash, time_ms: book.clock.now() }),
    );
    await book.reopen();
    expect(book.keeper.flaw()).toMatch(/is signed with another key than signing\.key/);
    await expect(rotateKey({ places, registry: book.registry, clock: book.clock }, 'signing')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('nothing was rotated'),
    });
  } finally {
    await book.discard();
  }
});

test('a name that somebody wrote into the registry is trusted by nobody, and accepting a key says whose it was', async () => {
  const folder = copyOf(base);
  const other = join(root, 'other-signer');
  const { issuer } = openSigner(other);
  cpSync(join(other, 'signing.key'), join(folder, 'signing.key'));
  expect(await problemsOf(folder)).toEqual([expect.stringContaining(`this one is ${issuer}.`)]);
  expect(trustedIssuersOf(folder)).toEqual([issuer]);
  await withRegistry(folder, (registry) =>
    acceptKey({ places: placesOf(folder), registry, clock: systemClock }, 'signing'),
  );
  expect(await problemsOf(folder)).toEqual([]);
  expect(trustedIssuersOf(folder)).toEqual([issuer, openSigner(base).issuer]);
  expect(headOf(folder)?.issuer).toBe(issuer);
});
