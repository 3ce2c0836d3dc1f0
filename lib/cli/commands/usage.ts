/** `usage`: what sandboxes, tenants and the server took over time. */
import type { Command } from 'commander';
import { addCommand, parseSeconds } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, durationText, table, timeText } from '../format.ts';

interface UsageFlags {
  tenant?: string;
  within?: number;
  step?: number;
}

const DAY_SECONDS = 86_400;

const secondsText = (seconds: number) => (seconds < 100 ? `${seconds.toFixed(1)} s` : durationText(seconds));
const awakeText = (seconds: number) => (seconds === 0 ? '–' : durationText(seconds));

export function addUsageCommand(program: Command): void {
  addCommand<UsageFlags>(program, 'usage [id]', {
    summary: 'show what a sandbox, a tenant or the server took over time',
    description:
      'Processor time, calls, the most memory, and disk; of a tenant and of the server also wakes, faults, and the time that sandboxes were active, added up. The last row is the sum. Times are UTC.',
    options: (command) =>
      command
        .option('--tenant <tenant>', 'of a tenant; without it and without an id: of the whole server')
        .option('--within <duration>', 'of the last 24h, 7d … (default: 7d)', parseSeconds)
        .option('--step <duration>', 'of a row, in whole hours, such as 1h (default: 1d)', parseSeconds),
    examples: [
      ['usage sess-841', 'of a sandbox, in the last seven days'],
      ['usage --tenant acme --within 24h --step 1h', 'of a tenant, by the hour'],
      ['usage --within 30d --json', 'of the server, for programs'],
    ],
    async run({ client, print, note, signal }, { tenant, within, step = DAY_SECONDS }, id?: string) {
      if (id !== undefined && tenant !== undefined)
        throw new CliError('usage', 'Name a sandbox or a tenant, not both.');
      const from = within === undefined ? undefined : Math.floor(Date.now() / 1000) - within;
      const query = { from, step };
      if (id !== undefined) {
        const usage = await client.instanceUsage(id, query, { signal });
        const rows = usage.points.map((point) => [
          timeText(point.time),
          secondsText(point.cpu_s),
          String(point.calls),
          bytesText(point.memory_bytes),
          bytesText(point.disk_bytes),
        ]);
        const sum = ['together', secondsText(usage.total.cpu_s), String(usage.total.calls), '', ''];
        print(usage, () => table(['FROM', 'CPU', 'CALLS', 'MEMORY', 'DISK'], rows.length === 0 ? [] : [...rows, sum]));
        if (rows.length === 0) note('It took nothing in this time.');
        return;
      }
      const usage =
        tenant === undefined
          ? await client.serverUsage(query, { signal })
          : await client.tenantUsage(tenant, query, { signal });
      const { total, points, complete } = usage;
      const rows = points.map((point) => [
        timeText(point.time),
        secondsText(point.cpu_s),
        String(point.calls),
        bytesText(point.memory_bytes),
        bytesText(point.disk_bytes),
        String(point.wakes),
        String(point.faults),
        awakeText(point.awake_s),
      ]);
      const sum = [
        'together',
        secondsText(total.cpu_s),
        String(total.calls),
        '',
        '',
        String(total.wakes),
        String(total.faults),
        awakeText(total.awake_s),
      ];
      const headings = ['FROM', 'CPU', 'CALLS', 'MEMORY', 'DISK', 'WAKES', 'FAULTS', 'AWAKE'];
      print(usage, () => table(headings, [...rows, sum]));
      if (!complete)
        note('Older lines of the ledger are still being counted: what comes from it is too low until then.');
    },
  });
}
