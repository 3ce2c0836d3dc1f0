/** `stat`: what is known of a file, in a format of the caller. */

import { C_ESCAPES } from './c-escapes.ts';
import { diskBlocks, type FileStatus, inodeOf } from './command-files.ts';
import { textOfMoment } from './date/date-format.ts';
import { kindWords, modeLetters, OWNER, rawMode } from './file-words.ts';
import { type CommandCall, inQuotes, type OwnCommand, reasonOf } from './own-command.ts';

const TIME = '%Y-%m-%d %H:%M:%S.%N %z';
const DEVICE = 1;
const WHOLE = `  File: %N
  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F
Device: %Hd,%Ld\tInode: %-10i  Links: %h
Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
`;
const TERSE = '%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n';
const BLOCK = 4096;
const WHOLE_SYSTEM = `  File: "%n"
    ID: %-8i Namelen: %-7l Type: %T
Block size: %-10s Fundamental block size: %S
Blocks: Total: %-10b Free: %-10f Available: %a
Inodes: Total: %-10c Free: %d
`;
const TERSE_SYSTEM = '%n %i %l %t %s %S %b %f %a %c %d\n';
const ESCAPES: Readonly<Record<string, string>> = { ...C_ESCAPES, '"': '"' };
const DIRECTIVE = /%([-+ 0#']*)(\d*)(?:\.(\d+))?([HL]?)([A-Za-z%])/g;

function fieldOf(letter: string, name: string, info: FileStatus, call: CommandCall): string | null {
  switch (letter) {
    case '%':
      return '%';
    case 'a':
      return info.mode.toString(8);
    case 'A':
      return modeLetters(info);
    case 'b':
      return String(diskBlocks(info));
    case 'B':
      return '512';
    case 'C':
      return '?';
    case 'd':
      return String(DEVICE);
    case 'D':
      return DEVICE.toString(16);
    case 'f':
      return rawMode(info).toString(16);
    case 'F':
      return kindWords(info);
    case 'g':
    case 'u':
      return String(OWNER.id);
    case 'G':
    case 'U':
      return OWNER.name;
    case 'h':
      return String(call.files.links(info));
    case 'i':
      return String(inodeOf(info));
    case 'm':
      return '/';
    case 'n':
      return name;
    case 'N':
      return info.kind === 'link' ? `${inQuotes(name)} -> ${inQuotes(info.target ?? '')}` : inQuotes(name);
    case 'o':
      return '4096';
    case 'r':
    case 'R':
    case 't':
    case 'T':
      return '0';
    case 's':
      return String(info.size);
    case 'w':
      return '-';
    case 'W':
      return '0';
    case 'x':
    case 'y':
    case 'z':
      return textOfMoment(TIME, info.mtime * 1000, 'UTC');
    case 'X':
    case 'Y':
    case 'Z':
      return String(info.mtime);
    default:
      return null;
  }
}

function formatted(format: string, name: string, info: FileStatus, call: CommandCall, plainName = false): string {
  return format.replaceAll(
    DIRECTIVE,
    (_, flags: string, width: string, precision: string, half: string, letter: string) => {
      if (half !== '' && letter === 'd') return half === 'H' ? '0' : String(DEVICE);
      const shown = plainName && letter === 'N' && info.kind !== 'link' ? name : fieldOf(letter, name, info, call);
      const value = plainName && letter === 'N' && info.kind === 'link' ? `${name} -> ${info.target ?? ''}` : shown;
      if (value === null) return '?';
      const cut = precision === undefined ? value : value.slice(0, Number(precision));
      const more = flags.includes('#') && letter === 'a' ? `0${cut}` : cut;
      if (flags.includes('-')) return more.padEnd(Number(width));
      return more.padStart(Number(width), flags.includes('0') ? '0' : ' ');
    },
  );
}

function unescaped(format: string): string {
  return format.replaceAll(
    /\\(?:([0-7]{1,3})|x([\da-fA-F]{1,2})|(.))/g,
    (whole, octal?: string, hex?: string, one?: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      return ESCAPES[one ?? ''] ?? whole;
    },
  );
}

/** `stat -f`: the room that the volumes share, in blocks of 4096 bytes. A sandbox counts no inodes. */
function printFileSystem(call: CommandCall, name: string, format: string): void {
  try {
    call.files.info(call.path(name));
  } catch (error) {
    call.fail(`cannot read file system information for ${inQuotes(name)}: ${reasonOf(error)}`);
    return;
  }
  const { limit, free } = call.room();
  const blocks = (bytes: number) => String(Math.floor(bytes / BLOCK));
  const known: Readonly<Record<string, string>> = {
    ...{ '%': '%', n: name, i: '0', l: '255', T: 'sqlite', t: '0', s: String(BLOCK), S: String(BLOCK) },
    ...{ b: blocks(limit), f: blocks(free), a: blocks(free), c: '0', d: '0' },
  };
  call.print(
    format.replaceAll(DIRECTIVE, (_, flags: string, width: string, precision: string, half: string, letter: string) => {
      const value = half === '' ? (known[letter] ?? '?') : '?';
      const cut = precision === undefined ? value : value.slice(0, Number(precision));
      if (flags.includes('-')) return cut.padEnd(Number(width));
      return cut.padStart(Number(width), flags.includes('0') ? '0' : ' ');
    }),
  );
}

export const stat: OwnCommand = {
  main(call) {
    const { options, operands } = call.options({
      letters: 'Lc:ft',
      long: {
        'cached=': 'cached',
        dereference: 'L',
        'file-system': 'f',
        'format=': 'c',
        'printf=': 'printf',
        terse: 't',
      },
    });
    if (operands.length === 0) call.usage('missing operand');
    const has = (key: string) => options.some((option) => option.key === key);
    const last = options.findLast(({ key }) => key === 'c' || key === 'printf');
    const given = last?.value ?? null;
    const format = given === null ? null : last?.key === 'printf' ? unescaped(given) : `${given}\n`;
    if (has('f')) {
      for (const name of operands) printFileSystem(call, name, format ?? (has('t') ? TERSE_SYSTEM : WHOLE_SYSTEM));
      return undefined;
    }
    for (const name of operands) {
      try {
        const info = call.files.info(call.path(name), has('L'));
        const text =
          format === null
            ? formatted(has('t') ? TERSE : WHOLE, name, info, call, true)
            : formatted(format, name, info, call);
        call.print(text);
      } catch (error) {
        call.fail(`cannot statx '${name}': ${reasonOf(error)}`);
      }
    }
    return undefined;
  },
};
