/** Settings: of a repository, of the user (`~/.gitconfig`), and of `-c`. */
import type { FileAccess } from './file-access.ts';
import type { GitContext } from './git-context.ts';
import { fatal, GitError } from './git-error.ts';
import type { CommitPerson } from './objects.ts';

export interface GitSetting {
  /** `section.name` or `section.subsection.name`; section and name in lower case. */
  key: string;
  value: string;
}

/** Settings in the order of the file. */
function parseGitSettings(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = '';
  for (const raw of text.replaceAll(/\\\n/g, '').split('\n')) {
    const line = raw.trim();
    const header = /^\[([^\s\]"]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]/.exec(line);
    if (header) {
      const [, name = '', sub] = header;
      section = name.toLowerCase() + (sub === undefined ? '' : `.${sub.replaceAll(/\\(.)/g, '$1')}`);
      continue;
    }
    const pair = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(line);
    if (!pair || section === '') continue;
    const [, name = '', value] = pair;
    settings.push({ key: `${section}.${name.toLowerCase()}`, value: value === undefined ? 'true' : plainValue(value) });
  }
  return settings;
}

/** Quotes and escapes resolved, comments cut off. */
function plainValue(text: string): string {
  let value = '';
  let end = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '#' || character === ';')) break;
    else if (character === '\\') {
      at += 1;
      const next = text[at] ?? '';
      value += next === 'n' ? '\n' : next === 't' ? '\t' : next;
    } else value += character;
    if (quoted || !/\s/.test(character)) end = value.length;
  }
  return value.slice(0, end);
}

function writtenValue(value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return /^\s|\s$|[#;]/.test(value) ? `"${escaped}"` : escaped;
}

/** Throws for a key without a section. The last part is the name. */
export function normalKey(key: string): string {
  const [, section = '', sub, name = ''] = /^([A-Za-z0-9-]+)(?:\.(.*))?\.([A-Za-z][A-Za-z0-9-]*)$/s.exec(key) ?? [];
  if (section === '') {
    throw key.includes('.')
      ? new GitError(`error: invalid key: ${key}`, 1)
      : new GitError(`error: key does not contain a section: ${key}`, 1);
  }
  return `${section.toLowerCase()}.${sub === undefined ? '' : `${sub}.`}${name.toLowerCase()}`;
}

/** The settings that hold here, the weakest first. */
export async function allSettings(context: GitContext): Promise<GitSetting[]> {
  const own = await repositoryFile(context);
  return [
    ...(await settingsIn(context.files, userFile(context))),
    ...(own === null ? [] : await settingsIn(context.files, own)),
    ...[...context.settings].map(([key, value]) => ({ key: normalKey(key), value })),
  ];
}

export async function settingsIn(files: FileAccess, path: string): Promise<GitSetting[]> {
  return parseGitSettings((await files.text(path)) ?? '');
}

export function userFile(context: GitContext): string {
  return `${context.home}/.gitconfig`;
}

/** Null outside a repository. */
export async function repositoryFile(context: GitContext): Promise<string | null> {
  try {
    return `${(await context.repository()).gitdir}/config`;
  } catch (error) {
    if (error instanceof GitError && error.message.includes('not a git repository')) return null;
    throw error;
  }
}

export async function setting(context: GitContext, key: string): Promise<string | undefined> {
  return (await allSettings(context)).findLast((one) => one.key === key)?.value;
}

/** A setting that is on or off. Throws git's words for another value. */
export async function booleanSetting(context: GitContext, key: string, otherwise: boolean): Promise<boolean> {
  const value = await setting(context, key);
  return value === undefined ? otherwise : booleanOf(key, value);
}

/** Throws git's words for a text that is neither on nor off. */
export function booleanOf(key: string, value: string): boolean {
  if (/^(?:true|yes|on)$/i.test(value)) return true;
  if (/^(?:false|no|off|)$/i.test(value)) return false;
  if (/^[+-]?\d+[kmg]?$/i.test(value)) return Number.parseInt(value, 10) !== 0;
  throw fatal(`bad boolean config value '${value}' for '${key}'`);
}

/** Writes a setting: in place of the last one of this key, or at the end of its section. Null removes it. */
export async function writeSetting(
  files: FileAccess,
  path: string,
  key: string,
  value: string | null,
  { add = false, all = false } = {},
): Promise<void> {
  const normal = normalKey(key);
  const dot = normal.lastIndexOf('.');
  const [section, name] = [normal.slice(0, dot), key.slice(key.lastIndexOf('.') + 1)];
  const lines = ((await files.text(path)) ?? '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const places: number[] = [];
  let [current, sectionEnd] = ['', -1];
  for (const [at, line] of lines.entries()) {
    const [only] = parseGitSettings(`${line}\n`.startsWith('[') ? `${line}\nx = y` : `[s]\n${line}`);
    if (line.trim().startsWith('[') && only) current = only.key.slice(0, only.key.lastIndexOf('.'));
    if (current !== section) continue;
    sectionEnd = at;
    if (!line.trim().startsWith('[') && only && `${section}.${only.key.slice(2)}` === normal) places.push(at);
  }
  const written = `\t${name} = ${writtenValue(value ?? '')}`;
  const last = places.at(-1);
  if (value === null) {
    for (const at of (all ? places : places.slice(-1)).toReversed()) lines.splice(at, 1);
    const head = lines.findIndex((line) => line.trim() === headerOf(section));
    const next = lines[head + 1];
    if (head >= 0 && (next === undefined || next.trim().startsWith('['))) lines.splice(head, 1);
  } else if (last !== undefined && !add) lines[last] = written;
  else if (sectionEnd >= 0) lines.splice(sectionEnd + 1, 0, written);
  else lines.push(headerOf(section), written);
  await files.write(path, lines.map((line) => `${line}\n`).join(''));
}

function headerOf(section: string): string {
  const dot = section.indexOf('.');
  if (dot < 0) return `[${section}]`;
  return `[${section.slice(0, dot)} "${section
    .slice(dot + 1)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"]`;
}

const UNKNOWN = (kind: string) => `${kind} identity unknown

*** Please tell me who you are.

Run

  git config --global user.email "you@example.com"
  git config --global user.name "Your Name"

to set your account's default identity.
Omit --global to set the identity only in this repository.

fatal: unable to auto-detect email address (got 'sandbox@sandbox.(none)')`;

/** Who commits: by the environment, then by the settings. Throws git's request for an identity. */
export async function identity(context: GitContext, kind: 'AUTHOR' | 'COMMITTER'): Promise<CommitPerson> {
  const env = (name: string) => context.env.get(`GIT_${kind}_${name}`) || undefined;
  const name = env('NAME') ?? (await setting(context, 'user.name'));
  const email = env('EMAIL') ?? (await setting(context, 'user.email')) ?? context.env.get('EMAIL');
  if (email === undefined || name === undefined) {
    throw new GitError(UNKNOWN(kind === 'AUTHOR' ? 'Author' : 'Committer'), 128);
  }
  return { name, email, ...parseDate(env('DATE')) };
}

/** A date as git's environment and options give it; now without one. Throws for another format. */
export function parseDate(text: string | undefined): { seconds: number; zone: string } {
  if (text === undefined || text === '') return { seconds: Math.floor(Date.now() / 1000), zone: '+0000' };
  const raw = /^@?(\d+)(?: ([+-]\d{4}))?$/.exec(text.trim());
  if (raw) return { seconds: Number(raw[1]), zone: raw[2] ?? '+0000' };
  const zone = /([+-]\d{2}):?(\d{2})$/.exec(text.replace(/^\d{4}-\d\d-\d\d/, ''));
  const hasZone = zone !== null || /Z$|GMT|UTC/.test(text);
  const milliseconds = Date.parse(
    hasZone
      ? text.replace(/ ([+-]\d{4})$/, '$1').replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
      : `${text.replace(/^(\d{4}-\d\d-\d\d) /, '$1T')}${/^\d{4}-\d\d-\d\d$/.test(text) ? '' : /T|\d \d/.test(text) ? 'Z' : ' UTC'}`,
  );
  if (Number.isNaN(milliseconds)) throw fatal(`invalid date format: ${text}`);
  return { seconds: Math.floor(milliseconds / 1000), zone: zone ? `${zone[1]}${zone[2]}` : '+0000' };
}
