/** Tests of `find` that need only the status of a file. Pure. */
import { parseMode } from '../file-words.ts';
import { marked } from '../own-command.ts';
import type { RegexSyntax } from '../posix-regex.ts';
import { FindError, type FindTest } from './find-plan.ts';

const UNITS: Readonly<Record<string, number>> = {
  '': 512,
  b: 512,
  c: 1,
  w: 2,
  k: 1024,
  M: 1_048_576,
  G: 1_073_741_824,
};
export const FIND_SYNTAXES: Readonly<Record<string, RegexSyntax>> = {
  awk: 'extended',
  'posix-awk': 'extended',
  egrep: 'extended',
  'posix-egrep': 'extended',
  'posix-extended': 'extended',
  'gnu-awk': 'extended',
  'posix-minimal-basic': 'basic',
  'posix-basic': 'basic',
  ed: 'basic',
  sed: 'basic',
  grep: 'basic',
  emacs: 'emacs',
  'findutils-default': 'emacs',
};

/** The test of `-size`. Throws a `FindError`. */
export function sizeTest(value: string): FindTest {
  const found = /^([+-]?)(\d+)([bcwkMG]?)$/.exec(value);
  if (found === null) throw new FindError(`Invalid argument \`${value}' to -size`);
  const unit = UNITS[found[3] ?? ''] ?? 512;
  return ({ info }) => compareNumbers(Math.ceil(info.size / unit), found[1] ?? '', Number(found[2]));
}

/** The test of `-perm`. Throws a `FindError`. */
export function permissionTest(value: string): FindTest {
  const prefix = /^[-/]/.exec(value)?.[0] ?? '';
  const bits = parseMode(value.slice(prefix.length), 0, false);
  if (bits === null) throw new FindError(`invalid mode ${marked(value)}`);
  return ({ info }) => {
    if (prefix === '-') return (info.mode & bits) === bits;
    return prefix === '/' ? bits === 0 || (info.mode & bits) !== 0 : info.mode === bits;
  };
}

/** Whether a value is more than, less than or exactly a number, as its sign says. */
export function compareNumbers(value: number, sign: string, number: number): boolean {
  return sign === '+' ? value > number : sign === '-' ? value < number : value === number;
}
