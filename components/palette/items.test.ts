import { expect, test } from 'vitest';
import { matches, moveGroups, pageItems, recentItems, type SandboxChoice, sandboxItems } from './items.ts';

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
} as const;

const offer = { whyNot: null, force: null, hops: null };
const chosen = {
  sandbox,
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

test('every item has a unique value', () => {
  const all = [...sandboxItems([sandbox], true), ...recentItems([sandbox], ''), ...pageItems(''), ...itemsOf('')];
  expect(new Set(all.map(({ value }) => value)).size).toBe(all.length);
});
