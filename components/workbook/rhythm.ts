/** How often something runs, in words: a choice with a few values becomes a cron expression, and back. Pure. */

/** The choices, and which values each takes. */
export const RHYTHMS = [
  { name: 'day', says: 'every day', takes: ['time'] },
  { name: 'week', says: 'every week', takes: ['weekday', 'time'] },
  { name: 'month', says: 'every month', takes: ['day', 'time'] },
  { name: 'hour', says: 'every hour', takes: ['minute'] },
  { name: 'minutes', says: 'every few minutes', takes: ['every'] },
  { name: 'cron', says: 'as cron says', takes: ['cron'] },
] as const;

/** The fields that say when. */
export const RHYTHM_FIELDS = ['rhythm', 'time', 'weekday', 'day', 'minute', 'every', 'cron'] as const;
export type RhythmField = (typeof RHYTHM_FIELDS)[number];

/** Weekdays as cron has them. */
export const WEEKDAYS = [
  { name: '1', says: 'Monday' },
  { name: '2', says: 'Tuesday' },
  { name: '3', says: 'Wednesday' },
  { name: '4', says: 'Thursday' },
  { name: '5', says: 'Friday' },
  { name: '6', says: 'Saturday' },
  { name: '0', says: 'Sunday' },
  { name: '1-5', says: 'Monday to Friday' },
  { name: '0,6', says: 'Saturday and Sunday' },
] as const;

/** Lengths that divide an hour, in minutes. */
export const EVERY_MINUTES = ['5', '10', '15', '20', '30'] as const;

function wholeNumber(text: string | undefined, least: number, most: number): number | null {
  if (!/^\d{1,2}$/.test(text ?? '')) return null;
  const value = Number(text);
  return value >= least && value <= most ? value : null;
}

/** `03:00` as cron's minute and hour. */
function timeOf(text: string | undefined): string | null {
  const match = /^(\d{1,2}):(\d{2})$/.exec(text ?? '');
  const hour = wholeNumber(match?.[1], 0, 23);
  const minute = wholeNumber(match?.[2], 0, 59);
  return hour === null || minute === null ? null : `${minute} ${hour}`;
}

/** What the values say as a cron expression, or which of them is wrong and how. */
export function cronOf(
  values: Partial<Record<RhythmField, string>>,
): { cron: string } | { field: RhythmField; error: string } {
  const { rhythm = 'cron', time, weekday, day, minute, every, cron = '' } = values;
  const at = timeOf(time);
  const noTime = { field: 'time', error: 'At what time? 03:00 is three in the morning.' } as const;
  switch (rhythm) {
    case 'day':
      return at === null ? noTime : { cron: `${at} * * *` };
    case 'week':
      if (!WEEKDAYS.some(({ name }) => name === weekday)) return { field: 'weekday', error: 'On which day?' };
      return at === null ? noTime : { cron: `${at} * * ${weekday}` };
    case 'month': {
      const date = day === 'L' ? 'L' : wholeNumber(day, 1, 31);
      if (date === null) return { field: 'day', error: 'A day from 1 to 31, or L for the last one.' };
      return at === null ? noTime : { cron: `${at} ${date} * *` };
    }
    case 'hour': {
      const past = wholeNumber(minute, 0, 59);
      return past === null ? { field: 'minute', error: 'A minute from 0 to 59.' } : { cron: `${past} * * * *` };
    }
    case 'minutes':
      if (!EVERY_MINUTES.some((length) => length === every)) return { field: 'every', error: 'How many minutes?' };
      return { cron: `*/${every} * * * *` };
    case 'cron':
      return cron === '' ? { field: 'cron', error: 'When is it due? 0 3 * * * is every day at three.' } : { cron };
    default:
      return { field: 'rhythm', error: 'How often?' };
  }
}

/** `every 15 minutes`; null for a step that does not fill its round evenly: the last one of each is shorter. */
function stepInWords(step: number, round: number, unit: string): string | null {
  if (step === 0 || round % step !== 0) return null;
  return step === 1 ? `every ${unit}` : `every ${step} ${unit}s`;
}

/** A cron expression in words, as `every day at 03:00`; null for one that the choices above do not make. */
export function cronInWords(cron: string): string | null {
  const steps = /^(?:\*(?:\/(?<minutes>\d{1,2}))? \*|0 \*\/(?<hours>\d{1,2})) \* \* \*$/.exec(cron)?.groups;
  if (steps !== undefined) {
    const { minutes = '1', hours } = steps;
    return hours === undefined ? stepInWords(Number(minutes), 60, 'minute') : stepInWords(Number(hours), 24, 'hour');
  }
  const past = /^(\d{1,2}) \* \* \* \*$/.exec(cron)?.[1];
  if (past !== undefined) return past === '0' ? 'every hour' : `every hour at :${past.padStart(2, '0')}`;
  const match = /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}|L) \* (\S+)$/.exec(cron);
  if (match === null) return null;
  const [, minute = '', hour = '', day = '', weekday = ''] = match;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (weekday === '*') {
    if (day === '*') return `every day at ${time}`;
    return day === 'L' ? `on the last day of every month at ${time}` : `on day ${day} of every month at ${time}`;
  }
  const named = WEEKDAYS.find(({ name }) => name === weekday);
  return day !== '*' || named === undefined ? null : `every ${named.says} at ${time}`;
}
