/** Commands that look at what a sandbox was: `moments`, `cat`, `diff`. Nothing is woken or restored. */
import type { Command } from 'commander';
import { DEFAULT_VOLUME, parseVolume, VOLUMES } from '../../vfs/volumes.ts';
import { choice } from '../choice.ts';
import { addCommand, parseWholeNumber } from '../command.ts';
import { comparisonText } from '../comparison-text.ts';
import { table } from '../format.ts';
import { atOption, parseMomentTime, secondsText } from '../moment-time.ts';
import { addCall } from '../one-call.ts';
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

export function addPastCommands(program: Command): void {
  addCall<{ around?: number; limit: number }, [string]>(program, 'moments <id>', {
    summary: 'list the moments of a sandbox that the replica can open',
    description:
      'Those next to a time, the newest first; of a deleted sandbox too. GRAIN says of what a moment is the last one: those before it may be gone.',
    options: (command) =>
      command
        .option('--around <time>', 'next to this time, as 2026-11-21T18:00:00Z (default: now)', parseMomentTime)
        .option('--limit <count>', 'so many, at most', parseWholeNumber, 20),
    examples: [
      ['moments sess-841', 'the newest'],
      ['moments sess-841 --around 2026-11-21T18:00:00Z', 'before and after that'],
    ],
    ask: (client, call, { around, limit }, id) => client.listMoments(id, { around, limit }, call),
    text: (moments: readonly { time_ms: number; kind: string; grain_s: number }[]) =>
      table(
        ['TIME', 'KIND', 'GRAIN'],
        moments.map(({ time_ms, kind, grain_s }) => [secondsText(time_ms / 1000), kind, GRAINS[grain_s] ?? 'of a day']),
      ) || 'The replica has none.\n',
  });

  addCommand<{ at?: number }>(program, 'cat <id> <path>', {
    summary: 'print a file, as it is or as it was',
    options: atOption,
    examples: [
      ['cat sess-841 note', 'as it is'],
      ['cat sess-841 /memory/facts --at 2026-11-21T18:00:00Z', 'as it was then'],
    ],
    async run({ client, note, signal }, { at }, id: string, path: string) {
      const source = remotePathOf(path);
      const download = await client.getFile(id, source.volume, source.path, { at }, { signal });
      await saveDownload(download, '-', { progress: showProgress(path, false) });
      const moment = download.headers.get('x-moment');
      if (moment !== null) note(`As of ${secondsText(Number(moment))}.`);
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
