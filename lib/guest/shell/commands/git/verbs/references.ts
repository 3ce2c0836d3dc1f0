/** What scripts ask about references: `show-ref` and `for-each-ref`. */
import { parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError, unsupported } from '../git-error.ts';
import { isAncestor, reachable } from '../history.ts';
import { formattedDate, subjectOf } from '../log-format.ts';
import { type CommitObject, type CommitPerson, parseTag, type TagObject } from '../objects.ts';
import type { Repository } from '../repository.ts';
import { commitOf, requireCommit } from '../revisions.ts';
import { trackingOf } from '../tracking.ts';
import { globOf } from './branches.ts';

const SHORTEST = 4;

/** `--hash=8` and their like. Throws for a length that is none. */
function abbreviation(oid: string, given: string | undefined, otherwise: number): string {
  const length = given === undefined || given === '' ? otherwise : Number(given);
  if (!Number.isInteger(length) || length < 0)
    throw new GitError(`error: option \`hash' expects a numerical value`, 129);
  return oid.slice(0, Math.max(SHORTEST, length));
}

export async function showRef(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    heads: 'flag',
    tags: 'flag',
    'q,quiet': 'flag',
    verify: 'flag',
    's,hash': 'maybe',
    abbrev: 'maybe',
    'd,dereference': 'flag',
    head: 'flag',
  });
  const repository = await context.repository();
  const { operands } = line;
  const print = async (oid: string, full: string) => {
    if (line.has('quiet')) return;
    const shown = (one: string) => {
      const text = line.has('abbrev') ? abbreviation(one, line.value('abbrev'), 7) : one;
      return line.has('hash') ? abbreviation(text, line.value('hash'), 40) : text;
    };
    const row = (one: string, name: string) =>
      context.out.line(line.has('hash') ? shown(one) : `${shown(one)} ${name}`);
    row(oid, full);
    const { type } = await repository.object(oid);
    if (line.has('dereference') && type === 'tag') row(await commitOf(repository, oid), `${full}^{}`);
  };
  if (line.has('verify')) {
    if (operands.length === 0) throw fatal('--verify requires a reference');
    for (const name of operands) {
      const oid = name === 'HEAD' || name.startsWith('refs/') ? await repository.reference(name) : null;
      if (oid === null) {
        if (line.has('quiet')) return 1;
        throw fatal(`'${name}' - not a valid ref`);
      }
      await print(oid, name);
    }
    return 0;
  }
  let count = 0;
  const head = line.has('head') ? await repository.headCommit() : null;
  if (head !== null) {
    count += 1;
    await print(head, 'HEAD');
  }
  const folders = [...(line.has('heads') ? ['refs/heads/'] : []), ...(line.has('tags') ? ['refs/tags/'] : [])];
  for (const full of await fullNames(repository)) {
    if (folders.length > 0 && !folders.some((folder) => full.startsWith(folder))) continue;
    if (operands.length > 0 && !operands.some((one) => full === one || full.endsWith(`/${one}`))) continue;
    const oid = await repository.reference(full);
    if (oid === null) continue;
    count += 1;
    await print(oid, full);
  }
  return count === 0 ? 1 : 0;
}

/** Every reference by its full name, sorted. */
export async function fullNames(repository: Repository): Promise<string[]> {
  return (await repository.referencesBelow('refs')).map((name) => `refs/${name}`).filter((name) => name !== 'refs/');
}

interface Listed {
  full: string;
  oid: string;
  type: string;
  size: number;
  commit: CommitObject | null;
  tag: TagObject | null;
  isHead: boolean;
  upstream: string;
}

export async function forEachRef(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    format: 'value',
    sort: 'value',
    count: 'value',
    contains: 'value',
    'no-contains': 'value',
    merged: 'value',
    'no-merged': 'value',
    'points-at': 'value',
  });
  const repository = await context.repository();
  const named = async (name: 'contains' | 'no-contains' | 'merged' | 'no-merged' | 'points-at') => {
    const text = line.value(name);
    return text === undefined ? null : requireCommit(repository, text);
  };
  const [contains, without, merged, open, points] = [
    await named('contains'),
    await named('no-contains'),
    await named('merged'),
    await named('no-merged'),
    await named('points-at'),
  ];
  const [inMerged, inOpen] = [await history(repository, merged), await history(repository, open)];
  const needsUpstream = [line.value('format') ?? '', ...line.values('sort')].some((text) => text.includes('upstream'));
  const patterns = [...line.operands, ...(line.paths ?? [])];
  const found: Listed[] = [];
  for (const full of await fullNames(repository)) {
    if (patterns.length > 0 && !patterns.some((pattern) => isBelow(full, pattern))) continue;
    const oid = await repository.reference(full);
    if (oid === null) continue;
    const listed = await listedOf(repository, full, oid, needsUpstream);
    const { commit } = listed;
    const has = async (older: string) => commit !== null && isAncestor(repository, older, commit.oid);
    if (contains !== null && !(await has(contains))) continue;
    if (without !== null && (await has(without))) continue;
    if (inMerged !== null && !(commit !== null && inMerged.has(commit.oid))) continue;
    if (inOpen !== null && commit !== null && inOpen.has(commit.oid)) continue;
    if (points !== null && oid !== points && commit?.oid !== points) continue;
    found.push(listed);
  }
  for (const key of line.values('sort')) {
    const [field, sign] = key.startsWith('-') ? [key.slice(1), -1] : [key, 1];
    const values = new Map(found.map((one) => [one, sortValue(one, field)]));
    found.sort((a, b) => {
      const [left, right] = [values.get(a) ?? '', values.get(b) ?? ''];
      return left === right ? 0 : (left < right ? -1 : 1) * sign;
    });
  }
  const most = line.value('count');
  if (most !== undefined && !/^\d+$/.test(most))
    throw new GitError("error: option `count' expects a numerical value", 129);
  const format = line.value('format') ?? '%(objectname) %(objecttype)\t%(refname)';
  for (const one of found.slice(0, Number(most ?? 0) || undefined)) context.out.line(formatted(format, one));
  return 0;
}

/** A pattern is a whole name, the beginning of one up to a slash, or has wildcards that stop at slashes. */
function isBelow(full: string, pattern: string): boolean {
  const start = pattern.replace(/\/$/, '');
  if (full === start || full.startsWith(`${start}/`)) return true;
  return /[*?[]/.test(pattern) && full.split('/').length === pattern.split('/').length && globOf(pattern).test(full);
}

async function history(repository: Repository, oid: string | null): Promise<Set<string> | null> {
  return oid === null ? null : reachable(repository, [oid]);
}

async function listedOf(repository: Repository, full: string, oid: string, needsUpstream: boolean): Promise<Listed> {
  const { type, content } = await repository.object(oid);
  const tag = type === 'tag' ? parseTag(content) : null;
  const commit =
    type === 'commit' || tag?.type === 'commit' ? await repository.commit(await commitOf(repository, oid)) : null;
  const branch = full.startsWith('refs/heads/') ? full.slice('refs/heads/'.length) : null;
  const upstream = branch === null || !needsUpstream ? null : await trackingOf(repository, branch);
  return {
    full,
    oid,
    type,
    size: content.length,
    commit,
    tag,
    isHead: (await repository.headReference()) === full,
    upstream: upstream?.upstream ?? '',
  };
}

function sortValue(one: Listed, field: string): string | number {
  const person = personOf(one, field.replace(/date$/, ''));
  if (/date$/.test(field)) return person?.seconds ?? 0;
  if (field === 'objectsize') return one.size;
  if (/^(?:v|version):refname$/.test(field)) return one.full.replaceAll(/\d+/g, (digits) => digits.padStart(20, '0'));
  return fieldText(one, field);
}

/** Of `author`, `committer`, `tagger`, or `creator`, who made the tag or else the commit. */
function personOf({ commit, tag }: Listed, who: string): CommitPerson | null {
  const own = tag === null ? commit : null;
  if (who === 'author') return own?.author ?? null;
  if (who === 'committer') return own?.committer ?? null;
  if (who === 'tagger') return tag?.tagger ?? null;
  return who === 'creator' ? (tag?.tagger ?? commit?.committer ?? null) : null;
}

function formatted(format: string, one: Listed): string {
  return format.replaceAll(/%(?:\(([^)]*)\)|([0-9a-fA-F]{2})|%)/g, (whole, field?: string, code?: string) => {
    if (field !== undefined) return fieldText(one, field);
    return code === undefined ? whole.slice(1) : String.fromCharCode(Number.parseInt(code, 16));
  });
}

function fieldText(one: Listed, field: string): string {
  const [name = '', ...rest] = field.split(':');
  const option = rest.join(':');
  if (name.startsWith('*')) {
    if (one.tag === null || one.commit === null) return '';
    return fieldText({ ...one, oid: one.tag.object, type: one.tag.type, tag: null }, field.slice(1));
  }
  const { full, oid, type, commit, tag } = one;
  const message = (tag ?? commit)?.message ?? '';
  const [, who = '', part = ''] = /^(author|committer|tagger|creator)(name|email|date|)$/.exec(name) ?? [];
  if (who !== '') {
    const person = personOf(one, who);
    if (person === null) return '';
    if (part === 'name') return person.name;
    if (part === 'email') return option === 'trim' ? person.email : `<${person.email}>`;
    if (part === 'date') return formattedDate(person, option || 'default');
    return `${person.name} <${person.email}> ${person.seconds} ${person.zone}`;
  }
  if (option !== '' && !['refname', 'objectname', 'upstream', 'contents'].includes(name))
    throw unsupported(`%(${field}) is`);
  switch (name) {
    case 'refname':
      return referenceText(full, option, field);
    case 'upstream':
      return one.upstream === '' ? '' : referenceText(`refs/remotes/${one.upstream}`, option, field);
    case 'objectname':
      if (option !== '' && !/^short(?:=\d+)?$/.test(option)) throw unsupported(`%(${field}) is`);
      return option === '' ? oid : abbreviation(oid, option.slice(6), 7);
    case 'objecttype':
      return type;
    case 'objectsize':
      return String(one.size);
    case 'HEAD':
      return one.isHead ? '*' : ' ';
    case 'tree':
      return tag === null ? (commit?.tree ?? '') : '';
    case 'parent':
      return tag === null ? (commit?.parents.join(' ') ?? '') : '';
    case 'object':
      return tag?.object ?? '';
    case 'type':
      return tag?.type ?? '';
    case 'tag':
      return tag?.name ?? '';
    case 'subject':
      return subjectOf({ message });
    case 'body':
      return bodyText(message);
    case 'contents':
      if (option === '') return message;
      if (option === 'subject') return subjectOf({ message });
      if (option === 'body') return bodyText(message);
      throw unsupported(`%(${field}) is`);
    default:
      throw fatal(`unknown field name, or one that is not supported in this sandbox: ${field}`);
  }
}

function bodyText(message: string): string {
  const end = /\n\s*\n/.exec(message);
  return end === null ? '' : message.slice(end.index + end[0].length);
}

function referenceText(full: string, option: string, field: string): string {
  const parts = full.split('/');
  const [, side, given] = /^(l?strip|rstrip)=(-?\d+)$/.exec(option) ?? [];
  if (option === '') return full;
  if (option === 'short') return full.replace(/^refs\/(?:heads|tags|remotes)\//, '').replace(/^refs\//, '');
  if (side === undefined) throw unsupported(`%(${field}) is`);
  const count = Number(given);
  const dropped = Math.max(0, count < 0 ? parts.length + count : count);
  if (count >= parts.length) return '';
  return (side === 'rstrip' ? parts.slice(0, parts.length - dropped) : parts.slice(dropped)).join('/');
}
