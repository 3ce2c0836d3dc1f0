/** `date`: a moment in the words of a format, at UTC or in the zone of TZ. */

import { requireUse } from '../../declared-uses.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { textOfMoment } from './date-format.ts';
import { nanosecondsIn, readDate } from './date-words.ts';
import { type TimeZone, UTC, zoneOf } from './time-zone.ts';

const DEFAULT_FORMAT = '%a %b %e %H:%M:%S %Z %Y';
const ISO: Readonly<Record<string, string>> = {
  date: '%Y-%m-%d',
  hours: '%Y-%m-%dT%H%:z',
  minutes: '%Y-%m-%dT%H:%M%:z',
  seconds: '%Y-%m-%dT%H:%M:%S%:z',
  ns: '%Y-%m-%dT%H:%M:%S,%N%:z',
};
const RFC_3339: Readonly<Record<string, string>> = {
  date: '%Y-%m-%d',
  seconds: '%Y-%m-%d %H:%M:%S%:z',
  ns: '%Y-%m-%d %H:%M:%S.%N%:z',
};

export const date: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'd:f:I::r:Rs:u',
      long: {
        'date=': 'd',
        'file=': 'f',
        'iso-8601=?': 'I',
        'reference=': 'r',
        'rfc-email': 'R',
        'rfc-2822': 'R',
        'rfc-3339=': '3339',
        'set=': 's',
        utc: 'u',
        universal: 'u',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const has = (key: string) => options.some((option) => option.key === key);
    if (has('s')) call.end('cannot set date: Operation not permitted');
    const [operand, extra] = operands;
    if (extra !== undefined) call.usage(`extra operand ‘${extra}’`);
    if (operand !== undefined && !operand.startsWith('+')) {
      if (/^\d+(\.\d+)?$/.test(operand)) call.end('cannot set date: Operation not permitted');
      call.end(`invalid date ‘${operand}’`);
    }
    const format =
      operand?.slice(1) ?? formatOf(call, has('R'), has('I') ? (value('I') ?? 'date') : null, value('3339'));
    const zone = has('u') ? UTC : zoneOf(call.context.exportedEnv?.TZ);
    const print = (moment: number, nanoseconds: number | null = null) =>
      call.print(`${textOfMoment(format, moment, zone, nanoseconds)}\n`);
    const file = value('f');
    if (file !== null) {
      for (const line of (await inputOf(call, file)).toString().replace(/\n$/, '').split('\n'))
        printWords(call, line, zone, print);
      return undefined;
    }
    const reference = value('r');
    const words = value('d');
    if (reference !== null) print(mtimeOf(call, reference));
    else if (words !== null) printWords(call, words, zone, print);
    else {
      requireUse(call, 'clock');
      print(Date.now());
    }
    return undefined;
  },
};

function formatOf(call: CommandCall, email: boolean, iso: string | null, rfc: string | null): string {
  if (email) return '%a, %d %b %Y %H:%M:%S %z';
  if (iso !== null) return named(call, ISO, iso, '--iso-8601');
  return rfc === null ? DEFAULT_FORMAT : named(call, RFC_3339, rfc, '--rfc-3339');
}

function named(call: CommandCall, formats: Readonly<Record<string, string>>, word: string, option: string): string {
  const found = Object.keys(formats).find((name) => name.startsWith(word));
  return formats[found ?? ''] ?? call.usage(`invalid argument ‘${word}’ for ‘${option}’`);
}

function printWords(
  call: CommandCall,
  words: string,
  zone: TimeZone,
  print: (moment: number, nanoseconds: number | null) => void,
): void {
  // What begins with a whole date or a number of seconds says nothing of today.
  if (!/^\s*(?:@\d|\d{4}-\d\d-\d\d)/.test(words)) requireUse(call, 'clock');
  const moment = readDate(words, Date.now(), zone);
  if (moment === null) call.fail(`invalid date ‘${words}’`);
  else print(moment, nanosecondsIn(words));
}

async function inputOf(call: CommandCall, name: string): Promise<Buffer> {
  try {
    return await call.input(name);
  } catch (error) {
    return call.end(`${name}: ${reasonOf(error)}`);
  }
}

function mtimeOf(call: CommandCall, name: string): number {
  try {
    return call.files.info(call.path(name)).mtime * 1000;
  } catch (error) {
    return call.end(`${name}: ${reasonOf(error)}`);
  }
}
