import { expect, test } from 'vitest';
import type { Role } from '#lib/auth/roles.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { STATES, TRANSITIONS, VERB_TARGET } from '#lib/lifecycle/state-map.ts';
import { instanceId } from '#lib/testing/plain-ids.ts';
import { moveOffers } from './move-offers.ts';

const row: Instance = {
  id: instanceId('a'),
  tenant: 't',
  name: null,
  state: 'active',
  thermal: 'hot',
  warm_since: null,
  fault: null,
  fault_reason: null,
  pending: null,
  pending_since: null,
  interrupted: false,
  vfs_path: 'live/a/vfs.sqlite',
  updated: 0,
  created: 0,
  state_since: 0,
  idle_seconds: 0,
  next: null,
  keep_hot: false,
  hold_until: null,
  ephemeral: false,
  policy: 'posix',
  hot_to_warm_s: null,
  idle_to_suspend_s: null,
  idle_to_freeze_s: null,
  own_replicate: null,
  replicate: 'off',
  replicate_from_next_wake: false,
  recovery_point: { at: null, behind_s: null, as: 'none' },
  attached: 0,
  calls: 0,
  bytes: null,
  labels: {},
  workbook: null,
  workbook_version: null,
  lineage: { blueprint: null, snapshot: null, parent: null },
  stored: null,
  upload: 'none',
  host: null,
  term: null,
  unreachable: null,
};

const ADMIN = { role: 'admin', tenants: null } as const;

test('from every state exactly the hops of the map are offered, and every other move has its reason', () => {
  for (const state of STATES) {
    const offers = moveOffers({ ...row, state }, ADMIN);
    const allowed = offers.filter(({ whyNot }) => whyNot === null).map(({ verb }) => VERB_TARGET[verb]);
    expect(allowed.toSorted(), state).toEqual([...TRANSITIONS[state]].toSorted());
    for (const { whyNot } of offers) if (whyNot !== null) expect(whyNot).toMatch(/^[A-Z].+\.$/);
  }
});

test('an ephemeral sandbox is offered the moves that end it, and the reason why it is not suspended', () => {
  for (const state of STATES) {
    const offers = moveOffers({ ...row, state, ephemeral: true }, ADMIN);
    const allowed = offers.filter(({ whyNot }) => whyNot === null).map(({ verb }) => VERB_TARGET[verb]);
    const open = TRANSITIONS[state].filter((to) => to !== 'suspended' && to !== 'frozen');
    expect(allowed.toSorted(), state).toEqual(open.toSorted());
    for (const { verb, hops } of offers) if (verb === 'suspend' || verb === 'freeze') expect(hops).toBeNull();
  }
  const suspend = moveOffers({ ...row, state: 'active', ephemeral: true }, ADMIN).find(
    ({ verb }) => verb === 'suspend',
  );
  expect(suspend?.whyNot).toContain('ephemeral');
});

test('an archived sandbox is revived, not merely resumed', () => {
  const offered = moveOffers({ ...row, state: 'archived' }, ADMIN).filter(({ whyNot }) => whyNot === null);
  expect(offered.map(({ verb }) => verb)).toEqual(['revive', 'delete']);
});

test('with a blocking fault only a forced wake is offered, and nothing while a verb is under way', () => {
  const faulty = moveOffers({ ...row, state: 'frozen', fault: 'corrupt' }, ADMIN).filter(
    ({ whyNot }) => whyNot === null,
  );
  expect(faulty).toEqual([{ verb: 'resume', whyNot: null, force: 'Clear the fault and try once more.', hops: null }]);
  expect(
    moveOffers({ ...row, pending: 'freeze' }, ADMIN).every(({ whyNot }) => whyNot?.includes('freeze is under way')),
  ).toBe(true);
  const pendingOffers = moveOffers({ ...row, pending: 'freeze', interrupted: true }, ADMIN);
  expect(pendingOffers.every(({ whyNot }) => whyNot?.includes('settle it first'))).toBe(true);
});

test('a role is offered its operations, and the reason for each other one', () => {
  const offered = (role: Role, state: Instance['state']) =>
    moveOffers({ ...row, state }, { role, tenants: null })
      .filter(({ whyNot }) => whyNot === null)
      .map(({ verb }) => verb);
  expect(STATES.flatMap((state) => offered('viewer', state))).toEqual([]);
  expect(STATES.flatMap((state) => offered('support', state))).toEqual(['revive']);
  expect(offered('operator', 'suspended')).toEqual(['resume', 'freeze']);
  const elsewhere = moveOffers(row, { role: 'operator', tenants: ['another'] });
  expect(elsewhere.every(({ whyNot }) => whyNot === 'It belongs to another tenant.')).toBe(true);
});

test('what the map forbids in one hop is offered as a plan, and only to callers who may run it', () => {
  const plans = (instance: Partial<Instance>, role: Role = 'admin') =>
    Object.fromEntries(
      moveOffers({ ...row, ...instance }, { role, tenants: null }).flatMap(({ verb, hops }) =>
        hops === null ? [] : [[verb, hops.join(' ')]],
      ),
    );
  expect(plans({ state: 'suspended' })).toEqual({ archive: 'active archived', delete: 'active archived deleted' });
  expect(plans({ state: 'active' })).toEqual({ freeze: 'suspended frozen', delete: 'archived deleted' });
  expect(plans({ state: 'suspended' }, 'viewer')).toEqual({});
  expect(plans({ state: 'suspended', pending: 'freeze' })).toEqual({});
  expect(plans({ state: 'suspended', fault: 'corrupt' })).toHaveProperty('delete');
  expect(plans({ state: 'suspended', fault: 'corrupt' })).not.toHaveProperty('archive');
});

test('nothing is offered to a sandbox whose host is away, by force or in steps neither, and each says which host it is', () => {
  const unreachable = { last_seen: 1, recovery_point: null, goes_on: null };
  for (const state of STATES) {
    for (const fault of [null, 'unknown'] as const) {
      for (const offer of moveOffers({ ...row, state, fault, host: 'one', unreachable }, ADMIN)) {
        expect(offer).toMatchObject({ force: null, hops: null });
        expect(offer.whyNot).toMatch(/^Its host, one, is away: .+ started, with its disk\.$/);
      }
    }
  }
});

test('what goes on elsewhere is woken while its host is away, and nothing else is done to it', () => {
  for (const goesOn of ['whole', 'seconds'] as const) {
    const unreachable = { last_seen: 1, recovery_point: null, goes_on: goesOn };
    for (const state of ['active', 'suspended', 'frozen'] as const) {
      const offers = moveOffers({ ...row, state, host: 'one', unreachable }, ADMIN);
      expect(offers.filter(({ whyNot }) => whyNot === null).map(({ verb }) => verb)).toEqual(['resume']);
    }
    // What that host had begun keeps nobody waiting.
    const begun = moveOffers({ ...row, state: 'archived', pending: 'revive', host: 'one', unreachable }, ADMIN);
    expect(begun.filter(({ whyNot }) => whyNot === null).map(({ verb }) => verb)).toEqual(['revive']);
  }
});
