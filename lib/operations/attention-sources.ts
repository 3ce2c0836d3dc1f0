/**
 * What needs a person: the one list of where it comes from. A new feature adds its source here, and is counted in the
 * console's masthead, shown in the inbox, answered by the API and acknowledged like the others. Knows nothing of what
 * was acknowledged.
 */
import type { Caller } from '../auth/caller.ts';
import type { OperationName } from '../contract/access.ts';
import { lengthInWords, sizeInWords } from '../contract/amount-words.ts';
import type { Attention, NearQuota } from '../contract/schema/attention.ts';
import type { Instance } from '../contract/schema.ts';
import { FAULT_HAPPENED, stuckInWords } from '../contract/trouble-words.ts';
import { FAULTS, isBlocking } from '../lifecycle/words.ts';
import type { BackupOperations } from './backups.ts';
import type { InstanceOperations } from './instances.ts';
import type { StorageOperations } from './storage.ts';
import type { WarningOperations } from './warnings.ts';
import type { WebhookOperations } from './webhooks.ts';

/** The operations that sources ask. */
export type AskedOperations = Pick<InstanceOperations, 'counts' | 'listInstances'> &
  Pick<WarningOperations, 'diskRoom' | 'failingSchedules' | 'nearQuotas'> &
  Pick<BackupOperations, 'backupSettings'> &
  Pick<StorageOperations, 'replicaLateness'> &
  Pick<WebhookOperations, 'listWebhooks'>;

/** For whom, when, and about what is asked. */
interface Question {
  caller: Caller;
  operations: AskedOperations;
  /** Only this tenant; null: all that the caller sees, and the whole server. */
  tenant: string | null;
  /** Epoch seconds. */
  now: number;
  hasReplica: boolean;
  /** Read once for all sources. */
  counts(): ReturnType<InstanceOperations['counts']>;
}

type Row = Omit<Attention, 'acknowledged' | 'kind'>;

interface AttentionSource {
  kind: Attention['kind'];
  /** Whoever may not do this does not see its rows. */
  needs: OperationName;
  /** Cheap: every page of the console asks. */
  read(question: Question): Promise<Row[]>;
}

/** Rows of one kind; those beyond are one row with a link to the list. */
const SHOWN = 20;
const DAY = 86_400;
/** Without a schedule a backup is old after this time. */
const OLD_SECONDS = 7 * DAY;
/** Of the disk, and in bytes: below both there is little room, below a third of it almost none. */
const LITTLE = { share: 0.1, bytes: 20e9 };

const figures = (count: number) => count.toLocaleString('en');
const minutes = (seconds: number) => (seconds < 60 ? `${seconds} s` : `${figures(Math.floor(seconds / 60))} min`);

/** One row for those of a kind that are beyond the shown ones. */
function rest({ tenant }: Question, kind: string, shown: number, count: number, page: string): Row[] {
  if (count <= shown) return [];
  const more = count - shown;
  return [
    {
      id: ['more', kind, ...(tenant === null ? [] : [tenant]), more].join(':'),
      level: 'wrong',
      tenant,
      instance: null,
      name: `${figures(more)} more`,
      says: `${figures(count)} are ${kind}.`,
      page,
      since: null,
      count: more,
    },
  ];
}

/** A row about one sandbox. */
function ofSandbox(instance: Instance, row: Pick<Row, 'id' | 'level' | 'says'>): Row {
  const { id, tenant, name } = instance;
  return { ...row, tenant, instance: id, name: name ?? id, page: `/sandboxes/${id}`, since: null, count: 1 };
}

const within = ({ tenant }: Question) => (tenant === null ? {} : { tenant });

const faults: AttentionSource = {
  kind: 'fault',
  needs: 'listInstances',
  async read(question) {
    const { faults: counts } = await question.counts();
    const present = FAULTS.filter((fault) => (counts[fault] ?? 0) > 0);
    const found = await Promise.all(
      present.map(async (fault) => {
        const query = { ...within(question), fault, sort: 'updated', limit: SHOWN } as const;
        const { items, total } = await question.operations.listInstances(question.caller, query);
        const rows = items.map((instance) =>
          ofSandbox(instance, {
            // A later fault is after a later use.
            id: `fault:${instance.id}:${fault}:${instance.updated}`,
            level: isBlocking(fault) ? 'wrong' : 'warning',
            says: instance.fault_reason ?? FAULT_HAPPENED[fault],
          }),
        );
        return [...rows, ...rest(question, fault, items.length, total, `/sandboxes?fault=${fault}`)];
      }),
    );
    return found.flat();
  },
};

const stuck: AttentionSource = {
  kind: 'stuck',
  needs: 'listInstances',
  async read(question) {
    if ((await question.counts()).stuck === 0) return [];
    const query = { ...within(question), pending: 'stuck', sort: '-updated', limit: SHOWN } as const;
    const { items, total } = await question.operations.listInstances(question.caller, query);
    const rows = items.map((instance) =>
      ofSandbox(instance, {
        id: `stuck:${instance.id}:${instance.pending}:${instance.updated}`,
        level: 'wrong',
        says: stuckInWords(instance, question.now),
      }),
    );
    return [...rows, ...rest(question, 'stuck', items.length, total, '/sandboxes?pending=stuck')];
  },
};

/** A row about the whole server. */
function ofServer(row: Pick<Row, 'id' | 'level' | 'name' | 'page' | 'says' | 'since'>): Row {
  return { ...row, tenant: null, instance: null, count: 1 };
}

const backups: AttentionSource = {
  kind: 'backup',
  needs: 'backupSettings',
  async read({ caller, operations, hasReplica, now, counts }) {
    const { fault, last, enabled } = await operations.backupSettings(caller);
    const at = { name: 'Backups', page: '/settings/backups' };
    if (fault !== null) {
      const { kind, reason, since } = fault;
      return [ofServer({ ...at, id: `backup:${kind}`, level: 'wrong', says: reason, since })];
    }
    if (enabled || hasReplica) return [];
    const { states } = await counts();
    const isEmpty = Object.values(states).every((count) => count === 0);
    const age = last === null ? null : now - last;
    if (age === null && isEmpty) return [];
    if (age !== null && age <= OLD_SECONDS) return [];
    const says = age === null ? 'None was ever made' : `The last one is ${lengthInWords(age)} old`;
    return [
      ofServer({ ...at, id: 'backup:none', level: 'warning', says: `${says}, and none is planned.`, since: last }),
    ];
  },
};

const replica: AttentionSource = {
  kind: 'replica',
  needs: 'replicaLateness',
  async read({ caller, operations }) {
    const late = await operations.replicaLateness(caller);
    if (late === null) return [];
    const { since, sandboxes, registry, most_s: most } = late;
    const them = sandboxes === 1 ? '1 sandbox' : `${figures(sandboxes)} sandboxes`;
    const who = !registry ? them : sandboxes === 0 ? 'The registry' : `${them} and the registry`;
    const verb = sandboxes + Number(registry) === 1 ? 'is' : 'are';
    const says = `${who} ${verb} more behind than promised, ${lengthInWords(most)} at most.`;
    return [
      ofServer({ id: 'replica', level: 'wrong', name: 'Replica', page: '/settings/storage#replica', says, since }),
    ];
  },
};

const disk: AttentionSource = {
  kind: 'disk',
  needs: 'diskRoom',
  async read({ caller, operations }) {
    const { bytes, free_bytes: free } = await operations.diskRoom(caller);
    const most = Math.min(LITTLE.bytes, bytes * LITTLE.share);
    if (free >= most) return [];
    const isFull = free < most / 3;
    const says = `${sizeInWords(free)} of ${sizeInWords(bytes)} are left. Without room nothing is written or filed.`;
    const id = isFull ? 'disk:full' : 'disk';
    const at = { name: 'Disk', page: '/settings/storage' };
    return [ofServer({ ...at, id, level: isFull ? 'wrong' : 'warning', says, since: null })];
  },
};

const QUOTA_WORDS: Readonly<Record<NearQuota['quota'], { what: string; amount: (value: number) => string }>> = {
  max_sandboxes: { what: 'sandboxes', amount: figures },
  max_active: { what: 'awake at once', amount: figures },
  max_bytes: { what: 'on disk', amount: sizeInWords },
  max_daily_cpu_s: { what: 'of processor time today (UTC)', amount: minutes },
};

const quotas: AttentionSource = {
  kind: 'quota',
  needs: 'nearQuotas',
  async read(question) {
    const near = await question.operations.nearQuotas(question.caller, within(question));
    return near.map(({ tenant, quota, used, limit }) => {
      const { what, amount } = QUOTA_WORDS[quota];
      const isFull = used >= limit;
      const share = `${Math.floor((used / limit) * 100)} %`;
      return {
        id: `quota:${tenant}:${quota}${isFull ? ':full' : ''}`,
        level: isFull ? 'wrong' : 'warning',
        tenant,
        instance: null,
        name: tenant,
        page: `/tenants/${tenant}#quotas`,
        says: `${amount(used)} of ${amount(limit)} ${what}: ${share} of its quota.`,
        since: null,
        count: 1,
      };
    });
  },
};

const webhooks: AttentionSource = {
  kind: 'webhook',
  needs: 'listWebhooks',
  async read(question) {
    const all = await question.operations.listWebhooks(question.caller, within(question));
    return all.flatMap(({ id, name, tenant, enabled, off_reason: off, failures, failing_since_ms: ms }): Row[] => {
      const since = ms === null ? null : Math.floor(ms / 1000);
      const row = { tenant, instance: null, name, page: `/settings/webhooks/${id}`, since, count: 1 };
      if (!enabled && off !== null) {
        return [{ ...row, id: `webhook:${id}:off`, level: 'wrong', says: `The webhook was turned off: ${off}` }];
      }
      if (!enabled || failures === 0) return [];
      const attempts = failures === 1 ? 'one attempt' : `${figures(failures)} attempts`;
      const says = `The webhook does not get through: ${attempts} failed.`;
      return [{ ...row, id: `webhook:${id}`, level: 'warning', says }];
    });
  },
};

const schedules: AttentionSource = {
  kind: 'schedule',
  needs: 'failingSchedules',
  async read(question) {
    const failing = await question.operations.failingSchedules(question.caller, within(question));
    return failing.map(({ id, instance, tenant, action, failures, since, why }) => ({
      id: `schedule:${id}`,
      level: 'warning',
      tenant,
      instance,
      name: instance,
      page: `/sandboxes/${instance}?tab=schedules#parts`,
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
