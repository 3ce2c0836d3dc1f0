/**
 * Makes many sandboxes from one copy: inserts their rows, all or none, and resumes them in the background if asked.
 * Until its first resume a sandbox is only a row. Knows nothing of how the copy was made.
 *
 * The first transaction admits all of a call and inserts some; the others follow in transactions of their own, between
 * which the server's thread does other work. A restart, or another host, continues where they were left.
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { isUnavailable, isWinterdockError, publicMessage, WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { ClaimedWork, type WorkTurn } from '../claims/claimed-work.ts';
import type { Claims, HeldClaim } from '../claims/claims.ts';
import type { Ancestor, PendingStart } from '../registry/copies.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, NewInstance } from '../registry/types.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';

/** The most sandboxes of one call. */
const MAX_COUNT = 1000;
/** Sandboxes inserted in one transaction: each takes about 0.15 ms of the server's thread. */
const AT_ONCE = 50;
/** Milliseconds until insertions that the disk refused are tried again. */
const AGAIN_MS = 5000;
/** Resumes at a time: starting processes is the bottleneck, and two cores start a few at a time. */
const PARALLEL_STARTS = 4;
/** The share of sandboxes after which a progress line is due. */
const PROGRESS_SHARE = 0.1;

/** What sandboxes of a call are from their first moment. */
export interface SeededAs {
  /** For the only one of a call. Default: a new one. Throws `conflict` for one that is taken. */
  id?: InstanceId;
  labels?: Readonly<Record<string, string>>;
  /** Whether it is deleted when it is idle. */
  ephemeral?: boolean;
}

/** These members alone. */
export function seededAs({ id, labels, ephemeral }: SeededAs): SeededAs {
  return {
    ...(id === undefined ? {} : { id }),
    ...(labels === undefined ? {} : { labels }),
    ...(ephemeral === undefined ? {} : { ephemeral }),
  };
}

export interface SeedRequest extends SeededAs {
  tenant: string;
  count: number;
  /** With more than one, `-1`, `-2`, … are appended. */
  name: string | null;
  policy: string;
  lineage: { blueprint: string | null; snapshot: string | null; parent: InstanceId | null };
  /** The version of a workbook that they are docked to; absent: none. */
  docking?: Pick<InstanceRow, 'workbook' | 'workbookVersion'>;
  /** What they are set to of their replicas; absent or null: nothing. */
  replicate?: string | null;
  /** Whether to resume them in the background. */
  start: boolean;
}

/** The progress of one call's resumes. */
export interface StartProgress {
  requestId: string;
  tenant: string;
  started: number;
  failed: number;
  total: number;
}

export interface SeedingParts {
  claims: Claims;
  clock: Clock;
  log: Logger;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'resume'>;
  /** Whether this host is being emptied: it takes up nothing that others began. Default: it never is. */
  isDraining?: () => boolean;
}

export class Seeding {
  readonly #parts: SeedingParts;
  readonly #inserting = new Set<Promise<void>>();
  readonly #listeners = new Set<(started: StartProgress) => void>();
  /** Calls that have sandboxes to insert or to resume, by the id of the first one. */
  readonly #work: ClaimedWork<InstanceId>;

  constructor(parts: SeedingParts) {
    this.#parts = parts;
    const { copies } = parts.registry;
    this.#work = new ClaimedWork({
      ...parts,
      kind: 'seeding',
      what: 'making sandboxes of a copy',
      keyOf: (first) => first,
      open: async () => {
        if (parts.isDraining?.()) return [];
        const starts = (await copies.pendingStarts()).flatMap(({ ids: [first] }) => first ?? []);
        return [...new Set([...(await copies.unfinishedSeedings()), ...starts])];
      },
      carryOut: (first, turn) => this.#goOn(first, turn),
      pauseMs: () => AGAIN_MS,
    });
  }

  /**
   * Inserts `count` sandboxes in state `created`, all or none, with a ledger line each and one for the call. Throws
   * `not_found` when the copy is gone, `conflict` for a taken name, `validation` for a count that is not 1 to 1 000,
   * and `storage_unavailable` when the disk fails: when it fails in the middle, those that are left follow later.
   */
  async seed(from: Ancestor, request: SeedRequest, cause: AuditContext): Promise<InstanceRow[]> {
    const { clock, registry } = this.#parts;
    const { tenant, count, name, policy, lineage, docking } = request;
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
      throw new WinterdockError('validation', `One call makes 1 to ${MAX_COUNT} sandboxes, not ${count}.`, {
        extra: { errors: [{ path: 'count', message: `must be 1 to ${MAX_COUNT}` }] },
      });
    }
    const [kind, copy] =
      'snapshot' in from ? (['snapshot', from.snapshot] as const) : (['blueprint', from.blueprint] as const);
    const instances: NewInstance[] = Array.from({ length: count }, (_, index) => ({
      id: request.id ?? newId('sb'),
      tenant,
      name: name === null || count === 1 ? name : `${name}-${index + 1}`,
      vfsPath: null,
      ephemeral: request.ephemeral ?? false,
      policy,
      keepHot: false,
      hotToWarmSeconds: null,
      idleToSuspendSeconds: null,
      idleToFreezeSeconds: null,
      replicate: request.replicate ?? null,
      labels: { ...request.labels },
      workbook: docking?.workbook ?? null,
      workbookVersion: docking?.workbookVersion ?? null,
      lineageBlueprint: lineage.blueprint,
      lineageSnapshot: lineage.snapshot,
      lineageParent: lineage.parent,
    }));
    const batch = { tenant, cause: { ...cause, reason: `started after ${kind} ${copy}` } };
    const [{ id: first }] = instances as [NewInstance];
    // Before the first transaction: nobody else goes on with it meanwhile.
    const isLong = count > AT_ONCE || request.start;
    const claim = isLong ? await this.#parts.claims.acquire('seeding', first) : null;
    const seeding = registry.copies.seed(
      from,
      instances,
      epochSeconds(clock),
      [
        ...instances.map((instance) =>
          ledgerEntry({ clock }, instance, cause, 'instance.created', {
            to: 'created',
            source: kind,
            reason: `from the ${kind} ${copy}`,
          }),
        ),
        this.#line(
          from,
          tenant,
          cause,
          kind === 'snapshot' ? 'snapshot.restored' : 'blueprint.cloned',
          `${count} made`,
        ),
      ],
      { atOnce: AT_ONCE, ...(request.start ? { start: batch } : {}) },
    );
    let rows: InstanceRow[];
    try {
      rows = await seeding;
    } catch (error) {
      await claim?.release();
      throw error;
    }
    if (rows.length < count) rows.push(...(await this.#finishFor(first, count, claim)));
    if (request.start) await this.#work.take(first, { claim });
    else await claim?.release();
    return rows;
  }

  /** Inserts those that are left of a call of `count`. The caller is told when the disk refuses them for now. */
  async #finishFor(first: InstanceId, count: number, claim: HeldClaim | null): Promise<InstanceRow[]> {
    const finishing = this.#finish(first);
    this.#track(finishing);
    try {
      return await finishing;
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'not all sandboxes of a call are made yet');
      await this.#work.take(first, { claim, isLater: true });
      if (!isUnavailable(error)) throw error;
      throw new WinterdockError('storage_unavailable', `Not all of the ${count} sandboxes could be made yet.`, {
        hint: 'Do not repeat the request: the missing ones are made as soon as the disk allows it.',
        cause: error,
      });
    }
  }

  /** Inserts those that are left of a call. Other work runs between two transactions. */
  async #finish(first: InstanceId, isOver = () => false): Promise<InstanceRow[]> {
    const rows: InstanceRow[] = [];
    while (!isOver()) {
      await setImmediate();
      const more = await this.#parts.registry.copies.continueSeeding(first);
      if (more === null) break;
      rows.push(...more);
    }
    return rows;
  }

  /** Insertions under way. */
  #track(work: Promise<unknown>): void {
    const inserting = work.then(
      () => undefined,
      () => undefined,
    );
    this.#inserting.add(inserting);
    void inserting.then(() => this.#inserting.delete(inserting));
  }

  /** Inserts what is left of a call, until that is done or its tenant is forgotten, then resumes if that was asked. */
  async #goOn(first: InstanceId, turn: WorkTurn): Promise<void> {
    const finishing = this.#finish(first, () => turn.isOver);
    this.#track(finishing);
    await finishing;
    if (turn.isOver) return;
    const starts = await this.#parts.registry.copies.pendingStarts();
    const start = starts.find(({ ids }) => ids[0] === first);
    if (start !== undefined) await this.#resumeAll(start, turn);
  }

  /** Finishes the insertions and continues the resumes that a server left. */
  async start(): Promise<void> {
    await this.#work.start();
    await Promise.all(this.#inserting);
  }

  /** Calls `listener` after each resume. Returns the unsubscriber. */
  onProgress(listener: (started: StartProgress) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Waits for resumes under way and begins no more. The next start continues; the ledger shows the pause. */
  async stop(): Promise<void> {
    await this.#work.stop();
    await Promise.all(this.#inserting);
  }

  #line(from: Ancestor, tenant: string, cause: AuditContext, type: string, what: string, more = '') {
    const [[kind, copy] = []] = Object.entries(from);
    return ledgerEntry(this.#parts, null, cause, type, { tenant, reason: `${what} from the ${kind} ${copy}${more}` });
  }

  /**
   * Resumes every sandbox that is still `created`. Failures and progress are in the ledger. A sandbox that left
   * `created` counts as started, unless it was deleted.
   */
  async #resumeAll({ ids, from, tenant, cause: kept }: PendingStart, turn: WorkTurn): Promise<void> {
    const { registry, sandboxes } = this.#parts;
    const cause = kept as AuditContext;
    const waiting = [...ids];
    const total = ids.length;
    let started = 0;
    let failed = 0;
    let deleted = 0;
    let reportedCount = 0;
    let broken: string | null = null;
    const settled = () => started + failed + deleted;
    const progressLine = (type: string, more = '') => {
      reportedCount = settled();
      const gone = deleted === 0 ? '' : `, ${deleted} deleted before`;
      const failures = failed === 0 ? '' : `, ${failed} failed${broken === null ? '' : `: ${broken}`}`;
      const what = `${started} of ${total} started${gone}${failures}`;
      return this.#line(from, tenant, { ...cause, reason: null }, type, what, more);
    };
    const tell = () => {
      const { requestId } = cause;
      if (requestId === null) return;
      for (const listener of this.#listeners) listener({ requestId, tenant, started, failed, total });
    };
    if (turn.isTakenUp) {
      const boot: AuditContext = { ...cause, trigger: 'boot', reason: null };
      const went = `going on with ${total}`;
      await registry.ledger.append([
        this.#line(from, tenant, boot, 'start.resumed', went, ', after the server was restarted'),
      ]);
    }
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        if (turn.isOver) return;
        try {
          const state = (await registry.instances.get(id))?.state ?? 'deleted';
          if (state === 'created') await sandboxes.resume(id, cause, { makesRoom: false });
          if (state === 'deleted') deleted += 1;
          else started += 1;
        } catch (error) {
          if (turn.isOver) return;
          failed += 1;
          broken = publicMessage(error);
          // No room for one means no room for the rest: they stay `created`, and their first request starts them.
          if (isWinterdockError(error) && (error.code === 'capacity' || error.code === 'quota_exceeded'))
            failed += waiting.splice(0).length;
        }
        tell();
        if (settled() < total && settled() - reportedCount >= total * PROGRESS_SHARE) {
          await registry.ledger.append([progressLine('start.progress')]);
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_STARTS }, work));
    if (turn.claim.isOver) return;
    if (settled() < total)
      await registry.ledger.append([
        progressLine('start.paused', '; the server stops, and goes on with it when it is back'),
      ]);
    else await registry.copies.removePendingStart(ids[0] ?? '', progressLine('start.done'));
  }
}
