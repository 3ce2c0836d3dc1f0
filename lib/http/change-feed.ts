/**
 * The change feed: for each ledger line, and for each verb that begins or ends, the current row and counts that it is
 * about; and the progress of jobs, starts and runs, which have no line for each step. Read and serialized once for all
 * clients with the same rights. Knows nothing of connections.
 */

import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Changes } from '../contract/schema.ts';
import type { Seeding, StartProgress } from '../copies/seeding.ts';
import type { HostWatch } from '../hosts/host-watch.ts';
import type { EventHub } from '../ledger/event-hub.ts';
import { type InstanceSerializer, jobOf } from '../operations/serializer.ts';
import type { CommitEvents } from '../registry/commit-events.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerLine } from '../registry/types.ts';
import type { Runs } from '../runs/runs.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { eventText } from './answer.ts';

/** Batches are sent at most this often: under a flood of lines, a row is then read once for many of them. */
const EVERY_MS = 500;
/** More rows than a page shows are not sent one by one: `more` asks the client to reload. */
const MOST_ROWS = 500;
const MOST_TENANTS = 100;
const MOST_JOBS = 100;

/** The tenants whose rows a follower may see; null: all. */
type Scope = readonly string[] | null;

export interface ChangeFeed {
  /** Calls `send` with a server-sent event for each change within the scope. Returns the function that leaves. */
  join(scope: Scope, send: (piece: Buffer) => void): () => void;
  /** Sends the changes of these lines once more, for a client that missed them. */
  again(lines: readonly About[]): void;
  /**
   * The ledger's position for a client that has seen it up to `seq`: its last number, and whether every line after
   * `seq` is still there.
   */
  standing(seq: number): Promise<{ last: number; whole: boolean }>;
}

/** What a line is about. Lines of a job have the job's id as their request id. */
type About = Pick<LedgerLine, 'type' | 'instance' | 'tenant'> & { request_id: string | null };

interface Group {
  scope: Scope;
  sends: Set<(piece: Buffer) => void>;
}

/** Whether a scope covers all of these tenants. Null (every tenant) and none need the scope of all. */
function holds(scope: Scope, tenants: readonly string[] | null): boolean {
  if (scope === null) return true;
  return tenants !== null && tenants.length > 0 && tenants.every((tenant) => scope.includes(tenant));
}

/** Makes the feed. It reads only while a client is joined. */
export function createChangeFeed(parts: {
  events: Pick<EventHub, 'failed'>;
  registry: {
    commitEvents: CommitEvents;
    instances: Pick<Registry['instances'], 'get' | 'list' | 'countsByState' | 'countsByFault'>;
    ledger: Pick<Registry['ledger'], 'lastSeq' | 'after'>;
    jobs: Pick<Registry['jobs'], 'get'>;
  };
  actors: Pick<ActorDirectory, 'load' | 'nameOf'>;
  seeding: Pick<Seeding, 'onProgress'>;
  runs: Pick<Runs, 'onChange'>;
  sandboxes: Pick<Sandboxes, 'onOperationChange'>;
  /** Null where nobody else uses the registry. */
  hosts: Pick<HostWatch, 'onReachChange'> | null;
  serializer: InstanceSerializer;
  /** How many sandboxes of these tenants (null: all) are warm. */
  countWarm: (tenants: Scope) => Promise<number>;
  everyMs?: number;
}): ChangeFeed {
  const { actors, events, registry, runs, seeding, sandboxes, hosts, serializer, countWarm } = parts;
  const { everyMs = EVERY_MS } = parts;
  const groups = new Map<string, Group>();
  let leaves: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastSent = 0;
  let rows = new Set<InstanceId>();
  let tenants = new Set<string>();
  let jobs = new Set<string>();
  let starts = new Map<string, StartProgress>();
  let ran = new Set<InstanceId>();

  const waits = () => rows.size + tenants.size + jobs.size + starts.size > 0;
  const tell = async () => {
    const ids = [...rows];
    const names = [...tenants];
    const [moved, begun, busy] = [[...jobs], [...starts.values()], ran];
    rows = new Set();
    ran = new Set();
    tenants = new Set();
    // The rest goes with the next batch.
    jobs = new Set(moved.slice(MOST_JOBS));
    starts = new Map();
    const seq = await registry.ledger.lastSeq();
    const found = await Promise.all(ids.slice(0, MOST_ROWS).map((id) => registry.instances.get(id)));
    const shown = await serializer.serializeAll(found.filter((row) => row !== null));
    const far = await Promise.all(moved.slice(0, MOST_JOBS).map((id) => registry.jobs.get(id)));
    await actors.load(far.flatMap((job) => (job === null ? [] : [job.actor])));
    const cut = ids.length > MOST_ROWS || names.length > MOST_TENANTS;
    const theirs = new Map<string, Changes['states']>();
    for (const tenant of names.slice(0, MOST_TENANTS))
      theirs.set(tenant, await registry.instances.countsByState([tenant]));
    for (const { scope, sends } of groups.values()) {
      const sees = (tenant: string) => holds(scope, [tenant]);
      const more = cut && (scope === null || names.some(sees));
      const seen = shown.filter(({ tenant }) => sees(tenant));
      const its = {
        rows: seen,
        runs: seen.flatMap(({ id }) => (busy.has(id) ? [id] : [])),
        tenants: [...theirs].flatMap(([tenant, states]) => (sees(tenant) ? [{ tenant, states }] : [])),
        jobs: far.flatMap((job) => (job !== null && holds(scope, job.tenants) ? [jobOf(job, actors)] : [])),
        starts: begun.flatMap(({ requestId, ...start }) =>
          sees(start.tenant) ? [{ request_id: requestId, ...start }] : [],
        ),
      };
      // A client learns nothing of other tenants, not even that something changed.
      if (!more && Object.values(its).every(({ length }) => length === 0)) continue;
      const counted = scope === null ? [] : ([scope] as const);
      const changes: Changes = {
        seq,
        more,
        states: await registry.instances.countsByState(...counted),
        faults: await registry.instances.countsByFault(...counted),
        warm: await countWarm(scope),
        ...its,
      };
      const piece = Buffer.from(eventText('changes', changes));
      for (const send of [...sends]) send(piece);
    }
  };

  const plan = () => {
    timer ??= setTimeout(
      () => {
        lastSent = performance.now();
        tell()
          .catch(events.failed)
          .finally(() => {
            timer = undefined;
            if (waits()) plan();
          });
      },
      Math.max(0, lastSent + everyMs - performance.now()),
    );
  };

  const collect = (lines: readonly About[]) => {
    for (const { type, instance, tenant, request_id: request } of lines) {
      // Looking changes nothing.
      if (type === 'private.read' || type === 'logs.read') continue;
      if (instance !== null) rows.add(instance);
      if (tenant !== null) tenants.add(tenant);
      if (type.startsWith('job.') && request !== null) jobs.add(request);
    }
    if (waits()) plan();
  };
  /** What a host has can be reached no more, or again: no line says so. */
  const hostChanged = async (host: string) => {
    const { rows: its } = await registry.instances.list({
      host,
      sort: 'updated',
      reverse: false,
      limit: MOST_ROWS + 1,
    });
    for (const { id, tenant } of its) {
      rows.add(id);
      tenants.add(tenant);
    }
    if (waits()) plan();
  };
  const listen = () => [
    registry.commitEvents.onLedgerAppend(({ lines }) =>
      collect(lines.map((line) => ({ ...line, request_id: line.requestId }))),
    ),
    registry.commitEvents.onJobChange(({ job }) => {
      jobs.add(job);
      plan();
    }),
    // A verb that is refused or fails may leave no line, and one that a line is about may end after it.
    sandboxes.onOperationChange((id) => {
      rows.add(id);
      plan();
    }),
    // The row as well: a run holds its sandbox awake.
    runs.onChange(({ instance, terminal }) => {
      rows.add(instance);
      if (terminal === null) ran.add(instance);
      plan();
    }),
    ...(hosts === null ? [] : [hosts.onReachChange((host) => void hostChanged(host).catch(events.failed))]),
    seeding.onProgress((started) => {
      starts.set(started.requestId, started);
      plan();
    }),
  ];

  return {
    join(scope, send) {
      const key = scope === null ? '*' : [...scope].sort().join(' ');
      const group = groups.get(key) ?? { scope, sends: new Set() };
      groups.set(key, group);
      group.sends.add(send);
      if (leaves.length === 0) leaves = listen();
      return () => {
        group.sends.delete(send);
        if (group.sends.size === 0 && groups.get(key) === group) groups.delete(key);
        if (groups.size > 0) return;
        for (const leave of leaves.splice(0)) leave();
        clearTimeout(timer);
        timer = undefined;
      };
    },
    again: collect,
    async standing(seq) {
      const last = await registry.ledger.lastSeq();
      if (seq >= last) return { last, whole: seq === last };
      const [next] = await registry.ledger.after(seq, 1);
      return { last, whole: next?.seq === seq + 1 };
    },
  };
}
