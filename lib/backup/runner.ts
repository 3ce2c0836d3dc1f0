/**
 * Makes backups when they are due or asked for, tries them, and says when something is wrong with them. One host does
 * so for all that use the registry. What an earlier host left is settled first: its backup is there, or is made again.
 * The long work is a process's (work.ts); this decides and records.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { isWinterdockError, publicMessage, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Claims, HeldClaim } from '../claims/claims.ts';
import type { BackupRecord } from '../registry/backups.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import {
  type BackupFault,
  type BackupSettings,
  formerIssuers,
  installationId,
  readBackupFault,
  readBackupSettings,
  writeBackupFault,
} from './backup-settings.ts';
import type { PlaceOwner } from './claim-place.ts';
import { type BackupHistory, backupFaultOf, dueBackup, isTrialDue } from './due.ts';
import { backupId } from './manifest.ts';
import { BackupRecords } from './records.ts';
import type { BackupWork, PlaceContent } from './work.ts';

/** Rows that are looked at for what was made and what failed. */
const LOOKED_AT = 200;
const PROGRESS_MS = 1000;
/** A clock that was set back by more had been wrong. */
const AHEAD_MS = 3600 * 1000;

export interface BackupRunnerParts {
  claims: Pick<Claims, 'keep' | 'onFree'>;
  clock: Clock;
  config: { tickMs: number };
  log: Logger;
  registry: Pick<Registry, 'backups' | 'facts' | 'ledger'>;
  work: BackupWork;
  /** Names whose signatures count as this server's. */
  trusted: readonly string[];
  /** Number of the ledger's epoch. */
  epoch(): Promise<number>;
}

export class BackupRunner {
  readonly #parts: BackupRunnerParts;
  readonly #records: BackupRecords;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #leave = () => {};
  #round: Promise<void> | null = null;
  #isAskedAgain = false;
  #isMaking = false;
  #judging: Promise<void> | null = null;

  constructor(parts: BackupRunnerParts) {
    this.#parts = parts;
    this.#records = new BackupRecords(parts);
  }

  start(): void {
    const { claims, config } = this.#parts;
    this.#leave = claims.onFree('backup', () => this.changed());
    this.#timer = setInterval(() => this.changed(), config.tickMs).unref();
    this.changed();
  }

  /** Breaks off what is under way: the next start makes it again. Idempotent. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#timer);
    this.#leave();
    await this.#round?.catch(() => undefined);
  }

  /** A backup was asked for, the settings were changed, or time went by. */
  changed(): void {
    this.#isAskedAgain = this.#round !== null;
    // A round takes as long as its backup, which may be overdue meanwhile.
    if (this.#isMaking) this.#judge().catch((error) => this.#parts.log.error({ err: error }, 'backups'));
    this.tick().catch((error) => this.#parts.log.error({ err: error }, 'backups'));
  }

  /** One round: does what is open or due, and compares what is wrong with what was told. Rounds never overlap. */
  tick(): Promise<void> {
    this.#round ??= this.#rounds().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #rounds(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      const claim = this.#stop.signal.aborted ? undefined : (await this.#parts.claims.keep('backup', [''])).get('');
      if (claim === undefined) return;
      await this.#once(claim);
    } while (this.#isAskedAgain);
  }

  /**
   * Adds a backup that is made as soon as its turn comes. Throws `conflict` while another is asked for or under way,
   * and when no place is named.
   */
  async ask(cause: AuditContext, planned: number | null = null): Promise<BackupRecord> {
    const { clock, registry } = this.#parts;
    const { target } = await readBackupSettings(registry.facts);
    if (target === null) {
      throw new WinterdockError('conflict', 'There is no place for backups yet.', {
        hint: 'Name one in the settings.',
      });
    }
    const askedMs = clock.now();
    const id = backupId(askedMs, randomBytes(4).toString('hex'));
    const asked = { id, target, planned, actor: cause.actor, reason: cause.reason, askedMs };
    const row = await registry.backups.ask(
      asked,
      this.#line(cause, 'backup.asked', { reason: what(id, cause.reason) }),
    );
    if (row !== null) return row;
    const open = await registry.backups.open();
    throw new WinterdockError('conflict', 'A backup is under way already.', {
      ...(open === null ? {} : { extra: { backup: open.id } }),
    });
  }

  /** Restores one drawn sandbox of a backup to a folder that is removed again. Returns the row after that. */
  async try(row: BackupRecord, cause: AuditContext, signal?: AbortSignal): Promise<BackupRecord> {
    const { clock, registry, work } = this.#parts;
    if (row.state !== 'made') {
      throw new WinterdockError('conflict', `The backup ${row.id} is ${row.state}: there is nothing to try.`);
    }
    const either = AbortSignal.any([this.#stop.signal, ...(signal === undefined ? [] : [signal])]);
    const tried = await work.run(
      { kind: 'trial', target: row.target, owner: await this.ownerOf(row.target), id: row.id },
      { signal: either },
    );
    const { instance, tenant, tookMs, error } = tried;
    const drawn = instance === null ? 'it holds no file of a sandbox; its registry came back' : 'one sandbox came back';
    await registry.backups.tried(
      row.id,
      { verifiedMs: clock.now(), verifiedTookMs: tookMs, verifiedError: error },
      {
        ...this.#line(cause, error === null ? 'backup.verified' : 'backup.verify_failed', {
          reason: error === null ? `${row.id}: ${drawn} as it was` : row.id,
          error,
          tookMs,
        }),
        instance,
        tenant,
      },
    );
    await this.#judge();
    return (await registry.backups.get(row.id)) ?? row;
  }

  /** Who asks for the place of a target. */
  async ownerOf(target: string): Promise<PlaceOwner> {
    const { clock, registry, trusted, epoch } = this.#parts;
    const used = await registry.backups.list(LOOKED_AT, { states: ['made'] });
    return {
      installation: await installationId(registry.facts, clock),
      epoch: await epoch(),
      trusted: [...new Set([...trusted, ...(await formerIssuers(registry.facts))])],
      isUsed: used.some((row) => row.target === target),
    };
  }

  /** What the registry knows of backups to the target of the settings. */
  async historyOf(settings: BackupSettings): Promise<BackupHistory> {
    const { backups } = this.#parts.registry;
    const { clock } = this.#parts;
    // What is dated ahead was made before the clock was set back: nothing waits until it is as late again.
    const ahead = clock.now() + AHEAD_MS;
    const rows = (await backups.list(LOOKED_AT)).filter(
      ({ target, askedMs }) => target === settings.target && askedMs <= ahead,
    );
    const there = rows.filter(({ state }) => state === 'made').toSorted((a, b) => (b.begunMs ?? 0) - (a.begunMs ?? 0));
    const [made = null] = there;
    const failed = rows.filter(({ state, askedMs }) => state === 'failed' && askedMs > (made?.askedMs ?? 0));
    const [tried = null] = there
      .filter(({ verifiedMs }) => verifiedMs !== null)
      .toSorted((a, b) => (b.verifiedMs ?? 0) - (a.verifiedMs ?? 0));
    return { made, failed, open: await backups.open(), tried };
  }

  async #once(claim: HeldClaim): Promise<void> {
    const { clock, registry } = this.#parts;
    const settings = await readBackupSettings(registry.facts);
    const signal = AbortSignal.any([this.#stop.signal, claim.signal]);
    let open = await registry.backups.open();
    if (open?.state === 'running') open = await this.#settleLeft(open, settings, signal);
    const due = open === null ? dueBackup(settings, await this.historyOf(settings), epochSeconds(clock)) : null;
    if (due !== null) open = await this.ask(systemAudit('schedule', 'schedule'), due);
    if (open !== null && !signal.aborted) {
      this.#isMaking = true;
      await this.#make(open, settings, signal).finally(() => {
        this.#isMaking = false;
      });
    }
    const history = await this.historyOf(settings);
    if (!signal.aborted && history.made !== null && isTrialDue(settings, history, epochSeconds(clock))) {
      await this.#tryByItself(history.made, signal);
    }
    if (!signal.aborted) await this.#judge();
  }

  /** What is to be done about a backup that an earlier process left: it is there, or it is made again. */
  async #settleLeft(row: BackupRecord, settings: BackupSettings, signal: AbortSignal): Promise<BackupRecord | null> {
    const { clock, registry } = this.#parts;
    const audit = systemAudit('reconcile');
    const found = await this.#lookAt(row.target, signal);
    if (signal.aborted) return null;
    const own = found?.own.find(({ id }) => id === row.id);
    if (own !== undefined) {
      await this.#records.made(row, own, audit, null);
      return null;
    }
    const error = 'The server ended while it was made.';
    const line = this.#line(audit, 'backup.failed', { reason: row.id, error });
    await registry.backups.failed(row.id, clock.now(), error, line);
    const { failed } = await this.historyOf(settings);
    // A server that ends again and again has to pause, as after any other failure.
    return failed.length > 1 || settings.target === null ? null : this.ask(audit, row.planned);
  }

  /** What is in a place; null: it does not say. */
  async #lookAt(target: string, signal: AbortSignal): Promise<PlaceContent | null> {
    const { log, work } = this.#parts;
    try {
      return await work.run({ kind: 'look', target, owner: await this.ownerOf(target) }, { signal });
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'the place of backups does not say what is there');
      return null;
    }
  }

  async #make(row: BackupRecord, settings: BackupSettings, signal: AbortSignal): Promise<void> {
    const { clock, log, registry, work } = this.#parts;
    const audit = row.planned === null ? systemAudit('request') : systemAudit('schedule', 'schedule');
    const started = performance.now();
    if (!(await registry.backups.begin(row.id, clock.now(), this.#line(audit, 'backup.begun', { reason: row.id }))))
      return;
    let toldMs = 0;
    let telling: Promise<void> | null = null;
    const progress = (done: number, all: number) => {
      const now = performance.now();
      if (telling !== null || (now - toldMs < PROGRESS_MS && done < all)) return;
      toldMs = now;
      telling = registry.backups
        .progress(row.id, done, all)
        .catch((error) => log.warn({ err: error }, 'the progress of a backup was not recorded'))
        .finally(() => {
          telling = null;
        });
    };
    try {
      const { target, id } = row;
      const { withKeys, keep, timezone } = settings;
      const owner = await this.ownerOf(target);
      const done = await work.run(
        { kind: 'make', target, owner, id, withKeys, keep, timezone, spared: await this.#records.spared() },
        { progress, signal },
      );
      await telling;
      if (signal.aborted) return;
      await this.#records.made(row, done.backup, audit, done);
    } catch (error) {
      await telling;
      if (signal.aborted) return;
      if (!isWinterdockError(error) || error.code === 'internal') log.error({ err: error }, 'a backup failed');
      const why = publicMessage(error);
      const tookMs = performance.now() - started;
      const line = this.#line(audit, 'backup.failed', { reason: row.id, error: why, tookMs });
      await registry.backups.failed(row.id, clock.now(), why, line);
      await this.#records.forget();
    }
  }

  async #tryByItself(row: BackupRecord, signal: AbortSignal): Promise<void> {
    const { clock, log, registry } = this.#parts;
    const audit = systemAudit('schedule', 'schedule');
    try {
      await this.try(row, audit, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, 'a backup was not tried');
      const why = publicMessage(error);
      const trial = { verifiedMs: clock.now(), verifiedTookMs: null, verifiedError: why };
      await registry.backups.tried(
        row.id,
        trial,
        this.#line(audit, 'backup.verify_failed', { reason: row.id, error: why }),
      );
    }
  }

  /** Compares what is wrong with what the ledger was told, and tells it when that is another thing now. */
  #judge(): Promise<void> {
    this.#judging ??= this.#compare().finally(() => {
      this.#judging = null;
    });
    return this.#judging;
  }

  async #compare(): Promise<void> {
    const { clock, registry } = this.#parts;
    const settings = await readBackupSettings(registry.facts);
    const told = await readBackupFault(registry.facts);
    const found = backupFaultOf(settings, await this.historyOf(settings), epochSeconds(clock));
    if (found?.kind === told?.kind && found?.since === told?.since) return;
    const audit = systemAudit('schedule', 'schedule');
    await writeBackupFault(registry.facts, found, this.#faultLine(audit, found, told), clock);
  }

  #faultLine(audit: AuditContext, found: BackupFault | null, told: BackupFault | null): LedgerEntry {
    if (found !== null) return this.#line(audit, 'backup.fault_raised', { reason: found.kind, error: found.reason });
    return this.#line(audit, 'backup.fault_cleared', { reason: told?.kind ?? null });
  }

  #line(audit: AuditContext, type: string, more: Partial<LedgerEntry>): LedgerEntry {
    return ledgerEntry(this.#parts, null, audit, type, more);
  }
}

function what(id: string, reason: string | null): string {
  return reason === null ? id : `${id}: ${reason}`;
}
