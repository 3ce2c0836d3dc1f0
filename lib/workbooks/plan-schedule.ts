/** When a world or component is due, as its source says: `:SCHEDULE:` in cron, or `SCHEDULED:` with a repeater. */
import { Cron } from 'croner';
import { carriedOver, epochOf, isTimeZone } from '../base/zoned-time.ts';
import type { PlanProblems, SourcePlace } from './problems.ts';
import type { OrgSection } from './sections.ts';
import type { ComponentPort, PlanSchedule } from './types.ts';

const TIMESTAMP = /^<(\d{4})-(\d{2})-(\d{2})(?:[ \t]+\p{L}[^\s\d>+-]*)?(?:[ \t]+(\d{1,2}):(\d{2}))?([^>]*)>$/u;
/** Behind the time: the end of a range, a repeater with the limit of a habit, and the delay of a reminder. */
const BEHIND =
  /^(?:-\d{1,2}:\d{2})?(?:\s+((?:\+\+|\.\+|\+)[1-9]\d{0,3}[hdwmy])(?:\/\d+[hdwmy])?)?(?:\s+--?\d+[hdwmy])?\s*$/;

/** Reads a heading's schedule; null when it has none, or one with problems. */
export function scheduleOf(section: OrgSection, name: string, problems: PlanProblems): PlanSchedule | null {
  const cron = section.properties.get('SCHEDULE');
  const zone = section.properties.get('TIMEZONE');
  const { scheduled } = section;
  if (cron === undefined && scheduled === null) return null;
  const wrong = (place: SourcePlace, message: string, mend: string): null => {
    problems.add('schedule', place, message, mend, name);
    return null;
  };
  const timezone = zone?.value ?? null;
  if (zone !== undefined && !isTimeZone(zone.value))
    return wrong(zone.place, `There is no time zone “${zone.value}”.`, 'Name one as Europe/Zurich or UTC.');
  if (cron !== undefined && scheduled !== null)
    return wrong(scheduled.place, `“${name}” has both :SCHEDULE: and SCHEDULED:.`, 'Keep one of them.');
  if (cron !== undefined) {
    const fault = cronFault(cron.value);
    if (fault === null) return { cron: cron.value, timezone };
    return wrong(
      cron.place,
      `“${cron.value}” is no cron expression: ${fault}`,
      'Write five fields, or six with seconds: 0 3 * * * is every day at three.',
    );
  }
  if (scheduled === null) return null;
  const [, year, month, day, hour = '0', minute = '0', rest = ''] = TIMESTAMP.exec(scheduled.raw) ?? [];
  const wall = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: 0,
  };
  const isDate = carriedOver(wall).day === wall.day && wall.hour < 24 && wall.minute < 60;
  if (!isDate) {
    return wrong(
      scheduled.place,
      `“${scheduled.raw}” is no time that this understands.`,
      'Write it as <2026-11-23 Mon 03:00 +1d>.',
    );
  }
  const behind = BEHIND.exec(rest);
  if (behind === null) {
    return wrong(
      scheduled.place,
      `“${rest.trim()}” in “${scheduled.raw}” is no repeater.`,
      'Write +1d, ++1d or .+1d, with one of h, d, w, m, y.',
    );
  }
  return { cron: null, timezone, at: epochOf(wall, timezone ?? 'UTC'), repeat: behind[1] ?? null };
}

/** Where a heading says when it is due; null when it does not. */
export function schedulePlaceOf({ properties, scheduled }: OrgSection): SourcePlace | null {
  return properties.get('SCHEDULE')?.place ?? scheduled?.place ?? null;
}

/** A firing gives no inputs: what is scheduled and needs some could never begin. */
export function requireNoInputs(
  place: SourcePlace | null,
  name: string,
  inputs: readonly ComponentPort[],
  problems: PlanProblems,
): void {
  const needed = inputs.filter(({ optional }) => !optional).map((input) => `${input.name}:${input.type}`);
  if (place === null || needed.length === 0) return;
  const message = `“${name}” is scheduled and needs ${needed.slice(0, 3).join(', ')}: a firing gives no inputs.`;
  const mend = `Write ${needed[0]?.replace(':', '?:')} and do without it, or schedule it by the API, with its input.`;
  problems.add('schedule', place, message, mend, name);
}

/** Why it is no cron expression, or null. */
function cronFault(text: string): string | null {
  if (text.trim().split(/\s+/).length > 6 || text.length > 200) return 'it has more than six fields.';
  try {
    const isDueOnce = new Cron(text, { paused: true, timezone: 'UTC' }).nextRun() !== null;
    return isDueOnce ? null : 'it is never due.';
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, '');
  }
}
