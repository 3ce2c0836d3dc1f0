/**
 * Commands that look at what a sandbox was: `moments`, `cat`, `diff`, which wake nothing; and `take-back`, which takes
 * one file or folder of it.
 */
import type { Command } from 'commander';
import { ApiError } from '../../client/client.ts';
import type { Moment } from '../../contract/schema.ts';
import { DEFAULT_VOLUME, parseVolume, VOLUMES } from '../../vfs/volumes.ts';
import { choice } from '../choice.ts';
import { addCommand, parseWholeNumber } from '../command.ts';
import { comparisonText } from '../comparison-text.ts';
import { CliError } from '../failure.ts';
import { bytesText, printable, table } from '../format.ts';
import {
  atOption,
  momentSeconds,
  parseMomentTime,
  parseTypedMoment,
  secondsText,
  type TypedMoment,
} from '../moment-time.ts';
import { showProgress } from '../progress.ts';
import { remotePathOf } from '../remote-path.ts';
import { saveDownload } from '../save-download.ts';

/** How coarse moments are, in words. */
const GRAINS: Readonly<Record<number, string>> = {
  1: 'each',
  60: 'of a minute',
  600: 'of ten minutes',
  3600: 'of an hour',
};

interface MomentsOptions {
  around?: number;
  limit: number;
  named?: boolean;
  name?: string;
  at?: number;
  remove?: string;
}

/** Without names, where none has one, the column of names is left out. */
function momentTable(moments: readonly Moment[]): string {
  const hasNames = moments.some(({ name }) => name !== null);
  const rows = moments.map(({ time_ms, kind, grain_s, name }) => [
    ...[secondsText(time_ms / 1000), kind, GRAINS[grain_s] ?? 'of a day'],
    ...(hasNames ? [printable(name ?? '')] : []),
  ]);
  return table(['TIME', 'KIND', 'GRAIN', ...(hasNames ? ['NAME'] : [])], rows) || 'There are none.\n';
}

/** The moments that the server names while the store of its replica is away. */
function knownIn(error: unknown): readonly Moment[] {
  const known = error instanceof ApiError ? error.problem?.known : undefined;
  return Array.isArray(known) ? (known as Moment[]) : [];
}

export function addPastCommands(program: Command): void {
  addCommand<MomentsOptions>(program, 'moments <id>', {
    summary: 'list the moments of a sandbox, name one, or remove a name',
    description:
      'Those next to a time, the newest first; of a deleted sandbox too. GRAIN says of what a moment is the last one: those before it may be gone. One with a name is kept until the name is removed.',
    options: (command) =>
      command
        .option('--around <time>', 'next to this time, as 2026-11-21T18:00:00Z (default: now)', parseMomentTime)
        .option('--limit <count>', 'so many, at most', parseWholeNumber, 20)
        .option('--named', 'only those with a name')
        .option('--name <name>', 'give this name to what it has now, or to the newest moment up to --at')
        .option('--at <time>', 'with --name: the newest moment up to then', parseMomentTime)
        .option('--remove <name>', 'remove this name, and what was kept for it'),
    examples: [
      ['moments sess-841', 'the newest'],
      ['moments sess-841 --around 2026-11-21T18:00:00Z', 'before and after that'],
      ['moments sess-841 --name "before the migration"', 'a checkpoint of now'],
      ['moments sess-841 --remove "before the migration"', 'which is not needed any more'],
    ],
    async run({ client, print, note, signal }, options, id: string) {
      const { around, limit, named, name, at, remove } = options;
      if (name !== undefined && remove !== undefined) throw new CliError('usage', 'Either --name or --remove.');
      if (at !== undefined && name === undefined) throw new CliError('usage', '--at is for --name.');
      if (remove !== undefined) {
        await client.removeMoment(id, remove, { signal });
        return print({}, () => `“${printable(remove)}” is no moment of ${id} any more.\n`);
      }
      if (name !== undefined) {
        const kept = await client.nameMoment(id, name, { time: at }, { signal });
        return print(kept, () => `${id} as of ${secondsText(kept.time_ms / 1000)} is kept as “${printable(name)}”.\n`);
      }
      const kind = named === true ? 'named' : undefined;
      const moments = await client.listMoments(id, { around, limit, kind }, { signal }).catch((error: unknown) => {
        const known = knownIn(error);
        if (known.length > 0) note(`Known without the store:\n${momentTable(known)}`);
        throw error;
      });
      print(moments, () => momentTable(moments));
    },
  });

  addCommand<{ at?: TypedMoment }>(program, 'cat <id> <path>', {
    summary: 'print a file, as it is or as it was',
    options: (command) =>
      command.option('--at <time>', 'as of the newest moment up to then, or the named one', parseTypedMoment),
    examples: [
      ['cat sess-841 note', 'as it is'],
      ['cat sess-841 /memory/facts --at 2026-11-21T18:00:00Z', 'as it was then'],
    ],
    async run({ client, note, signal }, { at }, id: string, path: string) {
      const source = remotePathOf(path);
      const seconds = at === undefined ? undefined : await momentSeconds(client, id, at, { signal });
      const download = await client.getFile(id, source.volume, source.path, { at: seconds }, { signal });
      await saveDownload(download, '-', { progress: showProgress(path, false) });
      const moment = download.headers.get('x-moment');
      if (moment !== null) note(`As of ${secondsText(Number(moment))}.`);
    },
  });

  addCommand<{ at: TypedMoment; reason?: string }>(program, 'take-back <id> <path>', {
    summary: 'take a file or a folder back, as it was at a moment',
    description:
      'It takes the place of what is there now, with all below it and nothing else. Wakes a sleeping sandbox. Nothing of tmp is taken back.',
    options: (command) =>
      command
        .requiredOption('--at <time>', 'as of the newest moment up to then, or the named one', parseTypedMoment)
        .option('--reason <words>', 'why; it goes into the ledger'),
    examples: [
      ['take-back sess-841 src --at 2026-11-21T18:00:00Z', 'a folder, as it was then'],
      ['take-back sess-841 /memory/facts --at "before the migration"', 'a file, as of a named moment'],
    ],
    async run({ client, print, signal }, { at, reason }, id: string, path: string) {
      const { volume, path: place } = remotePathOf(path);
      const taken = await client.takeBack(id, volume, { path: place, ...at, reason }, { signal });
      const files = `${taken.files} ${taken.files === 1 ? 'file' : 'files'}, ${bytesText(taken.bytes)}`;
      print(taken, () => `${printable(path)} is as of ${secondsText(taken.used)} now: ${files}.\n`);
    },
  });

  addCommand<{ since: number; at?: number; volume: string; limit: number }>(program, 'diff <id>', {
    summary: 'say what has changed in a sandbox since a moment',
    description: 'Until now, or with --at until a later moment. Compares contents by their hashes; wakes nothing.',
    options: (command) =>
      atOption(command.requiredOption('--since <time>', 'since the newest moment up to then', parseMomentTime))
        .addOption(choice('--volume <volume>', 'which volume', VOLUMES, DEFAULT_VOLUME))
        .option('--limit <count>', 'how many differences to name', parseWholeNumber, 100),
    examples: [
      ['diff sess-841 --since 2026-11-21T18:00:00Z', 'what has happened since'],
      ['diff sess-841 --since 2026-11-21T14:05:00Z --at 2026-11-21T14:20:00Z', 'what happened in between'],
    ],
    async run({ client, print, note, signal }, { since, at, volume, limit }, id: string) {
      const found = await client.compare(id, parseVolume(volume), { since, at, limit }, { signal });
      print(found, () => comparisonText(found));
      if (found.since !== null) note(`Since ${secondsText(found.since)}.`);
    },
  });
}
