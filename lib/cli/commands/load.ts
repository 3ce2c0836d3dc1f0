/** `load`: what sandboxes take while they take it, by samples, minutes or hours. */
import type { Command } from 'commander';
import type { InstanceLoad, TopLoad } from '../../client/client.ts';
import { addCommand, parseSeconds } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, table, timeText } from '../format.ts';
import { showProgress } from '../progress.ts';
import { refuseOverwrite, saveDownload } from '../save-download.ts';

interface LoadFlags {
  tenant?: string;
  within?: number;
  step?: number;
  csv?: string;
  force?: boolean;
}

const MADE_OF = {
  samples: 'Of samples in memory: a restart of the server ends them.',
  minutes: 'Of minutes, which are kept for a day.',
  hours: 'Of hours, as `usage` has them.',
};

const NOTHING = 'Nothing was awake in this time.\n';

const percentText = (seconds: number, of: number) => `${((seconds / of) * 100).toFixed(1)} %`;
const orDash = (bytes: number | null) => (bytes === null ? '–' : bytesText(bytes));

export function addLoadCommand(program: Command): void {
  addCommand<LoadFlags>(program, 'load [id]', {
    summary: 'show what a sandbox, a tenant or the server takes now, and took lately',
    description:
      'Processor time of one core, calls, the most memory, network and disk, by the finest that is kept for the time: ten seconds of the last hour, minutes of the last day, else hours. A tenant and the server also say who took most. Times are UTC.',
    options: (command) =>
      command
        .option('--tenant <tenant>', 'of a tenant; without it and without an id: of the whole server')
        .option('--within <duration>', 'of the last 10m, 24h, 7d … (default: 1h)', parseSeconds)
        .option('--step <duration>', 'of a row, such as 10s, 1m or 1h', parseSeconds)
        .option('--csv <file>', 'write the points as CSV into a file, `-` for stdout')
        .option('--force', 'write over a file of yours'),
    examples: [
      ['load sess-841', 'of a sandbox, in the last hour'],
      ['load --tenant acme --within 24h --step 15m', 'of a tenant, and which of its sandboxes took most'],
      ['load --within 7d --csv load.csv', 'of the server, for a spreadsheet'],
    ],
    async run({ client, print, note, signal }, { tenant, within, step, csv, force }, id?: string) {
      if (id !== undefined && tenant !== undefined)
        throw new CliError('usage', 'Name a sandbox or a tenant, not both.');
      const from = within === undefined ? undefined : Math.floor(Date.now() / 1000) - within;
      const query = { from, step };
      if (csv !== undefined) {
        refuseOverwrite(csv, force);
        const progress = showProgress('load', csv === '-' ? false : undefined);
        const options = { signal, onProgress: progress.bytes };
        const download =
          id !== undefined
            ? await client.exportInstanceLoad(id, query, options)
            : tenant !== undefined
              ? await client.exportTenantLoad(tenant, query, options)
              : await client.exportServerLoad(query, options);
        const saved = await saveDownload(download, csv, { force, progress });
        if (saved !== null) print(saved, () => `${saved.file}: ${bytesText(saved.bytes)}\n`);
        return;
      }
      const load: InstanceLoad | TopLoad =
        id !== undefined
          ? await client.instanceLoad(id, query, { signal })
          : tenant !== undefined
            ? await client.tenantLoad(tenant, query, { signal })
            : await client.serverLoad(query, { signal });
      print(load, () => {
        const points = load.points.map((point) => [
          timeText(point.time),
          percentText(point.cpu_s, point.measured_s ?? load.step),
          String(point.calls),
          bytesText(point.memory_bytes),
          orDash(point.bytes_in),
          orDash(point.bytes_out),
          orDash(point.disk_bytes),
        ]);
        const shown = table(['FROM', 'CPU', 'CALLS', 'MEMORY', 'IN', 'OUT', 'DISK'], points) || NOTHING;
        // A sandbox has none.
        const { top: most = [] } = load as Partial<TopLoad>;
        if (most.length === 0) return shown;
        const top = most.map(({ name, cpu_s, calls, memory_bytes, bytes_in, bytes_out }) => [
          name,
          `${cpu_s.toFixed(1)} s`,
          String(calls),
          bytesText(memory_bytes),
          bytesText(bytes_in),
          bytesText(bytes_out),
        ]);
        return `${shown}\n${table(['MOST', 'CPU', 'CALLS', 'MEMORY', 'IN', 'OUT'], top)}`;
      });
      if (load.points.length > 0) note(MADE_OF[load.made_of]);
    },
  });
}
