/**
 * Decides whether a server may start on a registry: not when the signed head or the drawers show that a newer
 * registry exists, because files that only the newer one names would be taken for orphans; and not when its files are
 * not there, because all sandboxes would be taken for lost. Runs before it is opened or made; changes nothing.
 */
import { basename } from 'node:path';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { issuerOf } from '../base/signing.ts';
import { CHAIN_START, type ChainHead } from '../registry/chain.ts';
import type { RegistryDriver, RegistryMoment } from '../registry/driver.ts';
import type { Drawers } from '../storage/drawer.ts';
import { isOfCopy, type KeptFile, keptFiles } from '../storage/inventory.ts';
import { chainIncludes } from './chain-includes.ts';
import type { LedgerHead } from './documents.ts';
import { type EmptyDrawer, findEmptyDrawers } from './empty-drawers.ts';
import { readHead, unreadableHead } from './head-file.ts';
import { isSigned } from './sign.ts';

/** The ways in which a registry can disagree with its head or its drawers. */
type Disagreement =
  /** The file is empty, and everything is in the log beside it. */
  | { kind: 'log_only'; logBytes: number }
  /** The head is beyond the ledger's end. */
  | { kind: 'behind'; exists: boolean; head: LedgerHead; ledger: ChainHead }
  /** The ledger has another line at the head's number. */
  | { kind: 'other'; exists: boolean; head: LedgerHead; ledger: ChainHead }
  /** There is no row at all, but there are files. */
  | { kind: 'empty'; exists: boolean }
  /** There is no head to compare with, and there are files that no row has ever named. */
  | { kind: 'headless'; ledger: ChainHead }
  /** Rows name files, and in these drawers none of them is there. */
  | { kind: 'no_files'; drawers: EmptyDrawer[] };

interface UnnamedFiles {
  /** Files in the drawers, and the ones among them that no row has ever named. */
  files: number;
  unnamed: KeptFile[];
}

export interface StartRefusal extends UnnamedFiles {
  disagreement: Disagreement;
  /** Whether another key than that of the data folder signed the head. */
  foreignHead: boolean;
}

/** A registry, and the drawers whose files its rows name. */
export interface RegistryLocation extends Pick<Config, 'dataFolder' | 'keysFolder'> {
  driver: RegistryDriver;
  drawers: Drawers;
  /** The host whose files are looked for, where others use the registry too. Default: everybody's. */
  onlyOf?: string;
}

/**
 * Compares a registry with its head and, where that does not suffice, with its drawers. Null: a server may start on it.
 * Throws the errors of its database for what is not a registry.
 */
export async function findStartRefusal(location: RegistryLocation): Promise<StartRefusal | null> {
  const { driver } = location;
  const presence = await driver.presence();
  if (presence.kind === 'log_only') {
    return { disagreement: presence, foreignHead: false, ...(await unnamedFiles(location, null)) };
  }
  const exists = presence.kind !== 'missing';
  const registry = presence.kind === 'there' ? await driver.inspect() : null;
  try {
    const { headPath } = driver;
    const head = headPath === null ? null : headOrNull(headPath);
    const issuer = issuerOf(location.keysFolder);
    const foreignHead = head !== null && issuer !== null && !isSigned(head, [issuer]);
    const ledger = (await registry?.chainHead()) ?? CHAIN_START;
    if (head !== null && head.seq > 0) {
      const behind = head.seq > ledger.seq;
      if (behind || (registry !== null && !(await chainIncludes(registry, head, ledger)))) {
        const kind = behind ? 'behind' : 'other';
        const disagreement = { kind, exists, head, ledger } as const;
        return { disagreement, foreignHead, ...(await unnamedFiles(location, registry)) };
      }
    }
    // A person who began an epoch has accepted the present registry.
    const isEmpty = ((await registry?.isEmpty()) ?? true) && head?.epoch === undefined;
    // A file without tables has no ledger that a head could be of.
    const isHeadless = (head === null || head.seq === 0) && registry?.chained === true;
    const empty = registry === null ? [] : await findEmptyDrawers(location, registry, location.onlyOf ?? null);
    if (empty.length > 0) {
      const disagreement = { kind: 'no_files', drawers: empty } as const;
      return { disagreement, foreignHead, ...(await unnamedFiles(location, registry)) };
    }
    if (!isEmpty && !isHeadless) return null;
    const found = await unnamedFiles(location, registry);
    if (found.unnamed.length === 0) return null;
    return { disagreement: isEmpty ? { kind: 'empty', exists } : { kind: 'headless', ledger }, foreignHead, ...found };
  } finally {
    await registry?.close();
  }
}

/** Marked files are about to be removed, whatever the registry says of them. */
async function unnamedFiles(
  { dataFolder, drawers }: RegistryLocation,
  registry: RegistryMoment | null,
): Promise<UnnamedFiles> {
  const marks = (await registry?.marks()) ?? new Set();
  const unnamed: KeptFile[] = [];
  let files = 0;
  for await (const page of keptFiles(dataFolder, drawers)) {
    files += page.length;
    for (const file of page) {
      const named = await (isOfCopy(file) ? registry?.hasCopy(file.path, file.key) : registry?.hasInstance(file.key));
      if (named !== true && !marks.has(file.path)) unnamed.push(file);
    }
  }
  return { files, unnamed };
}

/** Throws `conflict`, with what was found and the ways out, when the server must not start on this registry. */
export async function requireOwnRegistry(location: RegistryLocation): Promise<void> {
  const refusal = await findStartRefusal(location);
  if (refusal === null) return;
  const { driver, dataFolder } = location;
  const { files, unnamed, disagreement, foreignHead } = refusal;
  const waysOut = disagreement.kind === 'no_files' ? WAYS_TO_FILES : WAYS_OUT;
  throw new WinterdockError(
    'conflict',
    `The server does not start: ${describeDisagreement(disagreement, driver)}${foreignHead ? `\n${FOREIGN_HEAD}` : ''}
The drawers in ${dataFolder} hold ${countOfFiles(files)}, of which no row names ${unnamed.length}. Nothing was changed, moved or deleted.
${HOW}${waysOut}${foreignHead ? `\n${GO_ON}` : ''}`,
    { extra: { start_refused: disagreement.kind } },
  );
}

/** Whether an error is a refused start. */
export function isStartRefused(error: unknown): boolean {
  return error instanceof WinterdockError && error.extra.start_refused !== undefined;
}

const HOW = 'Ways out (docs/operations.md, "When the registry and the files disagree"):\n';
const WAYS_OUT = `  put back the registry file with its -wal and .head, if it was moved or replaced
  npm run doctor                                 explains every disagreement, changes nothing
  npm run restore -- --from BACKUP --dry-run     says what a backup would bring back
  npm run doctor -- --adopt --tenant NAME        goes on from this registry; files without a row get one again, by their key`;

const WAYS_TO_FILES = `  mount the disk of the files, or set WB_DATA to the folder that has them
  npm run doctor                                 names every file that is not there, changes nothing
  npm run restore -- --from BACKUP --dry-run     says what a backup would bring back
  npm run doctor -- --accept REASON              goes on without them: their sandboxes get the fault missing`;

/** Tells the person who starts the server what is wrong with the signed head though it starts, and the way out. */
export function tellFlaw(flaw: string | null, notify: (line: string) => void = () => {}): void {
  if (flaw === null) return;
  notify(
    `ledger: ${flaw}. Nothing more of it is signed and no file is set aside. Put the right head back, or stop the server and run npm run doctor -- --accept REASON: docs/operations.md, "When the registry and the files disagree".`,
  );
}

const FOREIGN_HEAD =
  'That head is signed with another key than the signing.key of this folder: it may be the head of another one.';
const GO_ON =
  '  npm run doctor -- --accept REASON              goes on from this registry, with a head signed by this key';

/** The disagreement in one or two sentences. */
export function describeDisagreement(
  disagreement: Disagreement,
  { name, headPath }: Pick<RegistryDriver, 'name' | 'headPath'>,
): string {
  const head = basename(headPath ?? '');
  switch (disagreement.kind) {
    case 'log_only':
      return `the registry ${name} is empty, and beside it lies a log of ${disagreement.logBytes} bytes. Opening it would delete the log.`;
    case 'behind': {
      const signed = `${head} is at line ${disagreement.head.seq} (${time(disagreement.head.time_ms)})`;
      if (!disagreement.exists) return `there is no registry ${name}, and its signed head ${signed}.`;
      return `the registry ${name} is not the newest one. Its signed head ${signed}, the ledger in it ends at line ${disagreement.ledger.seq}.`;
    }
    case 'other':
      return `the registry ${name} is another one than was signed. Line ${disagreement.head.seq} of its ledger is not the one of the signed head ${head} (${time(disagreement.head.time_ms)}).`;
    case 'empty':
      return disagreement.exists
        ? `the registry ${name} has no rows, but there are files of sandboxes.`
        : `there is no registry ${name}, but there are files of sandboxes.`;
    case 'headless':
      return `the signed head ${head} is missing or none, so nothing says that the registry ${name} (its ledger ends at line ${disagreement.ledger.seq}) is the newest one, and there are files that it does not know.`;
    case 'no_files': {
      const where = disagreement.drawers.map(({ name, looked }) => `${name}/ (${countOfFiles(looked)} looked for)`);
      return `rows of the registry ${name} name files, and none of them is there: in ${where.join(', in ')}.`;
    }
  }
}

/** How many files, in words. */
export function countOfFiles(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}

const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

function headOrNull(path: string): LedgerHead | null {
  try {
    return readHead(path);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw unreadableHead(path, error);
    // What is no head proves nothing; ledger maintenance reports it in the ledger and signs no more.
    return null;
  }
}
