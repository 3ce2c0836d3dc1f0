import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseInstanceId } from '#lib/base/ids.ts';
import type { Event } from '#lib/contract/schema.ts';
import { ALL_FAILPOINTS, ALL_STORE_FAILPOINTS } from '#lib/sandboxes/recovery/failpoints.ts';
import { instanceId } from '#lib/testing/plain-ids.ts';
import {
  actionInWords,
  actorInWords,
  hasWords,
  nameOfActor,
  quoted,
  reasonInWords,
  wakeEventInWords,
  withinSentence,
} from './event-words.ts';

const LIB = join(import.meta.dirname, '../../lib');
/** Verbs whose filing can fail or be refused; those types are composed at run time. */
const FILINGS = ['suspend', 'freeze', 'archive', 'delete'];
/**
 * Literals with a dot that are not types: names of files, of columns, of control files, of a symbol; steps of copies
 * and agents; findings of the doctor; what a test of a webhook says; settings and files of git; modules of Python.
 */
const ELSE =
  /\.(?:sqlite|json|js|py|pl|types|key|secret|ts|html|txt|zip|gz|tar|ltx|rowid|instance_row|org|worktree)$|^(?:instances|n|v|b|fs|vfs|python|asyncio|copy|deploy|winterdock|row|staging|cgroup|cpu|memory|pids|freezer|usage|probe)\.|^hello\.|^(?:webhook\.ping|copies\.lost)$|^(?:user|init)\.(?:name|email|defaultbranch)$/;
/** Every literal in the engine that has the form of a line's type. */
function emitted(): string[] {
  const sources = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/(?:^|\/)(?:testing|client|cli)\//.test(name),
  );
  const found = sources.flatMap((name) => {
    const text = readFileSync(join(LIB, name), 'utf8');
    // Settings of git, and what programs of JavaScript ask their host for, have the same form.
    if (/^guest\/(?:shell\/commands\/git|javascript)\//.test(name)) return [];
    // Findings of the doctor have the same form and are not types; its repairs write lines.
    if (name.startsWith('doctor/') && name !== 'doctor/repair.ts') return [];
    return text.match(/'[a-z]+\.[a-z_]+'/g) ?? [];
  });
  const steps: readonly string[] = [...ALL_FAILPOINTS, ...ALL_STORE_FAILPOINTS];
  const types = found
    .map((literal) => literal.slice(1, -1))
    .filter((type) => !ELSE.test(type) && !steps.includes(type));
  return [...new Set([...types, ...FILINGS.flatMap((verb) => [`${verb}.failed`, `${verb}.refused`])])].sort();
}

const sealed: Event = {
  seq: 1,
  time: 0,
  time_ms: 0,
  instance: null,
  tenant: null,
  type: 'ledger.sealed',
  from: null,
  to: null,
  trigger: 'schedule',
  actor: 'system',
  actor_name: null,
  via: 'system',
  source: null,
  took_ms: null,
  request_id: null,
  address: null,
  reason: '2026-10: lines 1 to 31',
  error: null,
};

test('every type of line that the engine writes has words', () => {
  const types = emitted();
  expect(types).toEqual(expect.arrayContaining(['instance.created', 'ledger.sealed', 'job.done', 'freeze.refused']));
  expect(types.filter((type) => !hasWords(type))).toEqual([]);
});

test('the line of a month reads as a sentence with its reason once', () => {
  const sentence = (event: Event) => `${actorInWords(event)} ${actionInWords(event)}${reasonInWords(event) ?? ''}`;
  expect(sentence(sealed)).toBe('The server sealed the ledger of October 2026 (31 lines)');
  const dropped = { ...sealed, type: 'ledger.dropped', reason: '2025-01: lines 9 to 9, kept for 90 days' };
  expect(sentence(dropped)).toBe('The server dropped the ledger of January 2025 (1 line, kept for 90 days)');
  expect(actionInWords({ ...sealed, reason: 'something else' })).toBe('sealed a month of the ledger');
  expect(reasonInWords({ ...sealed, reason: 'something else' })).toBe('something else');
});

test('what the code in a sandbox did by itself is not said of the server', () => {
  const line = { ...sealed, type: 'network.refused', actor: 'sandbox:a', instance: parseInstanceId('a'), reason: null };
  const words = (event: Event) => `${actorInWords(event)} ${actionInWords(event)} ${event.instance}`;
  expect(words(line)).toBe('Guest code was refused the network in a');
  expect(words({ ...line, type: 'network.used' })).toBe('Guest code used the network in a');
});

test('a reason has its hashes shortened, and is left out when the actor already says it', () => {
  const shipped = {
    ...sealed,
    type: 'bundle.shipped',
    reason: `ship-a: workspace, 5 bytes, sha256:${'0123abcd'.repeat(8)}`,
  };
  expect(reasonInWords(shipped)).toBe('ship-a: workspace, 5 bytes, sha256:0123abcd0123…');
  const signedIn = { ...sealed, type: 'person.signed_in', actor: 'key:admin', reason: 'by the admin key' };
  expect(reasonInWords(signedIn)).toBeNull();
  expect(reasonInWords({ ...signedIn, actor: 'user:ada', reason: 'by password' })).toBe('by password');
});

test('a line without a sandbox ends without a dangling preposition', () => {
  expect(actionInWords({ ...sealed, type: 'bundle.imported', reason: null })).toBe('imported a bundle');
  expect(actionInWords({ ...sealed, type: 'orphan.set_aside', reason: null })).toBe('set aside a stray file');
  expect(actionInWords({ ...sealed, type: 'person.signed_in', reason: null })).toBe('signed in');
  expect(actionInWords({ ...sealed, type: 'orphan.set_aside', reason: null, instance: instanceId('a') })).toBe(
    'set aside a stray file of',
  );
});

test('a wake is described with its source and duration', () => {
  expect(wakeEventInWords({ source: 'cold', took_ms: 34.2 })).toBe('It woke from the cold drawer in 34 ms.');
  expect(wakeEventInWords({ took_ms: 2 })).toBe('It woke in 2.0 ms.');
});

test('a reason names the people that it mentions, and shows no id of them', () => {
  const changed = { ...sealed, type: 'person.changed', actor: 'user:ada', actor_name: 'Ada' };
  const names = new Map([
    ['user:ada', 'You'],
    ['user:eve-2', 'Eve'],
  ]);
  expect(reasonInWords({ ...changed, reason: 'user:eve-2: viewer → operator' }, names)).toBe('Eve: viewer → operator');
  expect(reasonInWords({ ...changed, reason: 'user:ada, 2 of them' }, names)).toBe('you, 2 of them');
  expect(reasonInWords({ ...changed, reason: 'user:ada, 2 of them' })).toBe('Ada, 2 of them');
  expect(reasonInWords({ ...changed, reason: 'user:gone: name' })).toBe('a person: name');
});

test('a reason that begins with a name, or has one in it, shows one pair of outer marks', () => {
  expect(quoted('"before", as of then')).toBe('“‘before’, as of then”');
  expect(quoted('ticket 7 (moment “before” as of then)')).toBe('“ticket 7 (moment ‘before’ as of then)”');
  expect(quoted('a 3" disk, and it\'s full')).toBe('“a 3" disk, and it\'s full”');
});

test('who invited the first admin is no id', () => {
  expect(withinSentence(nameOfActor('first-start'))).toBe('the first start');
});
