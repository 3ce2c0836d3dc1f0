/**
 * A list's filter as one line of text: `idle:>1h tenant:northwind state:frozen label:env=prod lighthouse`. A word
 * without `name:` is searched for, and any other name is the key of a label, as its chip prints it: `customer:ada`.
 * Pure, and safe for the browser: console and CLI read and write the same language.
 */
import { STATES } from '../lifecycle/state-map.ts';
import { FAULTS, PENDINGS, THERMALS } from '../lifecycle/words.ts';

/** The list's parameters that a typed filter can say, as they stand in an address. */
export const TYPED_PARAMETERS = [
  ...['tenant', 'state', 'thermal', 'fault', 'name', 'label', 'pending'],
  ...['idle_over', 'idle_under', 'q'],
] as const;

export interface TypedFilter {
  /** The list's parameters; they are complete only without complaints. */
  parameters: Record<string, string>;
  /** What is wrong, each in one sentence. */
  complaints: string[];
}

/** The parameters that one term says, or the complaint about it. */
type Reading = Record<string, string> | { complaint: string };

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const UNITS: Readonly<Record<string, number>> = {
  ...{ s: 1, sec: 1, m: MINUTE, min: MINUTE },
  ...{ h: HOUR, d: DAY, w: 7 * DAY },
};

/** Seconds of `90s`, `15m`, `1h30m`, `2d`, `1w`; null for anything else. */
function parseDuration(text: string): number | null {
  if (!/^(\d{1,6}[a-z]+)+$/.test(text)) return null;
  let seconds = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+)([a-z]+)/g)) {
    const size = UNITS[unit];
    if (size === undefined) return null;
    seconds += Number(count) * size;
  }
  return seconds;
}

/** A duration as a typed filter says it, exactly: `1h`, `90s`. */
function shortDuration(seconds: number): string {
  for (const [size, unit] of [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'm'],
  ] as const) {
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

function oneOf(name: string, parameter: string, choices: readonly string[]): (value: string) => Reading {
  const words = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  return (value) =>
    choices.includes(value.toLowerCase())
      ? { [parameter]: value.toLowerCase() }
      : { complaint: `“${name}:${value}” is no ${name}: it is ${words}.` };
}

function readIdle(value: string): Reading {
  const [, sign = '>', text = ''] = /^(>=?|<=?)?(.*)$/s.exec(value) ?? [];
  const seconds = parseDuration(text.trim().toLowerCase());
  if (seconds === null)
    return { complaint: `“idle:${value}” is no length of time: write idle:>1h, idle:<15m or idle:>2d.` };
  return { [sign.startsWith('>') ? 'idle_over' : 'idle_under']: String(seconds) };
}

function readLabel(value: string): Reading {
  const [, key, label] = /^([^=:]+)[=:](.*)$/s.exec(value) ?? [];
  return key === undefined
    ? { complaint: `“label:${value}” needs a key and a value: write label:env=prod.` }
    : { label: `${key}:${label}` };
}

const TERMS: Readonly<Record<string, (value: string) => Reading>> = {
  idle: readIdle,
  tenant: (value) => ({ tenant: value }),
  state: oneOf('state', 'state', STATES),
  process: oneOf('process', 'thermal', THERMALS),
  fault: oneOf('fault', 'fault', FAULTS),
  label: readLabel,
  name: (value) => ({ name: value }),
  pending: oneOf('pending', 'pending', PENDINGS),
};

/** Names of terms that are no parameters of the list: an address may have them all the same, as they are typed. */
export const TERMS_ALONE: readonly string[] = Object.keys(TERMS).filter(
  (name) => !(TYPED_PARAMETERS as readonly string[]).includes(name),
);

/** A term: an optional `name:`, then a value, any part of which may be quoted. */
const TERM = /(?:"[^"]*(?:"|$)|[^\s"])+/g;

/** Whether a search finds anything by a text: it looks for letters and digits alone. */
function isSearchable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.normalize('NFKD'));
}

/** Parses a typed filter. Nothing that it does not understand widens the list: it is a label, or a complaint. */
export function parseTypedFilter(text: string): TypedFilter {
  const parameters: Record<string, string> = {};
  const complaints: string[] = [];
  const words: string[] = [];
  for (const [term] of text.matchAll(TERM)) {
    const [, name, quoted = ''] = /^([^\s":]*):(.*)$/s.exec(term) ?? [];
    if (name === undefined) {
      words.push(term.replaceAll('"', ''));
      continue;
    }
    const reading = readTerm(name, quoted.replaceAll('"', '').trim());
    if (typeof reading.complaint === 'string') complaints.push(reading.complaint);
    else {
      for (const [parameter, value] of Object.entries(reading)) {
        if (parameter in parameters) {
          complaints.push(
            parameter === 'label' ? `“${term}”: a list has one label.` : `“${name}:” is there twice: a list has one.`,
          );
        }
        parameters[parameter] = value;
      }
    }
  }
  const q = words.join(' ').trim();
  if (q !== '' && !isSearchable(q)) complaints.push(`“${q}” has no letter and no digit, and only those are found.`);
  return { parameters: q === '' ? parameters : { ...parameters, q }, complaints };
}

function readTerm(name: string, value: string): Reading {
  const known = name.toLowerCase();
  if (value === '') return { complaint: `“${name}:” needs a value.` };
  if (Object.hasOwn(TERMS, known)) return TERMS[known]?.(value) ?? {};
  return name === '' || value.startsWith('//')
    ? { complaint: `“${name}:${value}” is no filter. To search for it, put it in quotes.` }
    : { label: `${name}:${value}` };
}

/** The typed filter that says these parameters of a list; it leaves out those that it has no words for. */
export function typedFilterOf(parameters: Readonly<Record<string, string>>): string {
  const { q, label, thermal, idle_over: idleOver, idle_under: idleUnder, ...others } = parameters;
  const idle = (sign: string, seconds: string | undefined) =>
    seconds === undefined || !/^\d+$/.test(seconds) ? [] : [`idle:${sign}${shortDuration(Number(seconds))}`];
  const same = ['tenant', 'state', 'fault', 'name', 'pending'].flatMap((name) => {
    const value = others[name];
    return value === undefined ? [] : [`${name}:${quotedWhenNeeded(value)}`];
  });
  return [
    ...idle('>', idleOver),
    ...idle('<', idleUnder),
    ...same,
    ...(thermal === undefined ? [] : [`process:${thermal}`]),
    ...(label === undefined ? [] : [`label:${quotedWhenNeeded(label.replace(':', '='))}`]),
    ...(q === undefined ? [] : q.split(/\s+/).map((word) => (word.includes(':') ? `"${word}"` : word))),
  ].join(' ');
}

function quotedWhenNeeded(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}
