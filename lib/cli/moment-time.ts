/** Times of moments, as they are typed and shown. Pure. */
import type { Command } from 'commander';
import { CliError } from './failure.ts';

/** Seconds since the epoch of a time such as `2026-11-21T18:00:00Z`, or of such a number. */
export function parseMomentTime(text: string): number {
  const ms = /^\d{1,12}(\.\d{1,3})?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isNaN(ms)) throw new CliError('usage', `"${text}" is not a time such as 2026-11-21T18:00:00Z.`);
  return ms / 1000;
}

/** Adds `--at`. */
export function atOption(command: Command): Command {
  return command.option('--at <time>', 'as of the newest moment up to then: 2026-11-21T18:00:00Z', parseMomentTime);
}

/** Seconds since the epoch to the millisecond: what is typed again names the same moment. */
export const secondsText = (seconds: number) => new Date(seconds * 1000).toISOString();
