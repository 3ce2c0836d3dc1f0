/**
 * The words that may stand at the end of a command line: commands and options by their tree, and what the server has.
 * A guest chooses the names of its files, and a shell takes a word as it is: only words without a meaning for shells
 * are offered.
 */
import type { Command } from 'commander';
import { ApiError, type WinterdockClient } from '../../client/client.ts';
import { JOB_VERBS } from '../../lifecycle/job-verbs.ts';
import { STATES } from '../../lifecycle/state-map.ts';
import { WAIT_CONDITIONS } from '../commands/wait.ts';
import { readLogins } from '../saved-logins.ts';
import type { Expected } from './expected.ts';
import { COMPLETION_SCRIPTS } from './scripts.ts';

/** A word, and what it is, in a few words. */
interface Candidate {
  word: string;
  about: string;
}

/** The words, and whether names of local files fit too. */
interface Candidates {
  words: Candidate[];
  files: boolean;
}

/** Makes the client when one is needed; throws when there is no key. */
type Connect = () => WinterdockClient;

interface Question {
  expected: Expected;
  connect: Connect;
  signal: AbortSignal;
}

/** Finds the words of one kind. They are narrowed to those that begin as typed afterwards. */
type Source = (question: Question) => Promise<Candidate[]> | Candidate[];

/** As many as are offered of what a server has. */
const MOST = 100;
/** Words that every shell takes as they are, wherever they stand. */
const PLAIN = /^(?!-)[\p{L}\p{N}\p{M}_@%+=:,./-]+$/u;

const plain = (words: readonly string[]): Source => {
  return () => words.map((word) => ({ word, about: '' }));
};

const sandboxes: Source = async ({ expected, connect, signal }) => {
  const q = expected.typed === '' ? undefined : expected.typed;
  const { items } = await connect().listInstances({ q, limit: MOST }, { signal });
  return items.map(({ id, state, name }) => ({ word: id, about: name === null ? state : `${state}, ${name}` }));
};

const contexts: Source = () =>
  Object.entries(readLogins(process.env).contexts).map(([word, { url }]) => ({ word, about: url }));

const tenants: Source = async ({ expected, connect, signal }) => {
  const q = expected.typed === '' ? undefined : expected.typed;
  const { items } = await connect().listTenants({ q, limit: MOST }, { signal });
  return items.map(({ tenant }) => ({ word: tenant, about: '' }));
};

const snapshots: Source = async ({ connect, signal }) => {
  const { items } = await connect().listSnapshots({ limit: MOST }, { signal });
  return items.map(({ id, source, tag }) => ({ word: id, about: tag === null ? source : `${source}, ${tag}` }));
};

const blueprints: Source = async ({ connect, signal }) => {
  const { items } = await connect().listBlueprints({ limit: MOST }, { signal });
  return items.map(({ name }) => ({ word: name, about: '' }));
};

const jobs: Source = async ({ connect, signal }) => {
  const { items } = await connect().listJobs({ limit: MOST }, { signal });
  return items.map(({ id, verb, state }) => ({ word: id, about: `${verb}, ${state}` }));
};

const workbooks: Source = async ({ connect, signal }) => {
  const { items } = await connect().listWorkbooks({ limit: MOST }, { signal });
  return items.map(({ id, title }) => ({ word: id, about: title ?? '' }));
};

const runs: Source = async ({ expected: { before }, connect, signal }) => {
  const { items } = await connect().listRuns(before[0] ?? '', { limit: MOST }, { signal });
  return items.map(({ id, state, command }) => ({ word: id, about: `${state}: ${command.slice(0, 40)}` }));
};

const schedules: Source = async ({ expected: { before }, connect, signal }) => {
  const { items } = await connect().listSchedules(before[0] ?? '', { limit: MOST }, { signal });
  return items.map(({ id, command, component }) => ({ word: id, about: command ?? component ?? '' }));
};

const namedMoments: Source = async ({ expected: { before }, connect, signal }) => {
  const list = await connect().listMoments(before[0] ?? '', { kind: 'named', limit: MOST }, { signal });
  return list.flatMap(({ name, time_ms: ms }) =>
    name === null ? [] : { word: name, about: new Date(ms).toISOString() },
  );
};

/** Files and folders of a sandbox that go on from a path. Read where they rest: nothing wakes. */
async function pathsOf(question: Question, id: string, path: string): Promise<Candidate[]> {
  const { connect, signal } = question;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const { names } = await connect().completeLine(id, { line: `cat ${path}` }, { signal });
  return names.map((name) => ({ word: `${folder}${name}`, about: '' }));
}

const webhooks: Source = async ({ connect, signal }) => {
  const list = await connect().listWebhooks({}, { signal });
  return list.map(({ id, name }) => ({ word: id, about: name }));
};

const backups: Source = async ({ connect, signal }) => {
  const { items } = await connect().listBackups({ limit: MOST, state: 'made' }, { signal });
  return items.map(({ id, sandboxes: count }) => ({ word: id, about: `${count} sandboxes` }));
};

const troubles: Source = async ({ connect, signal }) => {
  const list = await connect().attention({}, { signal });
  return list.map(({ id, says }) => ({ word: id, about: says.slice(0, 60) }));
};

const hosts: Source = async ({ connect, signal }) => {
  const list = await connect().listHosts({ signal });
  return list.map(({ name, version }) => ({ word: name, about: version ?? '' }));
};

const keys: Source = async ({ connect, signal }) => {
  const list = await connect().listKeys({ signal });
  return list.map(({ id, name, role }) => ({ word: id, about: `${name ?? ''}, ${role}` }));
};

const people: Source = async ({ connect, signal }) => {
  const list = await connect().people({ signal });
  return list.map(({ id, email, role }) => ({ word: id, about: `${email}, ${role}` }));
};

const invitations: Source = async ({ connect, signal }) => {
  const list = await connect().invitations({ signal });
  return list.map(({ id, role }) => ({ word: id, about: role }));
};

const terminals: Source = async ({ expected: { before }, connect, signal }) => {
  const list = await connect().listTerminals(before[0] ?? '', { signal });
  return list.map(({ id }) => ({ word: id, about: '' }));
};

const segments: Source = async ({ connect, signal }) => {
  const list = await connect().listLedgerSegments({ signal });
  return list.map(({ id }) => ({ word: id, about: '' }));
};

const paths: Source = (question) => pathsOf(question, question.expected.before[0] ?? '', question.expected.typed);

/** `id:` and then a path, for `cp`. */
const places: Source = async (question) => {
  const [, id, path = ''] = /^([a-z0-9][a-z0-9_-]*):(.*)$/s.exec(question.expected.typed) ?? [];
  if (id === undefined) return (await sandboxes(question)).map(({ word, about }) => ({ word: `${word}:`, about }));
  return (await pathsOf(question, id, path)).map(({ word, about }) => ({ word: `${id}:${word}`, about }));
};

/** The values of options that no list of words has, by their long names; a command's own come first. */
const OPTION_VALUES: Readonly<Record<string, Source | 'files'>> = {
  '--context': contexts,
  '--tenant': tenants,
  '--host': hosts,
  '--sandbox': sandboxes,
  '--instance': sandboxes,
  '--source': sandboxes,
  '--blueprint': blueprints,
  '--workbook': workbooks,
  '--for': plain(WAIT_CONDITIONS),
  'blueprints create --from': sandboxes,
  'moments --remove': namedMoments,
  '--key-file': 'files',
  '--script': 'files',
  '--file': 'files',
  '--head': 'files',
  '--csv': 'files',
};

/** Arguments by their names; a command's own, `jobs show id`, come before those of all. */
const ARGUMENTS: Readonly<Record<string, Source | 'files' | null>> = {
  id: sandboxes,
  ids: sandboxes,
  sandbox: sandboxes,
  instance: sandboxes,
  run: runs,
  schedule: schedules,
  backup: backups,
  host: hosts,
  snapshot: snapshots,
  blueprint: blueprints,
  tenant: tenants,
  workbook: workbooks,
  terminal: terminals,
  trouble: troubles,
  invitation: invitations,
  month: segments,
  verb: plain(JOB_VERBS),
  file: 'files',
  'create id': null,
  'blueprints create blueprint': null,
  'completion shell': plain(Object.keys(COMPLETION_SCRIPTS)),
  'contexts use name': contexts,
  'contexts rename name': contexts,
  'logout name': contexts,
  'backup path': 'files',
  'cp from': places,
  'cp to': places,
  'cat path': paths,
  'take-back path': paths,
  'files ls path': paths,
  'files get path': paths,
  'files rm path': paths,
  'files mv from': paths,
  'files mv to': paths,
  'files put path': paths,
  'files mkdir path': paths,
  'files rmdir path': paths,
  'plan state': plain(STATES),
  'storage check what': plain(['registry', 'drawers']),
  'files tables path': paths,
  ...Object.fromEntries(['show', 'results', 'cancel'].map((name) => [`jobs ${name} id`, jobs])),
  ...Object.fromEntries(
    ['put', 'get', 'delete', 'plan', 'versions', 'check-upgrade'].map((name) => [`workbook ${name} id`, workbooks]),
  ),
  'keys revoke id': keys,
  ...Object.fromEntries(['set', 'sessions', 'sign-out'].map((name) => [`people ${name} id`, people])),
  ...Object.fromEntries(
    ['show', 'change', 'on', 'off', 'test', 'deliveries', 'resend', 'rotate', 'remove'].map((name) => [
      `webhook ${name} id`,
      webhooks,
    ]),
  ),
};

/** The name of a command with those above it: `files get`. */
function pathOfCommand(command: Command): string {
  const parent = command.parent;
  return parent === null || parent.parent === null ? command.name() : `${pathOfCommand(parent)} ${command.name()}`;
}

/** Where the words for a place come from; null where anything may stand. */
export function sourceOf({ place, command }: Pick<Expected, 'place' | 'command'>): Source | 'files' | null {
  if (place === null) return null;
  const help = command.createHelp();
  if (place === 'command') {
    return () => help.visibleCommands(command).map((child) => ({ word: child.name(), about: child.summary() }));
  }
  if (place === 'option') {
    const options = help.visibleOptions(command);
    return () => options.map(({ long, short, description }) => ({ word: long ?? short ?? '', about: description }));
  }
  if ('option' in place) {
    const { argChoices, long } = place.option;
    if (argChoices !== undefined) return plain(argChoices);
    const own = `${pathOfCommand(command)} ${long}`;
    return OPTION_VALUES[Object.hasOwn(OPTION_VALUES, own) ? own : (long ?? '')] ?? null;
  }
  const name = place.argument.name();
  const own = `${pathOfCommand(command)} ${name}`;
  return Object.hasOwn(ARGUMENTS, own) ? (ARGUMENTS[own] ?? null) : (ARGUMENTS[name] ?? null);
}

/** Finds the words for a place. What the server refuses is nothing to offer. */
export async function candidatesFor(question: Question): Promise<Candidates> {
  const { expected } = question;
  const source = sourceOf(expected);
  if (source === null) return { words: [], files: false };
  if (source === 'files') return { words: [], files: true };
  let found: Candidate[] = [];
  try {
    found = await source(question);
  } catch (error) {
    // No key, no server, no right, no such sandbox: a Tab is no place for an error.
    if (!(error instanceof Error) && !(error instanceof ApiError)) throw error;
  }
  const mayBeOption = expected.place === 'option';
  const words = found.filter(
    ({ word }) => word.startsWith(expected.typed) && (mayBeOption ? /^--?[a-z-]+$/i : PLAIN).test(word),
  );
  return { words, files: source === places && !expected.typed.includes(':') };
}
