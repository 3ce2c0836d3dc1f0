/** `numfmt`: numbers with and without units. */
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';

const UNITS = 'KMGTPEZY';
const SCALES = ['none', 'si', 'iec', 'iec-i'];
const ROUNDINGS: Readonly<Record<string, (value: number) => number>> = {
  up: Math.ceil,
  down: Math.floor,
  'from-zero': (value) => Math.sign(value) * Math.ceil(Math.abs(value)),
  'towards-zero': Math.trunc,
  nearest: (value) => Math.sign(value) * Math.round(Math.abs(value)),
};
const FAILED = 2;
/** Digits that a number may have without a unit, as the real one's. */
const MOST_DIGITS = 18;

class NumberError extends Error {}

interface Form {
  from: string;
  to: string;
  fromUnit: number;
  toUnit: number;
  round: (value: number) => number;
  suffix: string;
  padding: number | null;
  /** Of `--format`: what stands around the number, its width and its digits. */
  format: { before: string; flags: string; width: number; digits: number | null; after: string } | null;
  delimiter: string | null;
}

export const numfmt: OwnCommand = {
  async main(call: CommandCall) {
    // A negative number is no option.
    const isNumber = (arg: string) => /^-[\d.]/.test(arg);
    const at = call.args.findIndex(isNumber);
    if (at !== -1 && !call.args.includes('--') && !/^-d$|^--[\w-]+$/.test(call.args[at - 1] ?? ''))
      call.args.splice(at, 0, '--');
    const { options, operands } = call.options({
      letters: 'd:z',
      long: {
        debug: 'debug',
        'delimiter=': 'd',
        'field=': 'field',
        'format=': 'format',
        'from=': 'from',
        'from-unit=': 'from-unit',
        grouping: 'grouping',
        'header=?': 'header',
        'invalid=': 'invalid',
        'padding=': 'padding',
        'round=': 'round',
        'suffix=': 'suffix',
        'to=': 'to',
        'to-unit=': 'to-unit',
        'zero-terminated': 'z',
      },
    });
    const given = (key: string) => options.findLast((option) => option.key === key);
    const textGiven = (key: string) => given(key)?.value ?? null;
    const one = (key: string, choices: readonly string[], fallback: string) => {
      const value = textGiven(key) ?? fallback;
      if (choices.includes(value)) return value;
      const list = choices.map((choice) => `\n  - ${marked(choice)}`).join('');
      return call.usage(`invalid argument ${marked(value)} for ${marked(`--${key}`)}\nValid arguments are:${list}`);
    };
    const unit = (key: string) => {
      const match = /^(\d+)(?:([KMGTPEZY])(i?))?$/.exec(textGiven(key) ?? '1');
      if (!match || Number(match[1]) === 0) call.end(`invalid unit size: ${marked(textGiven(key) ?? '')}`);
      const [, digits, letter, binary] = match;
      return Number(digits) * (letter === undefined ? 1 : (binary ? 1024 : 1000) ** (UNITS.indexOf(letter) + 1));
    };
    const padding = textGiven('padding');
    if (padding !== null && !/^[+-]?0*[1-9]\d*$/.test(padding)) call.end(`invalid padding value ${marked(padding)}`);
    const form: Form = {
      from: one('from', [...SCALES.slice(0, 1), 'auto', ...SCALES.slice(1)], 'none'),
      to: one('to', SCALES, 'none'),
      fromUnit: unit('from-unit'),
      toUnit: unit('to-unit'),
      round: ROUNDINGS[one('round', Object.keys(ROUNDINGS), 'from-zero')] ?? Math.ceil,
      suffix: textGiven('suffix') ?? '',
      padding: padding === null ? null : Number(padding),
      format: formatOf(call, textGiven('format')),
      delimiter: textGiven('d'),
    };
    if (given('grouping') && form.to !== 'none') call.end('grouping cannot be combined with --to');
    const mode = one('invalid', ['abort', 'fail', 'warn', 'ignore'], 'abort');
    const isWanted = fieldsOf(call, textGiven('field') ?? '1');
    const convert = (line: string): void => {
      try {
        call.print(`${lineOf(line, form, isWanted, operands.length > 0)}${given('z') ? '\0' : '\n'}`);
      } catch (error) {
        if (!(error instanceof NumberError)) throw error;
        if (mode === 'abort') call.end(error.message, FAILED);
        if (mode === 'fail') call.fail(error.message, FAILED);
        if (mode === 'warn') call.warn(`numfmt: ${error.message}\n`);
        call.print(`${line}\n`);
      }
    };
    if (operands.length > 0) {
      for (const operand of operands) convert(operand);
      return undefined;
    }
    const text = (await call.input('-')).toString();
    const end = given('z') ? '\0' : '\n';
    const lines = text === '' ? [] : (text.endsWith(end) ? text.slice(0, -1) : text).split(end);
    const heading = given('header') ? Number(textGiven('header') ?? 1) : 0;
    for (const [number, line] of lines.entries()) {
      await call.turn();
      if (number < heading) call.print(`${line}\n`);
      else convert(line);
    }
    return undefined;
  },
};

function formatOf(call: CommandCall, text: string | null): Form['format'] {
  if (text === null) return null;
  const match = /^((?:[^%]|%%)*)%([-'0]*)(\d*)(?:\.(\d+))?f((?:[^%]|%%)*)$/s.exec(text);
  if (!match) call.end(`invalid format ${marked(text)}, directive must be %[0]['][-][N][.][N]f`);
  const [, before = '', flags = '', width = '', digits, after = ''] = match;
  const plain = (part: string) => part.replaceAll('%%', '%');
  return {
    before: plain(before),
    flags,
    width: Number(width),
    digits: digits === undefined ? null : Number(digits),
    after: plain(after),
  };
}

/** Whether a field is wanted, by its number. */
function fieldsOf(call: CommandCall, list: string): (field: number) => boolean {
  const ranges = list.split(',').map((part) => {
    const match = /^(\d*)(-?)(\d*)$/.exec(part);
    if (!match || part === '') return call.end(`invalid field value ${marked(list)}`);
    const [, from = '', dash = '', to = ''] = match;
    if (dash === '') return [Number(from), Number(from)] as const;
    return [from === '' ? 1 : Number(from), to === '' ? Number.POSITIVE_INFINITY : Number(to)] as const;
  });
  return (field) => ranges.some(([from, to]) => field >= from && field <= to);
}

function lineOf(line: string, form: Form, isWanted: (field: number) => boolean, isOperand: boolean): string {
  if (form.delimiter !== null)
    return line
      .split(form.delimiter)
      .map((cell, at) => (isWanted(at + 1) ? cellOf(cell.trim(), form, null) : cell))
      .join(form.delimiter);
  let field = 0;
  return line.replaceAll(/(\s*)(\S+)/g, (whole, blanks: string, cell: string) => {
    field += 1;
    if (!isWanted(field)) return field > 1 ? ` ${whole.slice(1)}` : whole;
    // A number keeps the width that blanks before it gave it.
    const width = blanks.length + cell.length - (field > 1 ? 1 : 0);
    const isAligned = blanks.length > (field > 1 ? 1 : 0) && form.padding === null && !isOperand;
    return `${field > 1 ? ' ' : ''}${cellOf(cell, form, isAligned ? width : null)}`;
  });
}

function cellOf(given: string, form: Form, width: number | null): string {
  const bare = form.suffix !== '' && given.endsWith(form.suffix) ? given.slice(0, -form.suffix.length) : given;
  const { value, digits } = numberOf(bare, form.from);
  const shown = `${textOf((value * form.fromUnit) / form.toUnit, digits, form)}${form.suffix}`;
  const { format } = form;
  const padded = format === null ? shown : inFormat(shown, format);
  const most = form.padding ?? width;
  const whole = most === null ? padded : most < 0 ? padded.padEnd(-most) : padded.padStart(most);
  return format === null ? whole : `${format.before}${whole}${format.after}`;
}

function inFormat(text: string, { flags, width }: NonNullable<Form['format']>): string {
  if (flags.includes('-')) return text.padEnd(width);
  return flags.includes('0') ? text.padStart(width, '0') : text.padStart(width);
}

function numberOf(text: string, from: string): { value: number; digits: number } {
  const match = /^(-?\d+(?:\.(\d+))?)(.*)$/s.exec(text);
  if (!match) throw new NumberError(`invalid number: ${marked(text)}`);
  const [, number = '', decimals = '', rest = ''] = match;
  if (number.replace(/\D/g, '').length > MOST_DIGITS && from === 'none')
    throw new NumberError(`value too large to be converted: ${marked(text)}`);
  const power = rest === '' ? 0 : UNITS.indexOf((rest[0] ?? '').replace('k', 'K')) + 1;
  if (rest === '') return { value: Number(number), digits: decimals.length };
  if (power === 0) throw new NumberError(`invalid suffix in input: ${marked(text)}`);
  if (from === 'none')
    throw new NumberError(
      rest[0] === 'k'
        ? `invalid suffix in input: ${marked(text)}`
        : `rejecting suffix in input: ${marked(text)} (consider using --from)`,
    );
  const hasI = rest[1] === 'i';
  if (from === 'iec-i' && !hasI) throw new NumberError(`missing 'i' suffix in input: ${marked(text)} (e.g Ki/Mi/Gi)`);
  const more = hasI && (from === 'auto' || from === 'iec-i') ? rest.slice(2) : rest.slice(1);
  if (more !== '') throw new NumberError(`invalid suffix in input ${marked(text)}: ${marked(more)}`);
  const base = from === 'iec' || from === 'iec-i' || (from === 'auto' && hasI) ? 1024 : 1000;
  return { value: Number(number) * base ** power, digits: 0 };
}

function textOf(value: number, digits: number, { to, round, format }: Form): string {
  const decimals = format?.digits ?? null;
  const rounded = (number: number, places: number) => {
    const factor = 10 ** places;
    return round(Number((number * factor).toPrecision(15))) / factor;
  };
  if (to === 'none') {
    if (Math.abs(value) >= 1e18)
      throw new NumberError(`value too large to be printed: '${exponential(value)}' (consider using --to)`);
    const places = decimals ?? digits;
    return rounded(value, places).toFixed(places);
  }
  const base = to === 'si' ? 1000 : 1024;
  let [power, scaled] = [0, value];
  while (Math.abs(scaled) >= base && power < UNITS.length) {
    scaled /= base;
    power += 1;
  }
  const places = () => decimals ?? (power > 0 && Math.abs(scaled) < 10 ? 1 : 0);
  scaled = rounded(scaled, places());
  if (Math.abs(scaled) >= base && power < UNITS.length) {
    scaled /= base;
    power += 1;
  }
  const shown = scaled.toFixed(places());
  return power === 0 ? shown : `${shown}${UNITS[power - 1]}${to === 'iec-i' ? 'i' : ''}`;
}

function exponential(value: number): string {
  const [mantissa = '', power = ''] = value.toExponential(5).split('e');
  return `${Number(mantissa)}e${power[0]}${power.slice(1).padStart(2, '0')}`;
}
