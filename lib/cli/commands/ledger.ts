/** `ledger`: verifies, exports and seals the ledger. */
import type { Command } from 'commander';
import { choice } from '../choice.ts';
import { addCommand, parseSeconds } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { bytesText, facts, millisecondsText, table, timeText } from '../format.ts';
import { showProgress } from '../progress.ts';
import { type SandboxOption, sandboxFrom, sandboxOption } from '../sandbox-option.ts';
import { refuseOverwrite, saveDownload } from '../save-download.ts';

interface ExportOptions extends SandboxOption {
  format: 'csv' | 'jsonl';
  tenant?: string;
  type?: string;
  within?: number;
  force?: boolean;
  progress?: boolean;
}

const saving = (command: Command) =>
  command
    .option('--force', 'write over a file of yours')
    .option('--progress', 'show progress on stderr even when that is no terminal');

export function addLedgerCommands(program: Command): void {
  const ledger = program
    .command('ledger')
    .summary('verify, export and seal the ledger')
    .description('Verify, export and seal the ledger. `events` shows it.');

  addCommand(ledger, 'verify', {
    summary: 'prove that no line was changed, removed or reordered',
    description: 'Exits with 9 when one was, and says which is the first.',
    examples: [['ledger verify', 'from the first line to the last']],
    async run({ client, print, signal, exitWith }) {
      const proof = await client.verifyLedger({ signal });
      print(proof, () =>
        facts([
          ['verdict', proof.ok ? 'whole' : 'NOT whole'],
          [
            'first flaw',
            proof.flaw === null
              ? null
              : `${proof.flaw.seq === null ? '' : `line ${proof.flaw.seq}: `}${proof.flaw.why}`,
          ],
          ['lines', `${proof.lines} verified, ${proof.dropped} exported and dropped`],
          ['blanked', proof.blanked === 0 ? null : `${proof.blanked}, with tenants that were forgotten`],
          ['last line', `${proof.last_seq}, ${proof.last_hash}`],
          ['signed to', String(proof.signed_to)],
          ['took', millisecondsText(proof.took_ms)],
        ]),
      );
      if (!proof.ok) exitWith(exitCode('fault'));
    },
  });

  addCommand(ledger, 'head', {
    summary: 'print the signed head of the ledger',
    description: 'Kept elsewhere, it proves later that no line up to it was changed or removed.',
    examples: [['ledger head --json > head.json', 'keep it']],
    async run({ client, print, signal }) {
      const head = await client.getLedgerHead({ signal });
      print(head, () => facts(Object.entries(head).map(([name, value]) => [name, String(value)])));
    },
  });

  addCommand(ledger, 'segments', {
    summary: 'list the sealed months',
    examples: [['ledger segments', 'with what became of each']],
    async run({ client, print, signal }) {
      const segments = await client.listLedgerSegments({ signal });
      print(segments, () =>
        table(
          ['MONTH', 'LINES', 'SEALED', 'EXPORTED', 'DROPPED'],
          segments.map(({ id, lines, sealed, exported, dropped }) => [
            id,
            String(lines),
            timeText(sealed),
            exported === null ? '–' : timeText(exported),
            dropped === null ? '–' : timeText(dropped),
          ]),
        ),
      );
    },
  });

  addCommand<{ force?: boolean; progress?: boolean }>(ledger, 'segment <month> [file]', {
    summary: 'download a sealed month with its signed head',
    description: 'JSON lines, to stdout or into a file. `npm run ledger:verify -- --file` proves it by itself.',
    options: saving,
    examples: [['ledger segment 2026-10 2026-10.jsonl', 'keep October']],
    async run({ client, print, signal }, options, month: string, file = '-') {
      refuseOverwrite(file, options.force);
      const progress = showProgress(month, file === '-' && options.progress !== true ? false : options.progress);
      const download = await client.exportLedgerSegment(month, { signal, onProgress: progress.bytes });
      const saved = await saveDownload(download, file, { force: options.force, progress });
      if (saved !== null) print(saved, () => `${saved.file}: ${bytesText(saved.bytes)}\n`);
    },
  });

  addCommand<ExportOptions>(ledger, 'export [file]', {
    summary: 'download lines of the ledger',
    description: 'Newest first, to stdout or into a file. The download is itself a line of the ledger.',
    options: (command) =>
      saving(
        sandboxOption(command)
          .addOption(choice('--format <format>', 'how it is written', ['csv', 'jsonl'], 'jsonl'))
          .option('--tenant <tenant>', 'only of this tenant')
          .option('--type <type>', 'only of this type')
          .option('--within <duration>', 'only of the last 15m, 24h, 7d …', parseSeconds),
      ),
    examples: [
      ['ledger export --format csv ledger.csv', 'for a spreadsheet'],
      ['ledger export --tenant acme --within 7d > acme.jsonl', 'a week of one tenant'],
    ],
    async run({ client, print, signal }, options, file = '-') {
      const { format, tenant, type, within } = options;
      if (format !== 'csv' && format !== 'jsonl') throw new CliError('usage', 'The format is csv or jsonl.');
      refuseOverwrite(file, options.force);
      const since = within === undefined ? undefined : Math.floor(Date.now() / 1000) - within;
      const progress = showProgress('ledger', file === '-' && options.progress !== true ? false : options.progress);
      const query = { format, tenant, instance: sandboxFrom(options), type, since };
      const download = await client.exportEvents(query, { signal, onProgress: progress.bytes });
      const saved = await saveDownload(download, file, { force: options.force, progress });
      if (saved !== null) print(saved, () => `${saved.file}: ${bytesText(saved.bytes)}\n`);
    },
  });
}
