/**
 * Keeps the ledger provable while the server runs: signs its end, seals past months, drops expired ones, and verifies
 * it on request. Holds no lines.
 */
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { isMachineFailure, isUnavailable, messageOf, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Signer } from '../base/signing.ts';
import type { Claims } from '../claims/claims.ts';
import type { ChainHead } from '../registry/chain.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { chainIncludes } from './chain-includes.ts';
import { HEAD_KIND, type LedgerHead } from './documents.ts';
import { lastEpoch } from './epoch.ts';
import { readHead, unreadableHead, writeHead } from './head-file.ts';
import { dropSegments, sealMonths } from './seal.ts';
import { isSigned, signed } from './sign.ts';
import { LedgerFlaw, type LedgerProofResult, verifyLedger } from './verify.ts';

export interface LedgerMaintenance {
  /** Compares the ledger with the stored head, then stores a new one a second after lines were appended. Idempotent. */
  start(): Promise<void>;
  /** Stores the head of now, before what may fail. */
  keep(): Promise<void>;
  /** Stores the last head. Idempotent. */
  stop(): Promise<void>;
  /** Seals and drops what is due; never overlaps itself. Returns the ids of the segments. */
  tick(): Promise<{ sealed: string[]; dropped: string[] }>;
  /** The signed head of this moment. Throws `corrupt` when the ledger no longer contains the stored head. */
  head(): Promise<LedgerHead>;
  /** Why the ledger is not known to be the signed one, so that no file is treated as an orphan; null while it is. */
  flaw(): string | null;
  /** Verifies the whole ledger; concurrent callers share one run. */
  verify(): Promise<LedgerProofResult & { tookMs: number; head: LedgerHead | null }>;
}

export interface LedgerMaintenanceParts {
  /** One host seals. */
  claims: Pick<Claims, 'keep'>;
  registry: Pick<Registry, 'commitEvents' | 'ledger' | 'segments'>;
  /** Absolute path of the signed head; null for a registry that is not kept. */
  headPath: string | null;
  signer: Signer;
  clock: Clock;
  log: Logger;
  /** How long a sealed and exported segment is kept; null: for ever. */
  keepDays: number | null;
  tickMs: number;
}

/** All lines of a busy second share a signature and an fsync. */
const HEAD_DELAY_MS = 1000;

/** Makes the keeper. Nothing runs before `start`. */
export function createLedgerMaintenance(parts: LedgerMaintenanceParts): LedgerMaintenance {
  const { claims, registry, headPath, signer, clock, log } = parts;
  const pause = () => setImmediate();
  let kept: LedgerHead | null = null;
  /** Number of the ledger's epoch; the first has none. */
  let epoch: number | undefined;
  /** Why the ledger must not be signed any more, or null. */
  let broken: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let ticker: NodeJS.Timeout | null = null;
  let leave = () => {};
  let keeping: Promise<void> = Promise.resolve();

  const isBroken = async (why: string): Promise<void> => {
    if (broken !== null) return;
    broken = why;
    log.error({ why }, 'the ledger is not what was signed: nothing more of it is signed');
    await registry.ledger.append([
      ledgerEntry({ clock }, null, systemAudit('reconcile'), 'ledger.broken', { error: why }),
    ]);
  };

  /**
   * A first start with an older ledger, or the head was removed: a removed tail before this line can no longer be
   * detected.
   */
  const noHead = (): unknown =>
    registry.ledger.append([
      ledgerEntry({ clock }, null, systemAudit('boot'), 'ledger.head_missing', {
        reason: 'no signed head was found beside the registry',
      }),
    ]);

  const signedHead = async (): Promise<LedgerHead> => {
    const now = await registry.ledger.head();
    if (
      kept !== null &&
      !(await chainIncludes({ chain: registry.ledger.chain, segments: registry.segments }, kept, now))
    ) {
      await isBroken(`line ${kept.seq} is not the one that was signed, or is gone`);
    }
    if (broken !== null) {
      throw new WinterdockError('corrupt', 'The ledger differs from what was signed.', {
        hint: 'Run `npm run ledger:verify` to see where, and compare with a head that was kept elsewhere.',
      });
    }
    return sign(now);
  };

  const sign = (last: ChainHead): LedgerHead =>
    signed<LedgerHead>(signer, {
      kind: HEAD_KIND,
      seq: last.seq,
      hash: last.hash,
      time_ms: clock.now(),
      ...(epoch === undefined ? {} : { epoch }),
    });

  /**
   * The head to be stored. While the registry is away, that of what was acknowledged: when it comes back without it, no
   * server starts on it.
   */
  const headToKeep = async (): Promise<LedgerHead> => {
    try {
      return await signedHead();
    } catch (error) {
      const last = isUnavailable(error) ? await registry.ledger.acknowledged() : null;
      if (last === null || last.seq <= (kept?.seq ?? 0)) throw error;
      return sign(last);
    }
  };

  const keep = async (): Promise<void> => {
    if (headPath === null || broken !== null) return;
    try {
      const head = await headToKeep();
      if (kept?.seq === head.seq) return;
      await writeHead(headPath, head);
      kept = head;
    } catch (error) {
      // The previous head is still valid; the next append tries again.
      log.error({ error: messageOf(error) }, 'the head of the ledger was not kept');
    }
  };

  /** One at a time, in order. */
  const keepNow = (): Promise<void> => {
    keeping = keeping.then(keep);
    return keeping;
  };
  const keepSoon = () => {
    timer ??= setTimeout(() => {
      timer = null;
      void keepNow();
    }, HEAD_DELAY_MS).unref();
  };

  const round = async (): Promise<{ sealed: string[]; dropped: string[] }> => {
    if (broken !== null || !(await claims.keep('sealing', [''])).has('')) return { sealed: [], dropped: [] };
    try {
      const work = { registry, signer, clock, pause };
      return { sealed: await sealMonths(work), dropped: await dropSegments({ ...work, keepDays: parts.keepDays }) };
    } catch (error) {
      if (!(error instanceof LedgerFlaw)) throw error;
      await isBroken(error.message);
      return { sealed: [], dropped: [] };
    }
  };
  let ticking: ReturnType<typeof round> | null = null;
  const tick = () => {
    ticking ??= round().finally(() => {
      ticking = null;
    });
    return ticking;
  };

  const prove = async (): Promise<LedgerProofResult & { tookMs: number; head: LedgerHead | null }> => {
    const started = performance.now();
    const options = { heads: kept === null ? [] : [kept], issuers: signer.trusted, pause };
    const view = await registry.ledger.view();
    try {
      const proof = await verifyLedger(view, options);
      const flaw = proof.flaw ?? (broken === null ? null : { seq: null, why: broken });
      return { ...proof, flaw, head: kept, tookMs: performance.now() - started };
    } finally {
      await view.close();
    }
  };
  let proving: ReturnType<typeof prove> | null = null;

  let started: Promise<void> | null = null;
  const start = async (): Promise<void> => {
    if (headPath !== null) {
      try {
        kept = readHead(headPath);
        if (kept !== null && !isSigned(kept, [signer.issuer])) {
          await isBroken(`the signed head ${basename(headPath)} is signed with another key than signing.key`);
        }
      } catch (error) {
        if (isMachineFailure(error)) throw unreadableHead(headPath, error);
        await isBroken(`the signed head ${basename(headPath)} is none: ${messageOf(error)}`);
      }
      epoch = (await lastEpoch(registry))?.epoch ?? kept?.epoch;
      if (kept === null && broken === null && (await registry.ledger.head()).seq > 0) await noHead();
      await keepNow();
    }
    leave = registry.commitEvents.onLedgerAppend(keepSoon);
    ticker = setInterval(() => {
      tick().catch((error: unknown) => log.error({ err: error }, 'the ledger was not sealed'));
    }, parts.tickMs).unref();
  };

  return {
    start() {
      started ??= start();
      return started;
    },
    async keep() {
      if (started !== null) await keepNow();
    },
    async stop() {
      leave();
      if (timer !== null) clearTimeout(timer);
      if (ticker !== null) clearInterval(ticker);
      await ticking?.catch(() => undefined);
      if (started !== null) await keepNow();
    },
    tick,
    head: signedHead,
    flaw: () => broken,
    verify() {
      proving ??= prove().finally(() => {
        proving = null;
      });
      return proving;
    },
  };
}
