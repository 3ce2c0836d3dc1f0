/**
 * Carries the registry of a stopped server to another kind of registry: a copy of one moment, proved on both sides
 * before it takes its place. The first one is kept as it was and marked, so that no server starts on it by mistake.
 * May be repeated after an interruption, wherever that was. Knows nothing of files of sandboxes, which stay where they
 * are.
 */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { chmodFile, copyFile, makeFolder, removeTree, renameFile, syncFile, syncFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { isThere } from '../base/is-there.ts';
import { trustedIssuersOf } from '../base/signing.ts';
import type { LedgerHead } from '../ledger/documents.ts';
import { keepHead, readHead } from '../ledger/head-file.ts';
import { type ChainSource, verifyLedger } from '../ledger/verify.ts';
import type { ChainHead } from '../registry/chain.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { registryDriver } from '../registry/drivers.ts';
import { contentDigest } from '../registry/sqlite/whole-file.ts';
import { CARRIED_MARK, carriedTo, markCarried } from './carried-away.ts';
import { setRegistryAside } from './unfinished-restore.ts';

interface CarryOptions {
  config: Pick<
    Config,
    'dataFolder' | 'keysFolder' | 'hotToWarmSeconds' | 'idleToSuspendSeconds' | 'idleToFreezeSeconds'
  >;
  /** Both are locked by the caller. */
  from: RegistryDriver;
  to: RegistryDriver;
  clock: Clock;
}

interface CarriedRegistry {
  /** Rows of sandboxes, deleted ones included. */
  rows: number;
  ledger: ChainHead;
  /** SHA-256 over every row of every table, of both. */
  digest: string;
  /** An earlier attempt had carried it, and was broken off before the end. */
  wasThere: boolean;
}

/** How many rows there are, and where the ledger ends. */
type Content = Pick<CarriedRegistry, 'rows' | 'ledger' | 'digest'>;

/**
 * Carries it. Throws `not_found` without a registry, `conflict` when another one is there already, and `corrupt` when
 * either side is not proved; the first registry is as it was then, and the second one is not there.
 */
export async function carryRegistry(options: CarryOptions): Promise<CarriedRegistry> {
  const { config, from } = options;
  if ((await from.presence()).kind !== 'there') {
    throw new WinterdockError('not_found', `There is no registry at ${from.name}.`, {
      hint: 'Set WB_DATA, and WB_REGISTRY where it lies elsewhere, as the server has them.',
    });
  }
  const mark = await carriedTo(from);
  if (mark !== null) {
    throw new WinterdockError('conflict', `The registry ${from.name} was carried to ${mark.to} already.`, {
      hint: 'Set WB_REGISTRY to that one. To go on from this one all the same: npm run migrate:registry -- --reopen.',
    });
  }
  // One at a time, under the locks: what is there was left by one that was broken off.
  const staging = join(config.dataFolder, 'staging', 'carry');
  await removeTree(staging);
  await makeFolder(staging);
  try {
    return await carryThrough(options, staging);
  } finally {
    await removeTree(staging);
  }
}

async function carryThrough(options: CarryOptions, staging: string): Promise<CarriedRegistry> {
  const { config, from, to, clock } = options;
  const copy = join(staging, 'registry.sqlite');
  const wanted = await contentOf(options, from, copy);
  const isThereNow = (await to.presence()).kind === 'there';
  const wasThere = isThereNow && (await carriedTo(to)) === null;
  if (wasThere && !isSame(wanted, await contentOf(options, to, join(staging, 'there.sqlite')))) {
    throw new WinterdockError('conflict', `There is a registry at ${to.name} already. Nothing was changed.`, {
      hint: 'Carry it to a place where none is.',
    });
  }
  if (isThereNow && !wasThere) {
    const aside = `replaced-${new Date(clock.now()).toISOString().replaceAll(':', '')}`;
    await setRegistryAside({ dataFolder: config.dataFolder, driver: to }, aside);
  }
  if (!wasThere) await carry(options, { wanted, copy, staging });
  const registry = await from.open({ thresholds: config, clock });
  try {
    await markCarried(registry.facts, to.name, clock);
  } finally {
    await registry.close();
  }
  return { ...wanted, wasThere };
}

/** `copy`: a file with what is `wanted`. */
async function carry(
  options: CarryOptions,
  { wanted, copy, staging }: { wanted: Content; copy: string; staging: string },
): Promise<void> {
  const { config, from, to, clock } = options;
  const head = from.headPath === null ? null : readHead(from.headPath);
  const prove = (what: string, source: ChainSource) => requireProved(what, source, head, config.keysFolder);
  const view = await from.readLedger();
  await prove(from.name, view).finally(() => view.close());
  const draft = await to.draft(copy, { thresholds: config, clock });
  try {
    const { ledger } = draft.registry;
    const carried = await ledger.view();
    await prove(`${to.name}, as it would be`, carried).finally(() => carried.close());
    const last = await ledger.head();
    if (last.hash !== wanted.ledger.hash) throw notWhole(to, `its ledger ends at line ${last.seq}`);
    await layHead(from.headPath, to.headPath);
    await draft.place();
  } finally {
    await draft.discard();
  }
  const found = await contentOf(options, to, join(staging, 'carried.sqlite'));
  if (found.rows !== wanted.rows) throw notWhole(to, `it has ${found.rows} rows of sandboxes, not ${wanted.rows}`);
  if (!isSame(found, wanted)) throw notWhole(to, 'its rows are others');
  const moment = await to.inspect();
  try {
    const [says, wrong] = [await moment.integrity(), await moment.miscounted()];
    if (says !== 'ok' || wrong.length > 0) throw notWhole(to, says === 'ok' ? `miscounted: ${wrong.join()}` : says);
  } finally {
    await moment.close();
  }
}

/** What a registry has. Leaves a copy of it at `path`, as this version writes it, which is what is compared. */
async function contentOf({ config, clock }: CarryOptions, driver: RegistryDriver, path: string): Promise<Content> {
  const reader = await driver.readLive();
  try {
    await reader.copyTo(path);
  } finally {
    await reader.close();
  }
  // What a start does with a registry, as bringing it forward, is done to both.
  const copy = await registryDriver({ driver: 'sqlite', path }).open({ thresholds: config, clock });
  const ledger = await copy.ledger.head().finally(() => copy.close());
  const copied = await registryDriver({ driver: 'sqlite', path }).readLive();
  const rows = await copied.count().finally(() => copied.close());
  return { rows, ledger, digest: contentDigest(path, CARRIED_MARK) };
}

const isSame = (one: Content, other: Content) =>
  one.rows === other.rows && one.ledger.hash === other.ledger.hash && one.digest === other.digest;

async function requireProved(
  what: string,
  source: ChainSource,
  head: LedgerHead | null,
  keysFolder: string,
): Promise<void> {
  const { flaw } = await verifyLedger(source, {
    heads: head === null ? [] : [head],
    issuers: trustedIssuersOf(keysFolder),
  });
  if (flaw === null) return;
  const where = flaw.seq === null ? '' : ` at line ${flaw.seq}`;
  throw new WinterdockError(
    'corrupt',
    `The ledger of ${what} is not proved${where}: ${flaw.why}. Nothing was carried.`,
  );
}

function notWhole(to: RegistryDriver, why: string): WinterdockError {
  return new WinterdockError('corrupt', `The registry ${to.name} is not what was carried: ${why}.`, {
    hint: 'The first registry is as it was: servers start on it.',
  });
}

/** The signed head of the first is that of the second. One that lay there is kept beside it. */
async function layHead(from: string | null, to: string | null): Promise<void> {
  if (from === null || to === null || from === to || !isThere(from)) return;
  await keepHead(to);
  const draft = `${to}.draft`;
  await copyFile(from, draft);
  await chmodFile(draft, 0o600);
  await syncFile(draft);
  await renameFile(draft, to);
  await syncFolder(join(to, '..'));
}
