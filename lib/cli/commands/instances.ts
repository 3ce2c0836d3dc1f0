/** `list`, `create`, `show`, `set`: the rows of sandboxes. Wakes nothing. */
import type { Command } from 'commander';
import type { Instance } from '../../client/client.ts';
import { recoveryInWords } from '../../contract/recovery-words.ts';
import type { CreateInput } from '../../contract/schema.ts';
import { STATES } from '../../lifecycle/state-map.ts';
import { FAULTS, PENDINGS, THERMALS } from '../../lifecycle/words.ts';
import { choice, policyChoice, replicateChoice } from '../choice.ts';
import { addCommand, parsePairs, parseSeconds } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, durationText, facts, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { type TenantOption, tenantFrom, tenantOption } from '../tenant-option.ts';
import { combinedFilter, type FilterOptions, filterOptions } from '../typed-filter.ts';
import { watchList } from '../watch-list.ts';

/** The state, with its fault and any operation under way. */
function stateText({ state, fault, pending, unreachable }: Instance): string {
  const notes = [
    unreachable === null ? null : 'unreachable',
    fault === null ? null : `fault: ${fault}`,
    pending === null ? null : `${pending}…`,
  ].filter(Boolean);
  return notes.length === 0 ? state : `${state} (${notes.join(', ')})`;
}

/** What of a sandbox changes only when something happens to it. */
function lastingFacts({ idle_seconds: _, updated: _2, next: _3, recovery_point: _4, ...facts }: Instance): string {
  return JSON.stringify(facts);
}

function nextText({ next }: Instance): string {
  if (next === null) return '–';
  const inSeconds = next.at - Date.now() / 1000;
  return `${next.state} ${inSeconds <= 0 ? 'now' : `in ${durationText(inSeconds)}`}`;
}

const GOES_ON = {
  whole: 'elsewhere with all that was answered',
  seconds: 'elsewhere as its replica has it, without its last seconds',
} as const;

/** Its host, where that is away: since when, and how far the store has the sandbox. */
function awayText({ host, unreachable }: Instance): string | null {
  if (unreachable === null) return null;
  const { last_seen: lastSeen, recovery_point: point, goes_on: goesOn } = unreachable;
  const since = lastSeen === null ? '' : ` since ${timeText(lastSeen)}`;
  const has = point === null ? 'has nothing of it' : `has it as it was at ${timeText(point)}`;
  if (goesOn !== null) return `${host} is away${since}; woken, it goes on ${GOES_ON[goesOn]}`;
  return `${host} is away${since}; the store ${has}`;
}

function processText({ thermal, warm_since }: Instance): string {
  if (warm_since !== null) return `${thermal}, paused since ${timeText(warm_since)}`;
  return thermal === 'cold' ? 'none' : thermal;
}

function workbookText({ workbook, workbook_version: version }: Instance): string | null {
  if (workbook === null) return null;
  return version === null ? `${workbook} (a name and no more)` : `${workbook}, version ${version}`;
}

/** When its file was stored last, and whether a newer one is on its way; null where there is no store. */
function storedText({ stored, upload }: Instance): string | null {
  const waits = { none: '', queued: 'its upload waits', running: 'its upload is on its way' }[upload];
  if (stored === null) return waits === '' ? null : waits;
  return `${timeText(stored.at)}${waits === '' ? '' : `; ${waits}`}`;
}

/** How far its replica is; null where there is none. */
function replicaText(instance: Instance): string | null {
  if (instance.replicate === 'off' && instance.recovery_point.as === 'none') return null;
  return recoveryInWords(instance, Date.now() / 1000, durationText);
}

/** What is promised of its replica, and whose word that is; null where there is none. */
function replicateText(instance: Instance): string | null {
  const { replicate, own_replicate: own } = instance;
  const from = instance.replicate_from_next_wake ? ', from its next wake on' : '';
  if (own === null) return replicate === 'off' && from === '' ? null : `${replicate}, as for its tenant${from}`;
  return own === replicate ? `${own}, set for it${from}` : `${own}, set for it; this server has no replica`;
}

/** Everything about one sandbox, as text. */
function instanceFacts(instance: Instance): string {
  const { lineage, labels } = instance;
  const origin = lineage.snapshot ?? lineage.blueprint ?? lineage.parent;
  const labelText = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return facts([
    ['id', instance.id],
    ['tenant', instance.tenant],
    ['name', instance.name],
    ['state', `${stateText(instance)} since ${timeText(instance.state_since)}`],
    ['unreachable', awayText(instance)],
    ['fault', instance.fault_reason],
    ['process', processText(instance)],
    ['idle', durationText(instance.idle_seconds)],
    ['next', instance.next === null ? 'nothing by itself' : `${nextText(instance)}: ${instance.next.because}`],
    ['kept hot', instance.keep_hot ? 'yes' : null],
    ['held until', instance.hold_until === null ? null : timeText(instance.hold_until)],
    ['ephemeral', instance.ephemeral ? 'yes' : null],
    ['policy', instance.policy],
    ['file', instance.vfs_path ?? (origin === null ? 'none yet' : `made at its first wake, of ${origin}`)],
    ['stored', storedText(instance)],
    ['replica', replicaText(instance)],
    ['replicates', replicateText(instance)],
    ['size', bytesText(instance.bytes)],
    ['labels', labelText.join(', ')],
    ['workbook', workbookText(instance)],
    ['made from', origin],
    ['created', timeText(instance.created)],
  ]);
}

/** What a list can be sorted by. */
const SORTS = ['updated', 'created', 'name', 'bytes'].flatMap((by) => [by, `-${by}`]);

interface ListFilters extends ListOptions, FilterOptions {
  tenant?: string;
  state?: Instance['state'];
  thermal?: Instance['thermal'];
  pending?: 'any' | 'stuck';
  fault?: NonNullable<Instance['fault']>;
  name?: string;
  label?: string;
  host?: string;
  search?: string;
  sort?: 'updated';
  watch?: boolean;
  interval: number;
}

interface Changes {
  tenant?: string;
  name?: string;
  policy?: NonNullable<CreateInput['policy']>;
  label?: Record<string, string>;
  keepHot?: boolean;
  holdFor?: number;
  hotToWarm?: number;
  idleToSuspend?: number;
  idleToFreeze?: number;
  replicate?: string;
}

const changeOptions = (command: Command) =>
  command
    .option('--name <name>', 'a name, unique within the tenant')
    .addOption(policyChoice('what it may do (default: posix)'))
    .option('--label <key=value>', 'a label; may come again', parsePairs('='))
    .option('--keep-hot', 'never pause or suspend it by itself')
    .option('--hot-to-warm <duration>', 'its own threshold, such as 30s; 0 for never', parseSeconds)
    .option('--idle-to-suspend <duration>', 'its own threshold, such as 15m; an ephemeral one ends then', parseSeconds)
    .option('--idle-to-freeze <duration>', 'its own threshold, such as 24h', parseSeconds)
    .addOption(replicateChoice('what is promised of its replica'));

const changesOf = (options: Changes) => ({
  name: options.name,
  policy: options.policy,
  labels: options.label,
  keep_hot: options.keepHot,
  hot_to_warm_s: options.hotToWarm,
  idle_to_suspend_s: options.idleToSuspend,
  idle_to_freeze_s: options.idleToFreeze,
  replicate: options.replicate,
});

export function addInstanceCommands(program: Command): void {
  addCommand<ListFilters>(program, 'list', {
    summary: 'list sandboxes, newest activity first',
    description:
      'With --watch until Ctrl-C; a line is printed for each sandbox that is new or changed, as a JSON document with --json, and one that is not in the list any more is `listed: false`.',
    options: (command) =>
      listOptions(
        filterOptions(command)
          .option('--tenant <tenant>', 'only of this tenant')
          .addOption(choice('--state <state>', 'only in this state', STATES))
          .addOption(choice('--thermal <thermal>', 'only with such a process', THERMALS))
          .addOption(choice('--fault <fault>', 'only with this fault', FAULTS))
          .addOption(
            choice('--pending <which>', 'with an operation under way; stuck: for more than a minute', PENDINGS),
          )
          .option('--name <name>', 'only of this name')
          .option('--label <key=value>', 'only with this label')
          .option('--host <host>', 'only what this host has awake or on its disk')
          .option('--search <text>', 'whose id, name, tenant or labels contain it')
          .addOption(choice('--sort <by>', 'with - the other way round', SORTS))
          .option('-w, --watch', 'go on: draw it anew on a terminal, else print what changed')
          .option('--interval <duration>', 'with --watch: look so often', parseSeconds, 2),
        100,
      ),
    examples: [
      ['list', 'the hundred that did something last'],
      ['list --state frozen --tenant acme', 'what sleeps in the cold drawer'],
      ['list --thermal warm', 'what is paused in memory'],
      ['list --filter "idle:>1h tenant:acme label:env=prod"', 'idle for more than an hour, in one line'],
      ['list --watch --tenant acme', 'what they do, as they do it'],
      ['list --label team=red --all --json', 'all of them, as a JSON array'],
    ],
    async run(context, options) {
      const { tenant, state, thermal, fault, pending, name, host, search: q, sort } = options;
      const label = options.label?.replace('=', ':');
      const filter = combinedFilter(options, { tenant, state, thermal, fault, pending, name, label, host, q });
      const list = {
        read: (limit: number) => context.client.listInstances({ ...filter, sort, limit }, { signal: context.signal }),
        headings: ['ID', 'TENANT', 'STATE', 'PROCESS', 'IDLE', 'SIZE', 'NEXT', 'NAME'],
        row: (instance: Instance) => [
          instance.id,
          instance.tenant,
          stateText(instance),
          instance.thermal === 'cold' ? '–' : instance.thermal,
          durationText(instance.idle_seconds),
          bytesText(instance.bytes),
          nextText(instance),
          instance.name ?? '',
        ],
        none: 'No sandboxes.',
      };
      if (options.watch !== true) return printList(context, options, list);
      if (options.interval < 1) throw new CliError('usage', 'It can be read once a second at most.');
      const { limit, all, interval: intervalSeconds } = options;
      const idOf = ({ id }: Instance) => id;
      await watchList(context, { limit, all, intervalSeconds }, { ...list, idOf, facts: lastingFacts });
    },
  });

  addCommand<Changes & TenantOption & { ephemeral?: boolean; inMemory?: boolean; workbook?: string }>(
    program,
    'create [id]',
    {
      summary: 'create a sandbox',
      description: 'It has no process and no file until the first resume, command or write. Without an id it gets one.',
      options: (command) =>
        changeOptions(tenantOption(command))
          .option('--ephemeral', 'never suspended: archived and deleted by itself when its time is over')
          .option('--workbook <id>', 'dock it to the newest version of this workbook of its tenant')
          .option('--in-memory', 'keep it only in its process: suspending it is refused'),
      examples: [
        ['create sess-841', 'with an id of its own, for the tenant of the key'],
        ['create --tenant acme --label team=red --policy minimal --json', 'with an id that the server makes'],
      ],
      async run(context, options, id?: string) {
        const { client, print, signal } = context;
        const instance = await client.createInstance(
          {
            id,
            tenant: await tenantFrom(options, context),
            ephemeral: options.ephemeral,
            workbook: options.workbook,
            vfs_path: options.inMemory === true ? ':memory:' : undefined,
            ...changesOf(options),
          },
          { signal },
        );
        print(instance, () => `${instance.id} is created.\n`);
      },
    },
  );

  addCommand(program, 'show <id>', {
    summary: 'show a sandbox',
    description: 'Its state, what happens to it next and when, where its file is, what is wrong with it.',
    examples: [
      ['show sess-841', 'everything of its row'],
      ['show sess-841 --json', 'the same, for a program'],
    ],
    async run({ client, print, signal }, _options, id: string) {
      const instance = await client.getInstance(id, { signal });
      print(instance, () => instanceFacts(instance));
    },
  });

  addCommand<Changes>(program, 'set <id>', {
    summary: 'change a sandbox’s name, labels, policy or thresholds',
    description:
      'Labels are replaced as a whole. A policy holds from the next start of its process; what is promised of its replica at once, but for what is shipped only from the next wake on (or no more). `--replicate none`: as for its tenant.',
    options: (command) =>
      changeOptions(command)
        .option('--no-keep-hot', 'let it be suspended by itself again')
        .option('--hold-for <duration>', 'no move by itself until then, such as 7d', parseSeconds),
    examples: [
      ['set sess-841 --keep-hot', 'leave its process running'],
      ['set sess-841 --idle-to-suspend 1h --hold-for 7d', 'other thresholds, and none of them this week'],
    ],
    async run({ client, print, signal }, options, id: string) {
      const until = options.holdFor === undefined ? undefined : Math.floor(Date.now() / 1000) + options.holdFor;
      const { replicate, ...others } = changesOf(options);
      const changes = { ...others, hold_until: until, replicate: replicate === 'none' ? null : replicate };
      if (Object.values(changes).every((value) => value === undefined))
        throw new CliError('usage', 'There is nothing to set.');
      const instance = await client.patchInstance(id, changes, { signal });
      print(instance, () => instanceFacts(instance));
    },
  });
}
