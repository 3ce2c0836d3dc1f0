/** Moments in words: when, and how coarse what is left of that time is. Pure. */
import { exactMoment, spokenMoment, zoneLabel } from '#components/ui/zones.ts';
import type { Moment } from '#lib/contract/schema.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** Characters of a name that stand beside a time. */
const NAME_SHOWN = 30;

type Named = Pick<Moment, 'kind' | 'name' | 'grain_s'>;

/** What a moment is, after its time; '' for a commit of which nothing around it was merged away. */
export function grainInWords({ kind, name, grain_s: grain }: Named): string {
  if (name !== null) return name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN - 1).toWellFormed()}…` : name;
  if (kind === 'filing') return 'filed';
  if (grain <= 1) return '';
  if (grain <= MINUTE) return 'minute';
  if (grain < HOUR) return `${Math.round(grain / MINUTE)} min`;
  return grain < DAY ? 'hour' : 'day';
}

/** The same in a sentence. */
export function grainInFull({ kind, name, grain_s: grain }: Named): string {
  if (name !== null) return `Named “${name}”: kept until the name is removed.`;
  const what = kind === 'filing' ? 'Filed: the file was at rest.' : 'Committed while it was awake.';
  if (grain <= 1) return what;
  const span =
    grain <= MINUTE
      ? 'its minute'
      : grain < HOUR
        ? `its ${Math.round(grain / MINUTE)} minutes`
        : grain < DAY
          ? 'its hour'
          : 'its day';
  return `${what} The last moment of ${span}: those before it may be gone.`;
}

/** `14:05:07`, as the clocks of a zone show it. */
export function clockOf(timeMs: number, zone: string): string {
  return exactMoment(timeMs / 1000, zone).slice(11, 19);
}

/** `Mon 30 Nov 2026`, in a zone. */
export function dayOf(timeMs: number, zone: string): string {
  return spokenMoment(timeMs / 1000, zone).split(',')[0] ?? '';
}

/** `Mon 30 Nov 2026, 14:05:07 UTC`. */
export function secondInWords(timeMs: number, zone: string): string {
  return `${dayOf(timeMs, zone)}, ${clockOf(timeMs, zone)} ${zoneLabel(timeMs / 1000, zone)}`;
}

/** `2026-11-30T14:05:07`, the value of a `datetime-local` field of seconds. */
export function timeFieldOf(timeMs: number, zone: string): string {
  return exactMoment(timeMs / 1000, zone)
    .slice(0, 19)
    .replace(' ', 'T');
}
