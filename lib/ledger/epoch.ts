/**
 * Epochs of the ledger. A head records the ledger's end, so a server does not start on a registry that is behind its
 * head, or on a foreign one. A person who wants to use that registry anyway (after a restore from a backup, or with
 * rebuilt rows) begins an epoch: the old head is kept beside the new one, a ledger line names both, and the new head is
 * signed with the epoch's number. Knows the order of these steps; compares nothing.
 */
import type { Clock } from '../base/clock.ts';
import { openSigner } from '../base/signing.ts';
import {
  DEFAULT_HOT_TO_WARM_SECONDS,
  DEFAULT_IDLE_TO_FREEZE_SECONDS,
  DEFAULT_IDLE_TO_SUSPEND_SECONDS,
} from '../lifecycle/ladder.ts';
import type { ChainHead } from '../registry/chain.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { HEAD_KIND, type LedgerHead } from './documents.ts';
import { EPOCH_BEGUN, type EpochLine, epochLineOf } from './epoch-lines.ts';
import { keepHead, readHead, writeHead } from './head-file.ts';
import { signed } from './sign.ts';

export interface EpochOptions {
  /** Of the registry, whose server is stopped. */
  driver: RegistryDriver;
  /** Absolute; its `signing.key` signs, and is created when there is none. */
  keysFolder: string;
  clock: Clock;
  /** Why the ledger continues from here; recorded in the ledger. */
  reason: string;
  /** The epoch of another ledger of this installation, which the new one is later than. Default: none. */
  beyond?: number;
  /** The actor, as the ledger names people and programs: `restore`, `doctor`. */
  actor: string;
}

export interface Epoch {
  /** 2 and more: the first epoch begins by itself. */
  epoch: number;
  /** The new head; its last line describes the epoch. */
  head: LedgerHead;
  /** The head before it, or null when there was none or it could not be read. */
  before: LedgerHead | null;
  /** Name of the file beside the registry in which that head is kept; null when there was none. */
  keptAs: string | null;
}

/**
 * Begins an epoch on the registry of a stopped server: the ledger continues from its present end. May be repeated
 * after an interruption: until the new head is written the old one is valid, and a start is still refused. Throws
 * errors of SQLite and the disk.
 */
export async function beginEpoch(options: EpochOptions): Promise<Epoch> {
  const registry = await options.driver.open({
    clock: options.clock,
    thresholds: {
      hotToWarmSeconds: DEFAULT_HOT_TO_WARM_SECONDS,
      idleToSuspendSeconds: DEFAULT_IDLE_TO_SUSPEND_SECONDS,
      idleToFreezeSeconds: DEFAULT_IDLE_TO_FREEZE_SECONDS,
    },
  });
  try {
    return await beginEpochOf(registry, options);
  } finally {
    await registry.close();
  }
}

/** The same on a registry that the caller has opened and nobody else uses. */
export async function beginEpochOf(
  registry: Pick<Registry, 'ledger'>,
  { driver, keysFolder, clock, reason, actor, beyond = 0 }: EpochOptions,
): Promise<Epoch> {
  const { headPath } = driver;
  if (headPath === null) throw new Error('A registry in memory has no head, and no epochs.');
  const signer = openSigner(keysFolder);
  const before = readHeadOrNull(headPath);
  const keptAs = await keepHead(headPath);
  const last = await lastEpoch(registry);
  const after = await registry.ledger.head();
  const old = oldHead(before, keptAs);
  // Interrupted between the line and the head: the line exists already.
  const isTold = last !== null && last.seq === after.seq && last.reason.includes(old) && last.epoch > beyond;
  const epoch = isTold ? last.epoch : Math.max(before?.epoch ?? 1, last?.epoch ?? 1, beyond) + 1;
  if (!isTold) {
    const cause = { ...systemAudit('operator'), actor };
    await registry.ledger.append([
      ledgerEntry({ clock }, null, cause, EPOCH_BEGUN, {
        reason: `epoch ${epoch} begins after ${named(after)}; ${old}: ${reason}`,
      }),
    ]);
  }
  const { seq, hash } = await registry.ledger.head();
  const head = signed<LedgerHead>(signer, { kind: HEAD_KIND, seq, hash, time_ms: clock.now(), epoch });
  await writeHead(headPath, head);
  return { epoch, head, before, keptAs };
}

/** The last epoch that the ledger describes, or null. Epochs are few: each is begun by a person. */
export async function lastEpoch(registry: Pick<Registry, 'ledger'>): Promise<EpochLine | null> {
  const { rows } = await registry.ledger.page({ type: EPOCH_BEGUN }, 1000);
  const epochs = rows.flatMap((row) => epochLineOf(row) ?? []);
  return epochs.sort((a, b) => b.seq - a.seq)[0] ?? null;
}

/** The number of the ledger's epoch, by its lines and by the signed head at `headPath` (absolute; null: none). */
export async function ledgerEpoch(registry: Pick<Registry, 'ledger'>, headPath: string | null): Promise<number> {
  const head = headPath === null ? null : readHeadOrNull(headPath);
  return Math.max(1, (await lastEpoch(registry))?.epoch ?? 1, head?.epoch ?? 1);
}

function named({ seq, hash }: ChainHead): string {
  return seq === 0 ? 'line 0' : `line ${seq} (${hash})`;
}

function oldHead(before: LedgerHead | null, keptAs: string | null): string {
  if (keptAs === null) return 'there was no head before it';
  if (before === null) return `the head before it could not be read and is kept as ${keptAs}`;
  return `the head before it, of epoch ${before.epoch ?? 1}, was ${named(before)} and is kept as ${keptAs}`;
}

function readHeadOrNull(path: string): LedgerHead | null {
  try {
    return readHead(path);
  } catch {
    // Not a head: the file is kept as it is, and the ledger says that it could not be read.
    return null;
  }
}
