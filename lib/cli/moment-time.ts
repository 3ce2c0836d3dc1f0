/** Times and names of moments, as they are typed and shown. */
import type { Command } from 'commander';
import type { CallOptions, WinterdockClient } from '../client/client.ts';
import { CliError } from './failure.ts';

/** More than a sandbox may have. */
const MOST_NAMED = 100;

/** Seconds since the epoch of a time such as `2026-11-21T18:00:00Z`, or of such a number. */
export function parseMomentTime(text: string): number {
  const ms = /^\d{1,12}(\.\d{1,3})?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isNaN(ms)) throw new CliError('usage', `"${text}" is not a time such as 2026-11-21T18:00:00Z.`);
  return ms / 1000;
}

/** A moment: the newest one up to a time, or one by its name. */
export type TypedMoment = { time: number } | { moment: string };

/** A number and a date are a time; anything else is a name. */
export function parseTypedMoment(text: string): TypedMoment {
  return /^\d{1,12}(?:\.\d{1,3})?$|^\d{4}-\d\d-\d\d/.test(text) ? { time: parseMomentTime(text) } : { moment: text };
}

/** As it is told again. */
export const momentText = (typed: TypedMoment): string =>
  'time' in typed ? `the newest moment up to ${secondsText(typed.time)}` : `the moment “${typed.moment}”`;

/** What a read takes as `at` for it. Throws `absent` for a name that the sandbox has not. */
export async function momentSeconds(
  client: Pick<WinterdockClient, 'listMoments'>,
  id: string,
  typed: TypedMoment,
  call: CallOptions,
): Promise<number> {
  if ('time' in typed) return typed.time;
  const named = await client.listMoments(id, { kind: 'named', limit: MOST_NAMED }, call);
  const found = named.find(({ name }) => name === typed.moment);
  if (found === undefined) throw new CliError('absent', `The sandbox ${id} has no moment named “${typed.moment}”.`);
  // With a fraction, as a whole number would be the end of its second.
  return (found.time_ms + 0.1) / 1000;
}

/** Adds `--at`. */
export function atOption(command: Command): Command {
  return command.option('--at <time>', 'as of the newest moment up to then: 2026-11-21T18:00:00Z', parseMomentTime);
}

/** Seconds since the epoch to the millisecond: what is typed again names the same moment. */
export const secondsText = (seconds: number) => new Date(seconds * 1000).toISOString();
