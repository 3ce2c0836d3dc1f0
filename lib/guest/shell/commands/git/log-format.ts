/** How a commit is printed: `oneline`, `medium` and their like, and the placeholders of `--format`. Pure. */
import type { CommandLine, OptionTable } from './command-line.ts';
import { fatal } from './git-error.ts';
import { laidOut } from './log-layout.ts';
import type { CommitObject, CommitPerson, TagObject } from './objects.ts';
import type { Repository } from './repository.ts';
import { commitOf, short } from './revisions.ts';
import { trailersOf } from './trailers.ts';
import { dateText, zonedDate } from './verbs/commit.ts';

export const LOG_FORMATS = {
  oneline: 'flag',
  'pretty,format': 'maybe',
  'abbrev-commit': 'flag',
  'no-abbrev-commit': 'flag',
  date: 'value',
  decorate: 'maybe',
  'no-decorate': 'flag',
} as const satisfies OptionTable;

const NAMES = ['oneline', 'short', 'medium', 'full', 'fuller', 'raw', 'reference'];

export interface LogFormat {
  name: string;
  /** Text with placeholders; null for a named format. */
  template: string | null;
  /** The template's texts are separated, not ended, by line breaks. */
  separates: boolean;
  oneLine: boolean;
  /** `oneline`: nothing stands between a commit and its diff. */
  isBrief: boolean;
  abbreviates: boolean;
  date: string;
  decorates: boolean;
  /** What stands between two commits. */
  between: string;
}

export function logFormat(line: CommandLine): LogFormat {
  const isOneLine = line.has('oneline');
  const given = line.value('format') ?? (isOneLine ? 'oneline' : 'medium');
  const [, kind, text] = /^(t?format):(.*)$/s.exec(given) ?? [];
  const template = text ?? (given.includes('%') || given === '' ? given : null);
  if (template === null && !NAMES.includes(given)) throw fatal(`invalid --pretty format: ${given}`);
  const separates = kind === 'format';
  const decorate = line.value('decorate');
  const isDecorated = decorate !== undefined && decorate !== 'no' && !line.has('no-decorate');
  const oneLine = template !== null || given === 'oneline' || given === 'reference';
  return {
    name: given,
    template: given === 'reference' ? '%h (%s, %as)' : template,
    separates,
    oneLine,
    isBrief: given === 'oneline',
    abbreviates: (isOneLine || line.has('abbrev-commit')) && !line.has('no-abbrev-commit'),
    date: line.value('date') ?? 'default',
    decorates: isDecorated || /%[dD]/.test(template ?? ''),
    between: separates || !oneLine ? '\n' : '',
  };
}

export function formattedCommit(commit: CommitObject, format: LogFormat, refs: readonly string[]): string {
  const names = format.decorates && refs.length > 0 ? ` (${refs.join(', ')})` : '';
  if (format.template === '') return '';
  if (format.template !== null)
    return placeholders(format.template, commit, format, refs) + (format.separates ? '' : '\n');
  const oid = format.abbreviates ? short(commit.oid) : commit.oid;
  const lines = commit.message.replace(/\n+$/, '').split('\n');
  if (format.name === 'oneline') return `${oid}${names} ${subjectOf(commit)}\n`;
  const merge = commit.parents.length > 1 ? [`Merge: ${commit.parents.map(short).join(' ')}`] : [];
  const who = (label: string, { name, email }: CommitPerson) => `${label}${name} <${email}>`;
  const date = (person: CommitPerson) => formattedDate(person, format.date);
  const { author, committer } = commit;
  const heads: Record<string, string[]> = {
    short: [...merge, who('Author: ', author)],
    medium: [...merge, who('Author: ', author), `Date:   ${date(author)}`],
    full: [...merge, who('Author: ', author), who('Commit: ', committer)],
    fuller: [
      ...merge,
      who('Author:     ', author),
      `AuthorDate: ${date(author)}`,
      who('Commit:     ', committer),
      `CommitDate: ${date(committer)}`,
    ],
    raw: [
      `tree ${commit.tree}`,
      ...commit.parents.map((parent) => `parent ${parent}`),
      `author ${author.name} <${author.email}> ${author.seconds} ${author.zone}`,
      `committer ${committer.name} <${committer.email}> ${committer.seconds} ${committer.zone}`,
    ],
  };
  const body = format.name === 'short' ? [subjectOf(commit)] : lines;
  return [`commit ${oid}${names}`, ...(heads[format.name] ?? []), '', ...body.map((text) => `    ${text}`)]
    .map((text) => `${text}\n`)
    .join('');
}

export function tagText({ name, tagger, message }: TagObject, format: LogFormat): string {
  const date = format.template === null ? `Date:   ${formattedDate(tagger, format.date)}\n` : '';
  return `tag ${name}\nTagger: ${tagger.name} <${tagger.email}>\n${date}\n${message}${format.template === null ? '\n' : ''}`;
}

/** The first paragraph in one line. */
export function subjectOf({ message }: Pick<CommitObject, 'message'>): string {
  return (
    message
      .replace(/^\n+/, '')
      .split(/\n\s*\n/)[0]
      ?.replaceAll('\n', ' ')
      .trim() ?? ''
  );
}

function bodyOf({ message }: CommitObject): string {
  const text = message.replace(/^\n+/, '');
  const end = /\n\s*\n/.exec(text);
  return end === null ? '' : text.slice(end.index + end[0].length);
}

function placeholders(template: string, commit: CommitObject, format: LogFormat, refs: readonly string[]): string {
  const { author, committer, parents, tree, oid } = commit;
  const values: Record<string, () => string> = {
    H: () => oid,
    h: () => short(oid),
    T: () => tree,
    t: () => short(tree),
    P: () => parents.join(' '),
    p: () => parents.map(short).join(' '),
    s: () => subjectOf(commit),
    f: () =>
      subjectOf(commit)
        .replaceAll(/[^A-Za-z0-9._]+/g, '-')
        .replaceAll(/^-+|-+$/g, ''),
    b: () => bodyOf(commit),
    B: () => commit.message,
    d: () => (refs.length > 0 ? ` (${refs.join(', ')})` : ''),
    D: () => refs.join(', '),
    n: () => '\n',
    '%': () => '%',
    e: () => '',
    N: () => '',
    m: () => '>',
    ...person('a', author, format.date),
    ...person('c', committer, format.date),
  };
  return laidOut(template, (key) => {
    if (key.startsWith('C')) return '';
    if (key.startsWith('x')) return String.fromCharCode(Number.parseInt(key.slice(1), 16));
    if (key.startsWith('(')) return trailersOf(commit.message, key.slice('(trailers'.length, -1).replace(/^:/, ''));
    return values[key]?.() ?? null;
  });
}

function person(
  letter: string,
  { name, email, seconds, zone }: CommitPerson,
  date: string,
): Record<string, () => string> {
  const as = (kind: string) => () => formattedDate({ name, email, seconds, zone }, kind);
  const fields: Record<string, () => string> = {
    n: () => name,
    N: () => name,
    e: () => email,
    E: () => email,
    l: () => email.split('@')[0] ?? '',
    L: () => email.split('@')[0] ?? '',
    d: as(date),
    D: as('rfc'),
    r: as('relative'),
    t: () => String(seconds),
    i: as('iso'),
    I: as('iso-strict'),
    s: as('short'),
  };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [letter + key, value]));
}

/** A date as `--date` names it. Throws for a name that is not known. */
export function formattedDate({ seconds, zone }: CommitPerson, kind: string): string {
  const at = zonedDate(seconds, zone).toISOString();
  const [day, time] = [at.slice(0, 10), at.slice(11, 19)];
  switch (kind) {
    case 'default':
      return dateText(seconds, zone);
    case 'short':
      return day;
    case 'iso':
    case 'iso8601':
      return `${day} ${time} ${zone}`;
    case 'iso-strict':
    case 'iso8601-strict':
      return `${day}T${time}${zone === '+0000' ? '+00:00' : `${zone.slice(0, 3)}:${zone.slice(3)}`}`;
    case 'raw':
      return `${seconds} ${zone}`;
    case 'unix':
      return String(seconds);
    case 'rfc':
    case 'rfc2822': {
      const [weekday, month, date, clock, year] = dateText(seconds, zone).split(' ');
      return `${weekday}, ${date} ${month} ${year} ${clock} ${zone}`;
    }
    case 'relative':
      return relativeDate(Math.floor(Date.now() / 1000) - seconds);
    default:
      if (kind.startsWith('format:')) return strftime(kind.slice(7), seconds, zone);
      throw fatal(`unknown date format ${kind}`);
  }
}

function strftime(template: string, seconds: number, zone: string): string {
  const at = zonedDate(seconds, zone).toISOString();
  const fields: Record<string, string> = {
    Y: at.slice(0, 4),
    m: at.slice(5, 7),
    d: at.slice(8, 10),
    H: at.slice(11, 13),
    M: at.slice(14, 16),
    S: at.slice(17, 19),
    F: at.slice(0, 10),
    T: at.slice(11, 19),
    z: zone,
    s: String(seconds),
    y: at.slice(2, 4),
    '%': '%',
  };
  return template.replaceAll(/%([A-Za-z%])/g, (whole, letter: string) => fields[letter] ?? whole);
}

/** As git rounds it. */
function relativeDate(ago: number): string {
  const words = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  if (ago < 0) return 'in the future';
  if (ago < 90) return words(ago, 'second');
  const minutes = Math.floor((ago + 30) / 60);
  if (minutes < 90) return words(minutes, 'minute');
  const hours = Math.floor((minutes + 30) / 60);
  if (hours < 36) return words(hours, 'hour');
  const days = Math.floor((hours + 12) / 24);
  if (days < 14) return words(days, 'day');
  if (days < 70) return words(Math.floor((days + 3) / 7), 'week');
  if (days < 365) return words(Math.floor((days + 15) / 30), 'month');
  return words(Math.floor((days + 183) / 365), 'year');
}

/** Names of branches and tags by commit, as `--decorate` shows them. */
export async function decorations(repository: Repository): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const add = (oid: string | null, name: string) => {
    if (oid !== null) found.set(oid, [...(found.get(oid) ?? []), name]);
  };
  const current = await repository.currentBranch();
  const head = await repository.headCommit();
  add(head, current === null ? 'HEAD' : `HEAD -> ${current}`);
  for (const name of await repository.referencesBelow('refs/tags')) {
    const oid = await repository.reference(`refs/tags/${name}`);
    if (oid !== null) add(await commitOf(repository, oid), `tag: ${name}`);
  }
  for (const name of await repository.referencesBelow('refs/remotes'))
    add(await repository.reference(`refs/remotes/${name}`), name);
  for (const name of await repository.referencesBelow('refs/heads'))
    if (name !== current) add(await repository.reference(`refs/heads/${name}`), name);
  return found;
}
