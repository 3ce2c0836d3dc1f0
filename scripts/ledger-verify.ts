/**
 * `npm run ledger:verify`: proves that no line of the ledger in the data folder was changed, removed or reordered,
 * whether the server runs or not. `-- --file segment.jsonl` proves an exported segment by itself; `-- --head head.json`
 * compares with a head that was kept elsewhere; `-- --issuer did:key:…` trusts another signature besides the own. Exits
 * with 0 only when all is proved.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { readConfig } from '../lib/base/config.ts';
import { messageOf } from '../lib/base/errors.ts';
import { trustedIssuersOf } from '../lib/base/signing.ts';
import type { LedgerHead } from '../lib/ledger/documents.ts';
import { parseHead, readHead } from '../lib/ledger/head-file.ts';
import { verifyLedger } from '../lib/ledger/verify.ts';
import { verifySegmentFile } from '../lib/ledger/verify-file.ts';
import { registryDriver } from '../lib/registry/drivers.ts';

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const refuse = (text: string): number => {
  process.stderr.write(`${text}\n`);
  return 1;
};

const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

async function verifyFile(path: string, issuers: string[]): Promise<number> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  const { flaw, lines: count, head } = await verifySegmentFile(lines, null);
  if (flaw !== null || head === null) return refuse(`NOT PROVED after ${count} lines: ${flaw}`);
  say(`Segment ${head.id}: ${count} lines, ${head.first_seq} to ${head.last_seq}, sealed ${time(head.sealed_ms)}.`);
  say(`Signed by ${head.issuer}.`);
  if (!issuers.includes(head.issuer)) {
    return refuse('NOT PROVED: nobody vouches for that issuer. Pass the one that you know with --issuer.');
  }
  say('Proved: these are all its lines, as they were sealed.');
  return 0;
}

async function verifyFolder(issuers: string[], replaced: readonly string[], others: LedgerHead[]): Promise<number> {
  const driver = registryDriver(readConfig(process.env).registry);
  const { headPath } = driver;
  if (headPath === null) return refuse('A registry in memory has no file to prove.');
  if (issuers.length === 0) return refuse('There is no signing.key in the data folder: nothing here was ever signed.');
  const kept = readHead(headPath);
  // What was replaced may seal what is before the head, and no end of the ledger.
  if (kept !== null && replaced.includes(kept.issuer)) {
    return refuse(`NOT PROVED: the signed head is of ${kept.issuer}, a key that was replaced.`);
  }
  say(`Proving ${driver.name}`);
  const view = await driver.readLedger();
  const started = performance.now();
  try {
    const proof = await verifyLedger(view, { heads: [...others, ...(kept === null ? [] : [kept])], issuers });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    say(`${proof.lines} lines verified in ${seconds} s, up to line ${proof.last.seq} (${proof.last.hash}).`);
    if (proof.segments > 0) say(`${proof.segments} sealed months; ${proof.dropped} lines were exported and dropped.`);
    if (proof.blanked > 0)
      say(`${proof.blanked} lines keep ids only: their tenants were forgotten, as signed notes say.`);
    for (const { epoch, seq, timeMs, actor, reason } of proof.epochs) {
      say(`Epoch ${epoch} was begun by ${actor} at line ${seq}, ${time(timeMs)}: ${reason}.`);
    }
    if (proof.flaw !== null) {
      const where = proof.flaw.seq === null ? '' : ` at line ${proof.flaw.seq}`;
      return refuse(`NOT PROVED${where}: ${proof.flaw.why}.`);
    }
    if (kept === null) {
      return refuse(
        `NOT PROVED: ${headPath} is missing, so lines may have been cut off at the end. A server makes it.`,
      );
    }
    for (const head of others)
      say(`It goes through the head that was given: line ${head.seq}, signed ${time(head.time_ms)}.`);
    const loose = proof.last.seq - proof.signedTo;
    if (loose > 0) say(`The last ${loose} lines are chained, but no signature covers them yet.`);
    say('Proved: no line was changed, removed or reordered.');
    return 0;
  } finally {
    await view.close();
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      file: { type: 'string' },
      head: { type: 'string', multiple: true, default: [] },
      issuer: { type: 'string', multiple: true, default: [] },
    },
  });
  const own = trustedIssuersOf(readConfig(process.env).keysFolder);
  const issuers = [...values.issuer, ...own];
  if (values.file !== undefined) return verifyFile(values.file, issuers);
  const replaced = own.slice(1).filter((issuer) => !values.issuer.includes(issuer));
  return verifyFolder(
    issuers,
    replaced,
    values.head.map((path) => parseHead(readFileSync(path, 'utf8'))),
  );
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = refuse(`NOT PROVED: ${messageOf(error)}`);
}
