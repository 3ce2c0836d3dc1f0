/**
 * Engine rows as objects of the contract: sandboxes, ledger lines, jobs. Every operation and the change stream use it;
 * it reads nothing but thresholds and live facts, and changes nothing.
 */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Event, Instance, Job, JobFilter } from '../contract/schema.ts';
import { type LadderPolicy, nextMove } from '../lifecycle/ladder.ts';
import { isBlocking, STUCK_SECONDS } from '../lifecycle/words.ts';
import type { JobRow } from '../registry/jobs.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerLine, Thresholds } from '../registry/types.ts';
import type { ReplicaStatus } from '../replication/replica-of-files.ts';
import type { LiveStatus, Sandboxes } from '../sandboxes/sandboxes.ts';

export interface InstanceSerializer {
  /** `thresholds`: those of its tenant, when the caller has them already. */
  serialize(row: InstanceRow, thresholds?: Thresholds): Promise<Instance>;
  /** Looks up the thresholds of each tenant once. */
  serializeAll(rows: readonly InstanceRow[]): Promise<Instance[]>;
}

/** Makes the serializer of sandboxes: a row needs the live facts and the thresholds that belong to it. */
export function createInstanceSerializer(parts: {
  registry: Pick<Registry, 'thresholds'>;
  sandboxes: Pick<Sandboxes, 'live'>;
  clock: Clock;
}): InstanceSerializer {
  const { registry, sandboxes, clock } = parts;
  const serialize = async (row: InstanceRow, thresholds?: Thresholds): Promise<Instance> =>
    instanceOf(
      row,
      sandboxes.live(row),
      thresholds ?? (await registry.thresholds.ofTenant(row.tenant)),
      epochSeconds(clock),
    );
  return {
    serialize,
    async serializeAll(rows) {
      const byTenant = new Map<string, Thresholds>();
      for (const { tenant } of rows) {
        if (!byTenant.has(tenant)) byTenant.set(tenant, await registry.thresholds.ofTenant(tenant));
      }
      return Promise.all(rows.map((row) => serialize(row, byTenant.get(row.tenant))));
    },
  };
}

/** A row as the contract's Instance. `thresholds` are its tenant's or the global ones; `now` in epoch seconds. */
function instanceOf(row: InstanceRow, live: LiveStatus, thresholds: LadderPolicy, now: number): Instance {
  const policy = {
    idleToSuspendSeconds: row.idleToSuspendSeconds ?? thresholds.idleToSuspendSeconds,
    idleToFreezeSeconds: row.idleToFreezeSeconds ?? thresholds.idleToFreezeSeconds,
  };
  const { unreachable } = live;
  // What another host carries out is its own to settle.
  const isUnattended = row.pending !== null && !live.isLocked && live.isHere;
  const interrupted = isUnattended && now >= (row.pending?.startedMs ?? 0) / 1000 + STUCK_SECONDS;
  const next = nextMove(
    {
      state: row.state,
      updated: live.updated,
      created: row.created,
      keepHot: row.keepHot,
      holdUntil: row.holdUntil,
      ephemeral: row.ephemeral,
      // An interrupted operation keeps the ladder away as well, and so does a host that is away.
      blocked: isBlocking(row.fault) || interrupted || unreachable !== null,
      attached: live.attached + live.calls,
    },
    policy,
  );
  return {
    id: row.id,
    tenant: row.tenant,
    name: row.name,
    state: row.state,
    thermal: live.thermal,
    warm_since: live.warmSince,
    fault: row.fault,
    fault_reason: row.faultReason,
    pending: live.pending ?? row.pending?.verb ?? null,
    pending_since: row.pending === null ? null : Math.floor(row.pending.startedMs / 1000),
    interrupted,
    vfs_path: row.vfsPath,
    updated: live.updated,
    created: row.created,
    state_since: row.stateSince,
    idle_seconds: Math.max(0, now - live.updated),
    next,
    keep_hot: row.keepHot,
    hold_until: row.holdUntil,
    ephemeral: row.ephemeral,
    policy: row.policy,
    hot_to_warm_s: row.hotToWarmSeconds,
    idle_to_suspend_s: row.idleToSuspendSeconds,
    idle_to_freeze_s: row.idleToFreezeSeconds,
    own_replicate: row.replicate,
    replicate: live.replica.replicate,
    replicate_from_next_wake: live.replica.isFromNextWake,
    recovery_point: recoveryPointOf(live.replica),
    attached: live.attached,
    calls: live.calls,
    bytes: row.bytes,
    labels: row.labels,
    workbook: row.workbook,
    workbook_version: row.workbookVersion,
    lineage: { blueprint: row.lineageBlueprint, snapshot: row.lineageSnapshot, parent: row.lineageParent },
    stored: row.stored,
    upload: live.upload,
    host: row.ownerHost,
    term: row.ownerTerm,
    unreachable: unreachable === null ? null : awayFields(unreachable),
  };
}

function awayFields({ lastSeenMs, recoveryPointMs, goesOn }: NonNullable<LiveStatus['unreachable']>) {
  return { last_seen: secondsOf(lastSeenMs), recovery_point: secondsOf(recoveryPointMs), goes_on: goesOn };
}

const secondsOf = (ms: number | null) => (ms === null ? null : Math.floor(ms / 1000));

function recoveryPointOf({ atMs, behindMs, as }: ReplicaStatus): Instance['recovery_point'] {
  return {
    at: secondsOf(atMs),
    behind_s: behindMs === null ? null : behindMs / 1000,
    as,
  };
}

/** A ledger line as the contract's Event. `actors` gives the name of who acted, as far as it is in memory. */
export function eventOf(line: LedgerLine, actors: Pick<ActorDirectory, 'nameOf'>): Event {
  return {
    seq: line.seq,
    time: Math.floor(line.timeMs / 1000),
    time_ms: line.timeMs,
    instance: line.instance,
    tenant: line.tenant,
    type: line.type,
    from: line.from,
    to: line.to,
    trigger: line.trigger,
    actor: line.actor,
    actor_name: actors.nameOf(line.actor),
    via: line.via,
    source: line.source,
    took_ms: line.tookMs,
    reason: line.reason,
    error: line.error,
    request_id: line.requestId,
    address: line.address,
  };
}

/** What a webhook is told of a ledger line: the line without the name and the address of who asked. */
export function webhookDataOf(line: LedgerLine): Omit<Event, 'address' | 'actor_name'> {
  const { address: _, actor_name: _name, ...data } = eventOf(line, { nameOf: () => null });
  return data;
}

/** A job as the contract shows it. `actors` gives the name of who began it, as far as it is in memory. */
export function jobOf(job: JobRow, actors: Pick<ActorDirectory, 'nameOf'>): Job {
  const { filter = null } = job.request as { filter?: JobFilter };
  return {
    id: job.id,
    verb: job.verb,
    reason: job.reason,
    labels: job.labels,
    filter,
    include_held: job.includeHeld,
    state: job.state,
    actor: job.actor,
    actor_name: actors.nameOf(job.actor),
    created: job.created,
    finished: job.finished,
    chosen: job.chosen,
    done: job.done,
    failed: job.failed,
    skipped: job.skipped,
  };
}
