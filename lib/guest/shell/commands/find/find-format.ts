/** The formats of `find -printf`. */
import { C_ESCAPES } from '../c-escapes.ts';
import { diskBlocks, inodeOf } from '../command-files.ts';
import { textOfMoment } from '../date/date-format.ts';
import { kindLetter, modeLetters, OWNER } from '../file-words.ts';
import type { CommandCall } from '../own-command.ts';
import { baseName, type FindFile } from './find-plan.ts';

const FRACTION = '.0000000000';
/** Times as `find` writes them: with a fraction, where they have seconds. */
const TIMES: Readonly<Record<string, string>> = {
  '+': `%F+%T${FRACTION}`,
  c: `%a %b %e %T${FRACTION} %Y`,
  r: `%I:%M:%S${FRACTION} %p`,
  S: `%S${FRACTION}`,
  T: `%T${FRACTION}`,
  X: `%T${FRACTION}`,
};
const PIECE = /\\(?:([0-7]{1,3})|(.))|%([-+ 0#]*)(\d*)(?:\.(\d+))?([ABCT])?(.)|([^\\%]+)|(.)/gs;

/** What a format prints for a file. */
export function formatFound(format: string, file: FindFile, call: CommandCall): string {
  let text = '';
  for (const [whole, octal, escaped, flags = '', width, , time, directive, plain] of format.matchAll(PIECE)) {
    if (plain !== undefined) text += plain;
    else if (octal !== undefined) text += String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    else if (escaped === 'c') return text;
    else if (escaped !== undefined) {
      if (C_ESCAPES[escaped] === undefined) call.warn(`find: warning: unrecognized escape \`\\${escaped}'\n`);
      text += C_ESCAPES[escaped] ?? `\\${escaped}`;
    } else if (directive === undefined) text += whole;
    else if (directive === '%' && time === undefined) text += '%';
    else {
      const letters = (time ?? '') + directive;
      const value = time === undefined ? fieldOf(directive, file, call, flags) : timeOf(letters, file);
      if (value === null) {
        call.warn(`find: warning: unrecognized format directive \`%${letters}'\n`);
        text += whole;
      } else if (width === undefined || width === '') text += value;
      else {
        const zero = flags.includes('0') && !flags.includes('-');
        text += flags.includes('-') ? value.padEnd(Number(width)) : value.padStart(Number(width), zero ? '0' : ' ');
      }
    }
  }
  return text;
}

function timeOf(letters: string, { info }: FindFile): string | null {
  const letter = letters[1] ?? '';
  if (letters.startsWith('B')) return '';
  if (letter === '@') return `${info.mtime}${FRACTION}`;
  return timeText(letter, info.mtime);
}

/** A time in epoch seconds by one letter of strftime; null when the letter is none. */
function timeText(letter: string, seconds: number): string | null {
  const written = `%${letter}`;
  const text = textOfMoment(TIMES[letter] ?? written, seconds * 1000, 'UTC');
  return text === written ? null : text;
}

function fieldOf(directive: string, file: FindFile, call: CommandCall, flags: string): string | null {
  const { info, path } = file;
  switch (directive) {
    case 'a':
    case 'c':
    case 't':
      return timeText('c', info.mtime);
    case 'b':
      return String(diskBlocks(info));
    case 'd':
      return String(file.depth);
    case 'D':
      return '1';
    case 'f':
      return baseName(path);
    case 'F':
      return 'vfs';
    case 'g':
    case 'u':
      return OWNER.name;
    case 'G':
    case 'U':
      return String(OWNER.id);
    case 'h':
      return aboveOf(path);
    case 'H':
      return file.root;
    case 'i':
      return String(inodeOf(info));
    case 'k':
      return String(diskBlocks(info) / 2);
    case 'l':
      return info.kind === 'link' ? (info.target ?? '') : '';
    case 'm':
      return (flags.includes('#') ? '0' : '') + info.mode.toString(8);
    case 'M':
      return modeLetters(info);
    case 'n':
      return String(call.files.links(info));
    case 'p':
      return path;
    case 'P':
      return path === file.root ? '' : path.slice(file.root.length + (file.root.endsWith('/') ? 0 : 1));
    case 's':
      return String(info.size);
    case 'S':
      return info.size === 0 ? '1' : String(Number(((diskBlocks(info) * 512) / info.size).toPrecision(6)));
    case 'y':
      return kindLetter(info);
    case 'Y':
      return targetKind(file, call);
    default:
      return null;
  }
}

/** The kind of what a link leads to: N for nothing, L for a loop. */
function targetKind({ info, absolute }: FindFile, call: CommandCall): string {
  if (info.kind !== 'link') return kindLetter(info);
  try {
    const target = call.files.look(absolute);
    return target === null ? 'N' : kindLetter(target);
  } catch {
    return 'L';
  }
}

function aboveOf(path: string): string {
  const bare = path.replace(/(?<=.)\/+$/, '');
  const slash = bare.lastIndexOf('/');
  return slash === -1 ? '.' : slash === 0 ? '' : bare.slice(0, slash);
}
