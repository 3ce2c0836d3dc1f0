/** `attention`: what is wrong or comes near a wall, and what somebody has acknowledged of it. */
import type { Command } from 'commander';
import type { Attention } from '../../contract/schema.ts';
import { addCommand } from '../command.ts';
import { actorText, table, timeText } from '../format.ts';
import { parseMomentTime } from '../moment-time.ts';

function acknowledgedText({ acknowledged }: Attention): string {
  if (acknowledged === null) return '–';
  const { actor, actor_name: name, until } = acknowledged;
  return `by ${actorText(actor, name)} ${until === null ? 'until it ends' : `until ${timeText(until)}`}`;
}

function rowsText(rows: readonly Attention[]): string {
  return table(
    ['ID', 'LEVEL', 'TENANT', 'WHAT', 'SINCE', 'ACKNOWLEDGED', 'WHY'],
    rows.map((one) => [
      one.id,
      one.level,
      one.tenant ?? '–',
      one.name,
      one.since === null ? '–' : timeText(one.since),
      acknowledgedText(one),
      one.says,
    ]),
  );
}

export function addAttentionCommands(program: Command): void {
  const attention = program
    .command('attention')
    .summary('what needs a person, and what is acknowledged of it')
    .description('What is wrong or comes near a wall, as far as the key may see it: the inbox of the console.');

  addCommand<{ all?: boolean; tenant?: string }>(attention, 'list', {
    isDefault: true,
    summary: 'list what needs a person, what is wrong first',
    options: (command) =>
      command
        .option('--all', 'also what is acknowledged')
        .option('--tenant <tenant>', 'only what is about this tenant'),
    examples: [
      ['attention list', 'what nobody has acknowledged; `winterdock attention` is the same'],
      ['attention list --all --json', 'all of it, for a program'],
    ],
    async run({ client, print, note, signal }, { all = false, tenant }) {
      const rows = await client.attention({ tenant }, { signal });
      const open = rows.filter(({ acknowledged }) => acknowledged === null);
      const shown = all ? rows : open;
      print(shown, () => rowsText(shown));
      if (open.length === 0) note('Nothing needs anybody.');
      if (!all && open.length < rows.length) note(`${rows.length - open.length} acknowledged: --all shows them.`);
    },
  });

  addCommand<{ until?: number; reason?: string }>(attention, 'ack <trouble>', {
    summary: 'acknowledge it, for everybody',
    description: 'It is not counted any more until it ends, or until a time. What begins anew is another one.',
    options: (command) =>
      command
        .option('--until <time>', 'until then (default: until it ends): 2026-11-21T18:00:00Z', parseMomentTime)
        .option('--reason <text>', 'why, for the ledger'),
    examples: [['attention ack quota:acme:max_bytes --until 2026-12-01T08:00:00Z', 'not before Tuesday']],
    async run({ client, print, signal }, { until, reason }, id: string) {
      const input = { until: until === undefined ? undefined : Math.floor(until), reason };
      const row = await client.acknowledge(id, input, { signal });
      print(row, () => `${row.id} is acknowledged ${acknowledgedText(row)}.\n`);
    },
  });

  addCommand(attention, 'reopen <trouble>', {
    summary: 'take back that it is acknowledged',
    examples: [['attention reopen backup:none', 'it is counted again']],
    async run({ client, print, signal }, _options, id: string) {
      await client.unacknowledge(id, { signal });
      print({ id, acknowledged: null }, () => `${id} is not acknowledged any more.\n`);
    },
  });
}
