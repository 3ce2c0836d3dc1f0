/** `touch`. Files have one time here: -a alone makes a file and leaves its time. */
import { readDate } from './date/date-words.ts';
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';

export const touch: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'acd:fhmr:t:',
      long: { 'date=': 'd', 'no-create': 'c', 'no-dereference': 'h', 'reference=': 'r', 'time=': 'time' },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const time = timeOf(call, value('d'), value('r'), value('t'));
    if (operands.length === 0) call.usage('missing file operand');
    const only = has('a') || ['atime', 'access', 'use'].includes(value('time') ?? '');
    for (const operand of operands) {
      await call.turn();
      try {
        await touchOne(call, operand, {
          time,
          creates: !has('c') && !has('h'),
          follows: !has('h'),
          sets: !only || has('m'),
        });
      } catch (error) {
        call.fail(`cannot touch ${inQuotes(operand)}: ${reasonOf(error)}`);
      }
    }
    return undefined;
  },
};

interface Touch {
  time: number;
  creates: boolean;
  follows: boolean;
  sets: boolean;
}

async function touchOne(call: CommandCall, operand: string, { time, creates, follows, sets }: Touch): Promise<void> {
  const path = call.path(operand);
  const info = call.files.look(path, follows);
  if (info === null) {
    if (!creates) return;
    if (path.endsWith('/')) throw Object.assign(new Error(operand), { code: 'ENOENT' });
    await call.changes.writeFile(path, new Uint8Array(0));
  }
  if (!sets && info !== null) return;
  const there = info ?? call.files.info(path);
  if (there.kind !== 'device') call.files.setTime(there, time);
}

function timeOf(call: CommandCall, date: string | null, reference: string | null, stamp: string | null): number {
  const now = Math.floor(Date.now() / 1000);
  if (stamp !== null) {
    const time = stampTime(stamp, now);
    if (time === null) call.end(`invalid date format ${marked(stamp)}`);
    return time;
  }
  let base = now;
  if (reference !== null) {
    try {
      base = call.files.info(call.path(reference)).mtime;
    } catch (error) {
      call.end(`failed to get attributes of ${inQuotes(reference)}: ${reasonOf(error)}`);
    }
  }
  if (date === null) return base;
  const time = readDate(date, base * 1000);
  if (time === null) call.end(`invalid date format ${marked(date)}`);
  return Math.max(0, Math.floor(time / 1000));
}

/** The time of `[[CC]YY]MMDDhhmm[.ss]`; null when it is none. */
function stampTime(stamp: string, now: number): number | null {
  const found = /^(\d{2}|\d{4})?(\d{2})(\d{2})(\d{2})(\d{2})(?:\.(\d{2}))?$/.exec(stamp);
  if (found === null) return null;
  const [, given = '', month, day, hour, minute, second = '0'] = found;
  const short = Number(given) + (Number(given) < 69 ? 2000 : 1900);
  const year = given === '' ? new Date(now * 1000).getUTCFullYear() : given.length === 2 ? short : Number(given);
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  const time = Date.UTC(year, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) / 1000;
  return Math.max(0, time);
}
