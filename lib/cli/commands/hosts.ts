/** `hosts`: the servers of the registry. */
import type { Command } from 'commander';
import type { HostAnswer } from '../../contract/schema.ts';
import { addCommand } from '../command.ts';
import { bytesText, facts, millisecondsText, printable, table, timeText } from '../format.ts';

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
          ['draining', host.draining ? 'yes' : null],
          ['lease', leaseText(host)],
          ['renewals', String(host.renewals)],
          ['url', host.url],
          ['labels', labelsText(host.labels) || null],
          ['public key', host.public_key],
        ]),
      );
    },
  });
}
