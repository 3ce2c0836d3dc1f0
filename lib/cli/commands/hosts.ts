/** `hosts`: the servers of the registry. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { HostAnswer } from '../../contract/schema.ts';
import { addCommand, parsePairs } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, facts, millisecondsText, printable, table, timeText } from '../format.ts';
import { waitFor } from './jobs.ts';

/** How often a host is asked whether it has begun, in milliseconds. */
const LOOK_MS = 500;
/** Of those that stay, so many are named of each kind. */
const MOST_NAMED = 500;

const labelsText = (labels: HostAnswer['labels']) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${printable(value)}`)
    .join(', ');

/** How the name is held, in words. */
function leaseText({ held, dead, lease_ms, renewed }: HostAnswer): string {
  if (lease_ms === null) return 'none: the registry is this server’s alone';
  if (!held) return 'handed back';
  return `${dead ? 'dead: ' : ''}${millisecondsText(lease_ms)}, renewed ${renewed === null ? 'never' : timeText(renewed)}`;
}

/** A number that was counted up to 10 000. */
const countText = (n: number) => (n > 10_000 ? '10000+' : String(n));

/** How far it is emptied. */
function drainText({ drain, sandboxes }: HostAnswer): string {
  const left = `${countText(sandboxes)} left`;
  if (drain === null) return left;
  const { state, chosen, done, failed, skipped } = drain;
  if (state === 'waiting') return `it has not begun; ${left}`;
  if (state === 'running') return `${done + failed + skipped} of ${chosen} so far; ${left}`;
  return `${state}: ${done} handed over, ${failed} failed, ${skipped} passed over; ${left}`;
}

const hostRow = (host: HostAnswer) => [
  host.self ? `${host.name} *` : host.name,
  String(host.term),
  host.version ?? '–',
  countText(host.sandboxes),
  countText(host.awake),
  host.capacity === null ? '–' : String(host.capacity.active),
  leaseText(host),
  host.url ?? '–',
  labelsText(host.labels) || '–',
];

export function addHostCommands(program: Command): void {
  const hosts = program
    .command('hosts')
    .summary('the servers of the registry')
    .description('The servers of the registry: what each says of itself, and its lease.');

  addCommand(hosts, 'list', {
    summary: 'list them; the one that answers has a *',
    examples: [['hosts list', 'their versions, their room, and when each renewed its lease']],
    async run({ client, print, signal }) {
      const list = await client.listHosts({ signal });
      print(list, () =>
        table(
          ['NAME', 'TERM', 'VERSION', 'SANDBOXES', 'AWAKE', 'AT MOST', 'LEASE', 'URL', 'LABELS'],
          list.map(hostRow),
        ),
      );
    },
  });

  addCommand(hosts, 'show <host>', {
    summary: 'show one of them',
    examples: [['hosts show one', 'and its public key']],
    async run({ client, print, signal }, _options, name: string) {
      const host = await client.getHost(name, { signal });
      print(host, () =>
        facts([
          ['name', host.name],
          ['answers', host.self ? 'yes, it is this one' : null],
          ['term', `${host.term}, since ${timeText(host.since)}`],
          ['version', host.version],
          ['sandboxes', `${countText(host.sandboxes)}, ${countText(host.awake)} awake`],
          ['awake at most', host.capacity === null ? null : String(host.capacity.active)],
          ['memory', host.capacity?.memory_bytes == null ? null : bytesText(host.capacity.memory_bytes)],
          ['draining', host.draining ? drainText(host) : null],
          ['job', host.drain?.job ?? null],
          ['lease', leaseText(host)],
          ['renewals', String(host.renewals)],
          ['url', host.url],
          ['labels', labelsText(host.labels) || null],
          ['public key', host.public_key],
        ]),
      );
    },
  });

  addCommand<{ reason?: string; includeHeld?: boolean; wait?: boolean; progress?: boolean; stop?: boolean }>(
    hosts,
    'drain <host>',
    {
      summary: 'empty one, for an upgrade or a repair, or let it take what is new again',
      description:
        'It takes nothing new, and a job of its own suspends, files and stores what it has, so that the others wake it. What stays is named with the reason. It stays so over its next starts, until `--stop`; what was handed over stays where it is then.',
      options: (command) =>
        command
          .option('--reason <text>', 'why, for the ledger')
          .option('--include-held', 'also what is kept hot, held or shown in a terminal')
          .option('--wait', 'wait until its job has ended, and name what stays')
          .option('--no-progress', 'with --wait: show none')
          .option('--stop', 'have it take what is new again'),
      examples: [
        ['hosts drain one --reason "a new disk" --wait', 'and say what stays, and why'],
        ['hosts drain one --stop', 'it takes what is new again'],
      ],
      async run(context, { reason, includeHeld, wait, progress, stop }, name: string) {
        const { client, print, signal } = context;
        if (stop === true) {
          if (wait === true) throw new CliError('usage', 'What is stopped is not waited for.');
          const host = await client.stopDraining(name, { signal });
          return print(host, () => `${host.name} takes what is new again.\n`);
        }
        let host = await client.drainHost(name, { reason, include_held: includeHeld }, { signal });
        if (wait !== true) return print(host, () => `${host.name}: ${drainText(host)}\n`);
        while (host.drain?.state === 'waiting') {
          await pause(LOOK_MS, undefined, { signal });
          host = await client.getHost(name, { signal });
        }
        const { job } = host.drain ?? {};
        if (job === undefined) throw new CliError('conflict', `Somebody had ${name} take what is new again.`);
        await waitFor(context, job, progress);
        host = await client.getHost(name, { signal });
        const rest: [string, string][] = [];
        for (const outcome of ['failed', 'skipped'] as const) {
          const { items } = await client.listJobResults(job, { outcome, limit: MOST_NAMED }, { signal });
          rest.push(...items.map((it): [string, string] => [it.instance ?? '–', printable(it.reason ?? '')]));
        }
        print({ ...host, stays: rest.map(([instance, why]) => ({ instance, reason: why })) }, () =>
          [`${host.name}: ${drainText(host)}\n`, rest.length === 0 ? '' : table(['STAYS', 'WHY'], rest)].join(''),
        );
      },
    },
  );

  addCommand<{ label: Record<string, string> }>(hosts, 'label <host>', {
    summary: 'set the labels of one of them',
    description: 'Instead of those that it has. A start with WB_HOST_LABELS sets its own.',
    options: (command) => command.requiredOption('--label <key=value>', 'a label; may come again', parsePairs('=')),
    examples: [['hosts label one --label zone=a --label disk=fast', 'and no others']],
    async run({ client, print, signal }, { label }, name: string) {
      const host = await client.patchHost(name, { labels: label }, { signal });
      print(host, () => `${host.name}: ${labelsText(host.labels)}\n`);
    },
  });
}
