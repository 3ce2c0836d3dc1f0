/**
 * What needs a person: the one list of where it comes from. A new feature adds its source here, and is counted in the
 * masthead, shown in the inbox and acknowledged like the others.
 */
import { cache } from 'react';
import { FAULT_HAPPENED } from '#components/sandbox/state-words.ts';
import { stuckInWords } from '#components/sandbox/stuck-words.ts';
import { lengthInWords, sizeInWords } from '#components/ui/durations.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { OperationName } from '#lib/contract/access.ts';
import type { NearQuota } from '#lib/contract/schema/attention.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { FAULTS, isBlocking } from '#lib/lifecycle/words.ts';
import { renderedAt } from '../caller.ts';

export interface AttentionRow {
  /** What the overview lists by itself, with its ways out. */
  of: 'sandbox' | 'other';
  /** What an acknowledgement is of: another one when it is another trouble. */
  key: string;
  /** `wall`: nothing is wrong yet. */
  level: 'fault' | 'wall';
  /** Null: the whole server. */
  tenant: string | null;
  /** What it is about, and where to go. */
  name: string;
  href: string;
  says: string;
  /** Epoch seconds; null: nobody noted it. */
  since: number | null;
  /** How many things it stands for. */
  count: number;
}

export interface AttentionSource {
  name: string;
  /** Whoever may not do this does not see its rows. */
  needs: OperationName;
  /** Cheap: every page asks. */
  read(caller: Caller): Promise<AttentionRow[]>;
}

/** Rows of one kind; those beyond are one row with a link to the list. */
const SHOWN = 20;
const DAY = 86_400;
/** Without a schedule a backup is old after this time. */
const OLD_SECONDS = 7 * DAY;
/** Of the disk, and in bytes: below both there is little room, below a third of it almost none. */
const LITTLE = { share: 0.1, bytes: 20e9 };

/** Read once per request. */
export const countsFor = cache((caller: Caller) => getHost().operations.counts(caller));

const nameOf = ({ name, id }: Pick<Instance, 'name' | 'id'>) => name ?? id;
const pageOf = ({ id }: Pick<Instance, 'id'>) => `/sandboxes/${id}`;
const figures = (count: number) => count.toLocaleString('en');
const minutes = (seconds: number) => (seconds < 60 ? `${seconds} s` : `${figures(Math.floor(seconds / 60))} min`);

/** One row for those that are beyond the shown ones. */
function rest(kind: string, shown: number, count: number, href: string): AttentionRow[] {
  if (count <= shown) return [];
  const more = count - shown;
  return [
    {
      ...{
        of: 'sandbox',
        key: `${kind} and ${more} more`,
        level: 'fault',
        tenant: null,
        href,
        since: null,
        count: more,
      },
      name: `${figures(more)} more`,
      says: `${figures(count)} are ${kind}.`,
    },
  ];
}

const faults: AttentionSource = {
  name: 'faults',
  needs: 'listInstances',
  async read(caller) {
    const counts = await countsFor(caller);
    const present = FAULTS.filter((fault) => (counts.faults[fault] ?? 0) > 0);
    const found = await Promise.all(
      present.map(async (fault) => {
        const query = { fault, sort: 'updated', limit: SHOWN } as const;
        const { items } = await getHost().operations.listInstances(caller, query);
        const rows = items.map(
          (instance): AttentionRow => ({
            of: 'sandbox',
            // A later fault is after a later use.
            key: `fault ${instance.id} ${fault} ${instance.updated}`,
            level: isBlocking(fault) ? 'fault' : 'wall',
            tenant: instance.tenant,
            name: nameOf(instance),
            href: pageOf(instance),
            says: instance.fault_reason ?? FAULT_HAPPENED[fault],
            since: null,
            count: 1,
          }),
        );
        return [...rows, ...rest(fault, items.length, counts.faults[fault] ?? 0, `/sandboxes?fault=${fault}`)];
      }),
    );
    return found.flat();
  },
};

const stuck: AttentionSource = {
  name: 'stuck operations',
  needs: 'listInstances',
  async read(caller) {
    const { stuck: count } = await countsFor(caller);
    if (count === 0) return [];
    const query = { pending: 'stuck', sort: '-updated', limit: SHOWN } as const;
    const { items } = await getHost().operations.listInstances(caller, query);
    const rows = items.map(
      (instance): AttentionRow => ({
        of: 'sandbox',
        key: `stuck ${instance.id} ${instance.pending} ${instance.updated}`,
        level: 'fault',
        tenant: instance.tenant,
        name: nameOf(instance),
        href: pageOf(instance),
        says: stuckInWords(instance, renderedAt()),
        since: null,
        count: 1,
      }),
    );
    return [...rows, ...rest('stuck', items.length, count, '/sandboxes?pending=stuck')];
  },
};

/** A row about the whole server. */
function ofServer(row: Pick<AttentionRow, 'key' | 'level' | 'name' | 'href' | 'says' | 'since'>): AttentionRow {
  return { ...row, of: 'other', tenant: null, count: 1 };
}

const backups: AttentionSource = {
  name: 'backups',
  needs: 'backupSettings',
  async read(caller) {
    const { operations, config } = getHost();
    const { fault, last, enabled } = await operations.backupSettings(caller);
    const at = { name: 'Backups', href: '/settings/backups' };
    if (fault !== null) {
      const { kind, reason, since } = fault;
      return [ofServer({ ...at, key: `backup ${kind}`, level: 'fault', says: reason, since })];
    }
    if (enabled || config.store.replica !== null) return [];
    const { states } = await countsFor(caller);
    const isEmpty = Object.values(states).every((count) => count === 0);
    const age = last === null ? null : renderedAt() - last;
    if (age === null && isEmpty) return [];
    if (age !== null && age <= OLD_SECONDS) return [];
    const says = age === null ? 'None was ever made' : `The last one is ${lengthInWords(age)} old`;
    return [ofServer({ ...at, key: 'backup none', level: 'wall', says: `${says}, and none is planned.`, since: last })];
  },
};

const replica: AttentionSource = {
  name: 'replica',
  needs: 'replicaLateness',
  async read(caller) {
    const late = await getHost().operations.replicaLateness(caller);
    if (late === null) return [];
    const { since, sandboxes, registry, most_s: most } = late;
    const them = sandboxes === 1 ? '1 sandbox' : `${figures(sandboxes)} sandboxes`;
    const who = !registry ? them : sandboxes === 0 ? 'The registry' : `${them} and the registry`;
    const verb = sandboxes + Number(registry) === 1 ? 'is' : 'are';
    const says = `${who} ${verb} more behind than promised, ${lengthInWords(most)} at most.`;
    return [
      ofServer({ key: 'replica', level: 'fault', name: 'Replica', href: '/settings/storage#replica', says, since }),
    ];
  },
};

const disk: AttentionSource = {
  name: 'disk',
  needs: 'diskRoom',
  async read(caller) {
    const { bytes, free_bytes: free } = await getHost().operations.diskRoom(caller);
    const most = Math.min(LITTLE.bytes, bytes * LITTLE.share);
    if (free >= most) return [];
    const isFull = free < most / 3;
    const says = `${sizeInWords(free)} of ${sizeInWords(bytes)} are left. Without room nothing is written or filed.`;
    const key = isFull ? 'disk full' : 'disk';
    const at = { name: 'Disk', href: '/settings/storage' };
    return [ofServer({ ...at, key, level: isFull ? 'fault' : 'wall', says, since: null })];
  },
};

const QUOTA_WORDS: Readonly<Record<NearQuota['quota'], { what: string; amount: (value: number) => string }>> = {
  max_sandboxes: { what: 'sandboxes', amount: figures },
  max_active: { what: 'awake at once', amount: figures },
  max_bytes: { what: 'on disk', amount: sizeInWords },
  max_daily_cpu_s: { what: 'of processor time today (UTC)', amount: minutes },
};

const quotas: AttentionSource = {
  name: 'quotas',
  needs: 'nearQuotas',
  async read(caller) {
    const near = await getHost().operations.nearQuotas(caller, {});
    return near.map(({ tenant, quota, used, limit }) => {
      const { what, amount } = QUOTA_WORDS[quota];
      const isFull = used >= limit;
      const share = `${Math.floor((used / limit) * 100)} %`;
      return {
        of: 'other',
        key: `quota ${tenant} ${quota}${isFull ? ' full' : ''}`,
        level: isFull ? 'fault' : 'wall',
        tenant,
        name: tenant,
        href: `/tenants/${tenant}#quotas`,
        says: `${amount(used)} of ${amount(limit)} ${what}: ${share} of its quota.`,
        since: null,
        count: 1,
      };
    });
  },
};

const webhooks: AttentionSource = {
  name: 'webhooks',
  needs: 'listWebhooks',
  async read(caller) {
    const all = await getHost().operations.listWebhooks(caller, {});
    return all.flatMap(
      ({ id, name, tenant, enabled, off_reason: off, failures, failing_since_ms: ms }): AttentionRow[] => {
        const since = ms === null ? null : Math.floor(ms / 1000);
        const row = { of: 'other' as const, tenant, name, href: `/settings/webhooks/${id}`, since, count: 1 };
        if (!enabled && off !== null) {
          return [{ ...row, key: `webhook ${id} off`, level: 'fault', says: `The webhook was turned off: ${off}` }];
        }
        if (!enabled || failures === 0) return [];
        const attempts = failures === 1 ? 'one attempt' : `${figures(failures)} attempts`;
        const says = `The webhook does not get through: ${attempts} failed.`;
        return [{ ...row, key: `webhook ${id}`, level: 'wall', says }];
      },
    );
  },
};

const schedules: AttentionSource = {
  name: 'schedules',
  needs: 'failingSchedules',
  async read(caller) {
    const failing = await getHost().operations.failingSchedules(caller, {});
    return failing.map(({ id, instance, tenant, action, failures, since, why }) => ({
      of: 'other',
      key: `schedule ${id}`,
      level: 'wall',
      tenant,
      name: instance,
      href: `/sandboxes/${instance}?tab=schedules#parts`,
      says: `The schedule of “${action.slice(0, 80)}” failed ${figures(failures)} times one after another${why === null ? '' : `: ${why}`}`,
      since,
      count: 1,
    }));
  },
};

export const ATTENTION_SOURCES: readonly AttentionSource[] = [
  faults,
  stuck,
  backups,
  replica,
  disk,
  quotas,
  webhooks,
  schedules,
];
