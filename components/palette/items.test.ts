import { expect, test } from 'vitest';
import { parseAct, parseLength } from './acts.ts';
import { moveGroups } from './choice-items.ts';
import {
  buttonItems,
  itemsHere,
  matches,
  pageItems,
  pastedSandbox,
  recentItems,
  type SandboxChoice,
  sandboxItems,
  tombstoneItems,
} from './items.ts';

const sandbox = {
  id: 'night-crawler',
  name: 'Night crawler',
  tenant: 'acme',
  state: 'suspended',
  fault: null,
  fault_reason: null,
  state_since: 0,
  warm_since: null,
  pending: null,
  interrupted: false,
  unreachable: null,
  keep_hot: false,
  held: false,
} as const;

const offer = { whyNot: null, force: null, hops: null };
const chosen = {
  sandbox,
  refusals: { change: null, snapshot: 'It has no file yet: wake it once first.', run: null },
  parts: [{ name: 'Ledger', href: '/sandboxes/night-crawler?tab=ledger' }],
  offers: [
    { ...offer, verb: 'resume' },
    { ...offer, verb: 'suspend', whyNot: 'It is suspended already.' },
    { ...offer, verb: 'archive', whyNot: 'Freeze it first.', hops: ['frozen', 'archived'] },
    { ...offer, verb: 'revive' },
    { ...offer, verb: 'delete' },
  ],
} satisfies SandboxChoice;

const itemsOf = (typed: string) => moveGroups(chosen, typed).flatMap(({ items }) => items);

test('a move that takes one press is made at once; one that needs more leads to the page that asks for it', () => {
  const actions = new Map(itemsOf('').map(({ name, action }) => [name, action]));
  expect(actions.get('Resume')).toMatchObject({ kind: 'move' });
  expect(actions.get('Archive in two steps…')).toEqual({
    kind: 'go',
    href: '/sandboxes/night-crawler/plan?to=archived',
  });
  expect(actions.get('Revive…')).toMatchObject({ kind: 'reason' });
  expect(actions.get('Delete…')).toEqual({ kind: 'go', href: '/sandboxes/night-crawler#moves' });
});

test('a forbidden action comes last, cannot be chosen and gives its reason', () => {
  const last = itemsOf('').at(-1);
  expect(last).toMatchObject({ name: 'Suspend', action: null, detail: 'It is suspended already.' });
});

test('typing filters actions by their name', () => {
  expect(itemsOf('arch').map(({ name }) => name)).toEqual(['Archive in two steps…']);
  expect(itemsOf('zzz')).toEqual([]);
});

test('every typed word must match', () => {
  expect(matches('night cra', 'Night crawler')).toBe(true);
  expect(matches('night day', 'Night crawler')).toBe(false);
  expect(matches('', 'anything')).toBe(true);
  expect(pageItems('audit').map(({ name }) => name)).toEqual(['Audit']);
  expect(recentItems([{ id: 'night-crawler', name: null }], 'craw')).toHaveLength(1);
});

test('the terminal of a sandbox opens over the page, where commands may be run', () => {
  const mayRun = itemsOf('terminal of').find(({ value }) => value === 'act terminal');
  expect(mayRun).toMatchObject({ name: 'Terminal of Night crawler', action: { kind: 'terminal' } });
  const viewer = { ...chosen, refusals: { ...chosen.refusals, run: 'A viewer may not do this.' } };
  const [group] = moveGroups(viewer, 'terminal of');
  expect(group).toMatchObject({ name: 'Not now', items: [{ action: null, detail: 'A viewer may not do this.' }] });
  expect(pageItems('terminal', 'night-crawler')).toMatchObject([{ name: 'Terminal of night-crawler' }]);
  expect(pageItems('terminal')).toMatchObject([{ name: 'Terminal', action: { kind: 'terminal' } }]);
});

test('the buttons of the open page are found by their names', () => {
  const buttons = ['New sandbox', 'Set the limits', 'Set the secret'];
  expect(buttonItems('set', buttons)).toMatchObject([
    { name: 'Set the limits', action: { kind: 'button', button: 'Set the limits' } },
    { name: 'Set the secret' },
  ]);
  expect(buttonItems('', buttons)).toHaveLength(3);
  expect(buttonItems('freeze', buttons)).toEqual([]);
});

test('every item has a unique value', () => {
  const all = [...sandboxItems([sandbox], true), ...recentItems([sandbox], ''), ...pageItems(''), ...itemsOf('')];
  all.push(...itemsHere('night-crawler', moveGroups(chosen, '')), ...tombstoneItems([sandbox]));
  expect(new Set(all.map(({ value }) => value)).size).toBe(all.length);
});

test('an act is typed with its argument, and comes first', () => {
  const first = (typed: string) => itemsOf(typed)[0];
  expect(first('hold 3d')).toMatchObject({
    name: 'Hold for 3 days',
    action: { kind: 'act', act: { kind: 'hold', seconds: 259_200 } },
  });
  expect(first('exec ls -la /workspace')).toMatchObject({ action: { kind: 'run', command: 'ls -la /workspace' } });
  expect(first('revive the lights are needed')).toMatchObject({
    action: { kind: 'reason', reason: 'the lights are needed' },
  });
  expect(first('keep hot')).toMatchObject({ action: { kind: 'act', act: { kind: 'keep-hot', keep: true } } });
  expect(first('snapshot as before-upgrade')).toMatchObject({
    name: 'Take a snapshot as “before-upgrade”',
    action: null,
    detail: 'It has no file yet: wake it once first.',
  });
  expect(first('go to its tenant')).toMatchObject({ action: { kind: 'go', href: '/tenants/acme' } });
});

test('a line that names no act is none', () => {
  expect(['hold', 'hold tight', 'holding 2h', 'keep', 'executive', 'snap'].map(parseAct)).toEqual(Array(6).fill(null));
  expect(['2h', '90 min', '1 day', '0h', '2 fortnights'].map(parseLength)).toEqual([7200, 5400, 86_400, null, null]);
  expect(parseAct('$ ls')).toEqual({ kind: 'run', command: 'ls' });
});

test('the address of a sandbox that was pasted leads there, of whichever server it is', () => {
  const at = (typed: string) => pastedSandbox(typed);
  expect(at('https://dock.example.com/sandboxes/night-crawler')).toEqual({
    id: 'night-crawler',
    href: '/sandboxes/night-crawler',
  });
  expect(at(' http://localhost:4000/sandboxes/a1?tab=ledger#parts ')).toEqual({
    id: 'a1',
    href: '/sandboxes/a1?tab=ledger#parts',
  });
  expect(at('/sandboxes/a1')).toEqual({ id: 'a1', href: '/sandboxes/a1' });
  for (const typed of ['night-crawler', 'https://dock.example.com/tenants/a', '/sandboxes/a b', '/sandboxes/']) {
    expect(at(typed)).toBeNull();
  }
});

test('on its page a sandbox is acted on by the first step: what is open to it, and nothing that is not', () => {
  const here = itemsHere('night-crawler', moveGroups(chosen, ''));
  expect(here.find(({ name }) => name === 'Resume')?.action).toEqual({
    kind: 'choose',
    id: 'night-crawler',
    item: 'move resume',
  });
  expect(here.find(({ name }) => name === 'Ledger')?.action).toMatchObject({ kind: 'go' });
  expect(here.some(({ name }) => name === 'Suspend')).toBe(false);
});

test('themes and parts of the settings are found by their names', () => {
  expect(pageItems('night')).toMatchObject([{ action: { kind: 'theme', theme: 'dark' } }]);
  expect(pageItems('time zone')).toMatchObject([{ action: { kind: 'go', href: '/settings#zone' } }]);
});
