/**
 * Forgets tenants: sandboxes, copies, access, records, texts of the ledger, one step after another, each of which may
 * be repeated. It is shown as a job: a place for each sandbox and one for each step. Survives the server: an open
 * forgetting goes on at the next start with what is left. What goes from the tables is
 * lib/registry/tenant-forgettings.ts, which files go is tenant-files.ts.
 */
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Auth } from '../auth/auth.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { parseCopyPath } from '../base/copy-paths.ts';
import { isWinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Signer } from '../base/signing.ts';
import { ClaimedWork, type WorkTurn } from '../claims/claimed-work.ts';
import type { Claims } from '../claims/claims.ts';
import type { Copies } from '../copies/copies.ts';
import { attentionMarks } from '../health/attention-marks.ts';
import { BlankNoteDigest, blankNote, TENANT_FORGOTTEN } from '../ledger/blanked-lines.ts';
import { eachOf } from '../registry/each-of.ts';
import type { JobRow } from '../registry/jobs.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { RemovedCounts, TenantForgetting } from '../registry/tenant-forgettings.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { Drawers } from '../storage/drawer.ts';
import { namesIn } from '../storage/inventory.ts';
import { type JobRunner, jobLine } from './runner.ts';
import { removeFiles } from './tenant-files.ts';
import { purgeObjectsOf, type TenantStore } from './tenant-objects.ts';
import { purgeReplicaOf, type ReplicaOfTenants } from './tenant-replica.ts';

const STEPS = ['access', 'jobs', 'copies', 'files', 'store', 'records', 'ledger', 'compact'] as const;
type Step = (typeof STEPS)[number];
/** What fault injection sees, in order: `forget:sandboxes` comes after the jobs. */
export type ForgetStep = `forget:${Step | 'sandboxes' | 'finished'}`;

export interface TenantForgetterParts {
  claims: Claims;
  config: Pick<Config, 'dataFolder'>;
  clock: Clock;
  log: Logger;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'runPlan'>;
  copies: Pick<Copies, 'sweep'>;
  drawers: Drawers;
  /** Null: there is no object store. */
  store: TenantStore | null;
  /** Null: nothing is replicated. */
  replica: ReplicaOfTenants | null;
  auth: Pick<Auth, 'keys' | 'people'>;
  runner: Pick<JobRunner, 'cancel'>;
  signer: Signer;
  /** Fault injection: called as each step begins. */
  failpoint?: ((step: ForgetStep) => void) | undefined;
}

/** Sandboxes that are deleted at the same time. */
const PLACES = 4;
/** Milliseconds until a step that failed is tried again; then twice as long each time, up to the second. */
const AGAIN_MS = 1000;
const AGAIN_MOST_MS = 60_000;
const POLL_MS = 25;
/** Lines of the ledger that are blanked in one transaction: each is signed, some 50 µs. */
const LINES = 100;
const ROWS = 500;

export class TenantForgetter {
  readonly #parts: TenantForgetterParts;
  readonly #work: ClaimedWork<TenantForgetting>;

  constructor(parts: TenantForgetterParts) {
    this.#parts = parts;
    this.#work = new ClaimedWork({
      ...parts,
      kind: 'forgetting',
      what: 'forgetting a tenant',
      keyOf: ({ job }) => job,
      open: () => parts.registry.tenantForgettings.open(),
      // What fails is tried again after a while, for nothing of it may be left.
      carryOut: (forgetting, turn) => this.#run(forgetting, turn),
      pauseMs: (round) => Math.min(AGAIN_MS * 2 ** (round - 1), AGAIN_MOST_MS),
    });
  }

  /** Goes on with what a server left. */
  async start(): Promise<void> {
    const { registry, clock } = this.#parts;
    const open = await registry.tenantForgettings.open();
    await this.#work.start();
    for (const job of await registry.jobs.running()) {
      // Killed after the last step.
      if (job.verb !== 'forget' || open.some((one) => one.job === job.id)) continue;
      await registry.jobs.end(job.id, 'done', epochSeconds(clock), this.#jobLine(job, 'job.done'));
    }
  }

  /** Lets what is under way end and begins no more; it goes on at the next start. Idempotent. */
  async stop(): Promise<void> {
    await this.#work.stop();
  }

  /**
   * Begins to forget a tenant; from then on nothing is made for it. Returns the id of the job. Throws `conflict` when
   * that is under way.
   */
  async begin(tenant: string, cause: AuditContext): Promise<string> {
    const { registry, clock } = this.#parts;
    const { actor, via } = cause;
    const forgetting = { job: newId('job'), tenant, actor, via, started: epochSeconds(clock) };
    const line = ledgerEntry({ clock }, null, { ...cause, trigger: 'operator', reason: null }, 'tenant.forgetting', {
      tenant,
      reason: `the job ${forgetting.job} forgets it`,
    });
    await registry.tenantForgettings.begin(forgetting, line);
    const open = { ...forgetting, finished: null };
    await this.#jobOf(open);
    await this.#work.take(open);
    return forgetting.job;
  }

  /** The job's row, made when a kill came before it was. */
  async #jobOf({ job: id, tenant, actor, via, started }: TenantForgetting): Promise<JobRow> {
    const { registry } = this.#parts;
    const known = await registry.jobs.get(id);
    if (known !== null) return known;
    const rows: number[] = [];
    for await (const { row } of eachOf(await registry.jobs.select({ filter: { tenant } }))) rows.push(row);
    const job = {
      id,
      verb: 'forget' as const,
      reason: null,
      labels: null,
      request: { filter: { tenant } },
      includeHeld: false,
      tenants: [tenant],
      actor,
      via,
      address: null,
      created: started,
    };
    const places = Uint32Array.from([...rows, ...STEPS.map(() => 0)]);
    const line = jobLine(this.#parts, job, this.#cause(job), 'job.started', `${rows.length} chosen`);
    return registry.jobs.add(job, places, [], line);
  }

  #cause({ id, actor, via }: Pick<JobRow, 'id' | 'actor' | 'via'>): AuditContext {
    return { trigger: 'operator', actor, via, requestId: id, address: null, reason: null };
  }

  #jobLine(job: JobRow, type: string) {
    return jobLine(this.#parts, job, this.#cause(job), type, `${job.done} done`);
  }

  async #run(forgetting: TenantForgetting, turn: WorkTurn): Promise<void> {
    const { registry, clock, failpoint } = this.#parts;
    const job = await this.#jobOf(forgetting);
    const { tenant } = forgetting;
    const cause = this.#cause(job);
    const steps: Record<Step, () => Promise<RemovedCounts>> = {
      access: () => this.#access(job, tenant, cause),
      jobs: () => this.#jobs(job, tenant, cause, turn),
      copies: () => this.#copies(tenant, cause, turn),
      files: () => this.#files(tenant, turn),
      store: () => this.#store(tenant, turn),
      records: () => this.#records(tenant, turn),
      ledger: () => this.#ledger(job, tenant, turn),
      compact: () => this.#compact(turn),
    };
    const summary: string[] = [];
    for (const [at, step] of STEPS.entries()) {
      if (step === 'copies') {
        failpoint?.('forget:sandboxes');
        await this.#sandboxes(job, tenant, cause, turn);
        summary.push(`sandboxes ${job.chosen - STEPS.length}`);
      }
      if (turn.isOver) return;
      failpoint?.(`forget:${step}`);
      const gone = wordsOf(await steps[step]());
      if (turn.isOver) return;
      // The digest says how many lines there are.
      if (gone !== '' && step !== 'ledger') summary.push(gone);
      const position = job.chosen - STEPS.length + at;
      const reason = `${STEP_WORDS[step]}${gone === '' ? '' : `: ${gone}`}`;
      await registry.jobs.record(job.id, [{ position, outcome: 'done', reason, timeMs: clock.now() }]);
    }
    const digest = new BlankNoteDigest();
    for await (const note of eachOf(await registry.tenantForgettings.notes(job.id))) digest.add(note);
    const reason = `${summary.join(', ')}; ${digest.words()}`;
    if (turn.isOver) return;
    const line = ledgerEntry({ clock }, null, cause, TENANT_FORGOTTEN, { tenant, reason });
    await registry.tenantForgettings.finish(job.id, epochSeconds(clock), line);
    failpoint?.('forget:finished');
    await registry.jobs.end(job.id, 'done', epochSeconds(clock), this.#jobLine(job, 'job.done'));
  }

  /** Keys, sessions and streams end at once, then their rows go. */
  async #access(job: JobRow, tenant: string, cause: AuditContext): Promise<RemovedCounts> {
    const { auth, registry, clock } = this.#parts;
    for (const key of await auth.keys.list()) {
      if (key.tenant !== tenant) continue;
      await auth.keys.revoke(key.id, { ...ledgerEntry({ clock }, null, cause, 'key.revoked'), tenant });
    }
    await auth.keys.flush();
    let limited = 0;
    for (const { id, others } of await registry.tenantForgettings.people(tenant)) {
      await auth.people.change(id, others.length === 0 ? { disabled: true } : { tenants: others });
      if (others.length > 0) limited += 1;
    }
    return { ...(await registry.tenantForgettings.removeAccess(job.id, tenant)), 'people who had others too': limited };
  }

  /** A job that concerned others too ends by itself. */
  async #jobs(job: JobRow, tenant: string, cause: AuditContext, turn: WorkTurn): Promise<RemovedCounts> {
    const { registry, runner } = this.#parts;
    const running = () => registry.tenantForgettings.runningJobs(job.id, tenant);
    for (const { id, only } of await running()) if (only) await runner.cancel(id, cause);
    while (!turn.isOver && (await running()).length > 0) await setTimeout(POLL_MS);
    return turn.isOver ? {} : registry.tenantForgettings.removeJobs(job.id, tenant);
  }

  /** Runs the plan to `deleted` for every sandbox of the tenant. None is left when this resolves. */
  async #sandboxes(job: JobRow, tenant: string, cause: AuditContext, turn: WorkTurn): Promise<void> {
    const { registry, sandboxes, clock } = this.#parts;
    const remove = async (id: InstanceId, position: number | null): Promise<void> => {
      try {
        await sandboxes.runPlan(id, 'deleted', cause, { force: true });
      } catch (error) {
        if (!isWinterdockError(error) || (error.code !== 'gone' && error.code !== 'not_found')) throw error;
      }
      if (position === null) return;
      await registry.jobs.record(job.id, [{ position, outcome: 'done', reason: null, timeMs: clock.now() }]);
    };
    const failed: unknown[] = [];
    const few = async (work: (() => Promise<void>)[]): Promise<void> => {
      const next = async (): Promise<void> => {
        for (let one = work.shift(); one !== undefined && !turn.isOver; one = work.shift()) {
          await setImmediate();
          await one().catch((error: unknown) => void failed.push(error));
        }
      };
      await Promise.all(Array.from({ length: PLACES }, next));
    };
    for (let position: number | null = 0; position !== null && !turn.isOver; ) {
      const { items, next } = await registry.jobs.open(job.id, position);
      await few(items.map((item) => () => remove(item.id, item.position)));
      position = next;
    }
    const rest = await registry.tenantForgettings.living(tenant, ROWS);
    if (failed.length === 0) await few(rest.map((id) => () => remove(id, null)));
    if (failed.length > 0) throw failed[0];
    if (!turn.isOver && rest.length === ROWS) await this.#sandboxes(job, tenant, cause, turn);
  }

  /**
   * Files of copies go with the last row that needs them: one that another tenant has too stays, for it is that
   * tenant's.
   */
  async #copies(tenant: string, cause: AuditContext, turn: WorkTurn): Promise<RemovedCounts> {
    const { registry, copies, clock } = this.#parts;
    const { tenantForgettings } = registry;
    const lineOf = (type: string) => ({ ...ledgerEntry({ clock }, null, cause, type), tenant });
    const snapshots = await tenantForgettings.snapshots(tenant);
    for (const id of snapshots) {
      await registry.copies.deleteSnapshot(id, epochSeconds(clock), lineOf('snapshot.deleted'));
    }
    const blueprints = await tenantForgettings.blueprints(tenant);
    for (const name of blueprints) await registry.copies.deleteBlueprint(name, lineOf('blueprint.deleted'));
    // A file that the disk does not let go keeps this step from its end.
    while (!turn.isOver) {
      await copies.sweep();
      const left: string[] = [];
      for (const path of await registry.copies.unclaimedFiles())
        if (parseCopyPath(path) !== null && !(await registry.copies.isNeeded(path))) left.push(path);
      if (left.length === 0) break;
      await setTimeout(AGAIN_MS);
    }
    return { snapshots: snapshots.length, blueprints: blueprints.length };
  }

  /** What was on its way out when the sandboxes went is sent, or given up, first: its folder goes with it. */
  async #files(tenant: string, turn: WorkTurn): Promise<RemovedCounts> {
    const { config, drawers, registry } = this.#parts;
    const leaving = join(config.dataFolder, 'bundles');
    const begun = [...namesIn(leaving)];
    while (!turn.isOver && [...namesIn(leaving)].some((name) => begun.includes(name))) await setTimeout(POLL_MS);
    return turn.isOver ? {} : removeFiles(config, drawers, registry, tenant);
  }

  async #store(tenant: string, turn: WorkTurn): Promise<RemovedCounts> {
    const { registry, store, replica, clock } = this.#parts;
    const isOver = () => turn.isOver;
    const objects = await purgeObjectsOf(registry, store, tenant, { nowMs: clock.now(), isOver });
    return { ...objects, ...(await purgeReplicaOf(registry, replica, tenant, isOver)) };
  }

  async #records(tenant: string, turn: WorkTurn): Promise<RemovedCounts> {
    const { registry, clock } = this.#parts;
    const { tenantForgettings } = registry;
    await attentionMarks(registry, clock).forget(tenant);
    while (!turn.isOver && (await tenantForgettings.emptyTombstones(tenant, ROWS))) await setImmediate();
    const { shares = 0, workbooks = 0 } = await tenantForgettings.removeRecords(tenant);
    return { shares, workbooks };
  }

  async #ledger(job: JobRow, tenant: string, turn: WorkTurn): Promise<RemovedCounts> {
    const { registry, signer, clock } = this.#parts;
    const { tenantForgettings } = registry;
    // What is counted of refusals and not written yet would be written after it was forgotten.
    await registry.ledger.appendRepeatCounts(clock.now(), { all: true });
    let blanked = 0;
    for (let seq: number | null = 0; seq !== null && !turn.isOver; ) {
      const { lines, next } = await tenantForgettings.toBlank(job.id, tenant, seq, LINES);
      await tenantForgettings.blank(
        lines.map((one) => ({ seq: one.line.seq, note: blankNote(signer, one.line, one.previous, job.id) })),
      );
      blanked += lines.length;
      seq = next;
      await setImmediate();
    }
    return { 'lines of the ledger': blanked };
  }

  async #compact(turn: WorkTurn): Promise<RemovedCounts> {
    const { storage } = this.#parts.registry;
    await storage.compact();
    while (!turn.isOver && !(await storage.emptyLog())) await setTimeout(POLL_MS);
    // The replica has every moment of before: it begins anew, and those go.
    await this.#parts.replica?.rebaseRegistry(() => turn.isOver);
    return {};
  }
}

const STEP_WORDS: Readonly<Record<Step, string>> = {
  access: 'Keys, people, invitations and sessions are gone',
  jobs: 'Its jobs are gone',
  copies: 'Snapshots and blueprints are gone',
  files: 'What was set aside or expanded is gone',
  store: 'What was in the object store is gone',
  records: 'Names, labels, shares, workbooks, quotas and search words are gone',
  ledger: 'The ledger keeps ids only',
  compact: 'The registry is written anew without it',
};

/** `keys 2, people 1`: what there was any of. */
function wordsOf(gone: RemovedCounts): string {
  return Object.entries(gone)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');
}
