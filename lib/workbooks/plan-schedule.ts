/** When a world or component is due, as its source says: `:SCHEDULE:` in cron, or `SCHEDULED:` with a repeater. */
import { Cron } from 'croner';
import { carriedOver, epochOf, isTimeZone } from '../base/zoned-time.ts';
import type { PlanProblems, SourcePlace } from './problems.ts';
import type { OrgSection } from './sections.ts';
import type { PlanSchedule } from './types.ts';

const TIMESTAMP = /^<(\d{4})-(\d{2})-(\d{2})(?:[ \t]+[^\s\d>+.-]+)?(?:[ \t]+(\d{1,2}):(\d{2}))?([^>]*)>$/u;
const REPEATER = /(?:^|\s)((?:\+\+|\.\+|\+)([1-9]\d{0,3})([hdwmy]))(?:\s|$|\/)/;

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
  return {
    cron: null,
    timezone,
    at: epochOf(wall, timezone ?? 'UTC'),
    repeat: REPEATER.exec(rest)?.[1] ?? null,
  };
}

/** Why it is no cron expression, or null. */
function cronFault(text: string): string | null {
  if (text.trim().split(/\s+/).length > 6 || text.length > 200) return 'it has more than six fields.';
  try {
    new Cron(text, { paused: true, timezone: 'UTC' });
    return null;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, '');
  }
}
