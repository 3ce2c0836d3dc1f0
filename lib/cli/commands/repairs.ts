/**
 * Commands for a damaged file and for moments of the replica: `raw`, `salvage`, `restore-in-place`, `undo`,
 * `from-moment`.
 */
import type { Command } from 'commander';
import type { WinterdockClient } from '../../client/client.ts';
import type { SalvageAnswer } from '../../contract/schema.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, facts, printable } from '../format.ts';
import { momentText, parseTypedMoment, secondsText, type TypedMoment } from '../moment-time.ts';
import { showProgress } from '../progress.ts';
import { confirm } from '../prompt.ts';
import { refuseOverwrite, saveDownload } from '../save-download.ts';

/** The most lost files that are printed; the full list is in the new sandbox. */
const LOST_PRINTED = 20;

function salvagedText({ instance, recovered, recovered_bytes, lost, lost_count, list }: SalvageAnswer): string {
  const named = lost.slice(0, LOST_PRINTED).map(({ volume, path, why }) => {
    const what = path === null ? 'nameless' : `${volume}:${printable(path)}`;
    return facts([['lost', `${what} – ${printable(why)}`]]);
  });
  const more = lost_count > LOST_PRINTED ? `, the first ${LOST_PRINTED} of them below` : '';
  return [
    `${instance.id} is created.\n`,
    facts([
      ['recovered', `${recovered} files, ${bytesText(recovered_bytes)}`],
      ['lost', lost_count === 0 ? 'nothing' : `${lost_count}${more}`],
      ['all of it', list === null ? null : `memory:${list} in ${instance.id}`],
    ]),
    ...named,
  ].join('');
}

interface InPlaceOptions {
  at?: TypedMoment;
  reason?: string;
  yes?: boolean;
}

type RestoredMoment = Awaited<ReturnType<WinterdockClient['undoRestore']>>;

function restoredText(id: string, { instance, used, undo }: RestoredMoment): string {
  const back = undo === null ? 'What it had is kept aside on the server.' : `What it had is its moment ${undo.moment}.`;
  return `${id} is as of ${secondsText(used)} now. It is ${instance.state}.\n${back}\n`;
}

/** Puts a moment in the place of the file of a sandbox, once that is confirmed. */
export async function goBackTo(
  { client, print, signal }: CommandContext,
  at: TypedMoment,
  { reason, yes }: Pick<InPlaceOptions, 'reason' | 'yes'>,
  id: string,
): Promise<void> {
  if (yes !== true) await confirm(`Put ${momentText(at)} in the place of what ${id} holds?`, signal);
  const done = await client.restoreInstance(id, { ...at, reason }, { signal });
  if (!('instance' in done)) throw new Error('A moment was restored, and not said which.');
  print(done, () => restoredText(id, done));
}

export function addRepairCommands(program: Command): void {
  addCommand<{ log?: boolean; reason?: string; force?: boolean; progress?: boolean }>(program, 'raw <id> [file]', {
    summary: 'download the file of a sandbox byte for byte, damaged or not',
    description:
      'For admins and operators: all volumes and what was deleted are in it. An archived one comes compressed (zstd). It must not be awake. Says when a log lies beside it.',
    options: (command) =>
      command
        .option('--log', 'the log beside the file, without which it is not whole')
        .option('--reason <words>', 'why; it goes into the ledger')
        .option('--progress', 'show progress on stderr even when that is no terminal')
        .option('--force', 'write over a file of yours'),
    examples: [
      ['raw sess-841', 'into sess-841.sqlite'],
      ['raw sess-841 --log', 'into sess-841.sqlite-wal, beside it'],
    ],
    async run({ client, print, signal }, { log, reason, force, progress: wanted }, id: string, file?: string) {
      if (file !== undefined) refuseOverwrite(file, force);
      const progress = showProgress(id, file === '-' && wanted !== true ? false : wanted);
      const download = await client.rawInstance(
        id,
        { part: log === true ? 'log' : 'file', reason },
        { signal, onProgress: progress.bytes },
      );
      const given = /filename="([^"/]+)"/.exec(download.headers.get('content-disposition') ?? '')?.[1];
      const saved = await saveDownload(download, file ?? given ?? `${id}.sqlite`, { force, progress });
      const sha256 = download.headers.get('x-sha256');
      const logBytes = Number(download.headers.get('x-log-bytes') ?? 0);
      const beside = log !== true && logBytes > 0 ? `; a log of ${bytesText(logBytes)} lies beside it: --log` : '';
      if (saved !== null) {
        print(
          { ...saved, sha256, log_bytes: logBytes },
          () => `${saved.file}: ${bytesText(saved.bytes)}, sha256:${sha256}${beside}\n`,
        );
      }
    },
  });

  addCommand<{ id?: string; name?: string; reason?: string }>(program, 'salvage <id>', {
    summary: 'make a new sandbox of what is readable of a damaged one',
    description:
      'For admins and operators. File by file, and prints what is lost. The damaged file is left as it is; tmp is left out. It must not be awake.',
    options: (command) =>
      command
        .option('--id <id>', 'an id of its own')
        .option('--name <name>', 'a name')
        .option('--reason <words>', 'why; it goes into the ledger'),
    examples: [['salvage sess-841 --name "what is left"', 'and print what is lost']],
    async run({ client, print, signal }, { id: own, name, reason }, id: string) {
      const salvaged = await client.salvageInstance(id, { id: own, name, reason }, { signal });
      print(salvaged, () => salvagedText(salvaged));
    },
  });

  addCommand<InPlaceOptions>(program, 'restore-in-place <id> [snapshot]', {
    summary: 'put a snapshot, or one of its moments, in the place of a sandbox’s file',
    description:
      'It keeps its id, settings and state, and a fault is cleared. What was there is kept aside on the server, and with a moment also as one that undo brings back. It must not be awake, and a snapshot must be of its tenant.',
    options: (command) =>
      command
        .option(
          '--at <time>',
          'the newest moment up to then, as 2026-11-21T18:00:00Z, or the named one',
          parseTypedMoment,
        )
        .option('--reason <words>', 'why; it goes into the ledger')
        .option('--yes', 'without asking'),
    examples: [
      ['restore-in-place sess-841 snap_512', 'after its file was damaged'],
      ['restore-in-place sess-841 --at 2026-11-21T18:00:00Z', 'as it was then, and says how to undo it'],
      ['restore-in-place sess-841 snap_512 --yes', 'without asking, for scripts'],
    ],
    async run(context, options, id: string, snapshot?: string) {
      if ((snapshot === undefined) === (options.at === undefined)) {
        throw new CliError('usage', 'Name a snapshot, or a moment with --at.');
      }
      if (options.at !== undefined) return goBackTo(context, options.at, options, id);
      const { client, print, signal } = context;
      if (options.yes !== true) await confirm(`Put ${snapshot} in the place of what ${id} holds?`, signal);
      const done = await client.restoreInstance(id, { snapshot, reason: options.reason }, { signal });
      if ('instance' in done) throw new Error('A snapshot has no moment.');
      print(done, () => `${done.id} holds ${snapshot} now. It is ${done.state}.\n`);
    },
  });

  addCommand<Omit<InPlaceOptions, 'at'>>(program, 'undo <id>', {
    summary: 'undo the last restore of a sandbox to one of its moments',
    description:
      'Brings back what it replaced; once more undoes the one before. What it has now is kept as a moment. It must not be awake.',
    options: (command) =>
      command.option('--reason <words>', 'why; it goes into the ledger').option('--yes', 'without asking'),
    examples: [['undo sess-841', 'as it was before']],
    async run({ client, print, signal }, { reason, yes }, id: string) {
      if (yes !== true) await confirm(`Bring back what ${id} held before it was restored?`, signal);
      const done = await client.undoRestore(id, { reason }, { signal });
      print(done, () => restoredText(id, done));
    },
  });

  addCommand<{ name?: string; tenant?: string; reason?: string }>(program, 'from-moment <id> <time>', {
    summary: 'make a new sandbox of what one had at one of its moments',
    description:
      'The newest moment up to the time, or the named one. The sandbox stays as it is; a deleted one has moments for a while too.',
    options: (command) =>
      command
        .option('--name <name>', 'a name')
        .option('--tenant <tenant>', 'of another tenant than it is')
        .option('--reason <words>', 'why; it goes into the ledger'),
    examples: [['from-moment sess-841 2026-11-21T18:00:00Z --name "as it was"', 'beside the one that is there']],
    async run({ client, print, signal }, { name, tenant, reason }, id: string, time: string) {
      const made = await client.instanceFromMoment(id, { ...parseTypedMoment(time), name, tenant, reason }, { signal });
      print(made, () => `${made.id} is created, as ${id} was.\n`);
    },
  });
}
