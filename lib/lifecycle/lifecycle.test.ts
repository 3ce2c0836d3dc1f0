import { describe, expect, test } from 'vitest';
import { autoNext, type LadderSubject, nextMove } from './ladder.ts';
import { hopRefusal, plan } from './plan.ts';
import {
  HOPS,
  hopsFrom,
  isState,
  STATES,
  type State,
  TRANSITIONS,
  transition,
  VERB_TARGET,
  VERBS,
  WAKE_VERBS,
} from './state-map.ts';
import { isBlocking } from './words.ts';

/** The map as the design states it, written out a second time on purpose: the code must not drift from it. */
const MAP: Record<State, State[]> = {
  created: ['active'],
  active: ['suspended', 'archived'],
  suspended: ['active', 'frozen'],
  frozen: ['active', 'archived'],
  archived: ['active', 'deleted'],
  deleted: [],
};

describe('the state map', () => {
  for (const from of STATES) {
    for (const to of STATES) {
      const allowed = MAP[from].includes(to);
      test(`${from} → ${to} is ${allowed ? 'a hop' : 'no hop'}`, () => {
        expect(transition(from, to)).toBe(allowed ? 'ok' : 'invalid');
      });
    }
  }

  test('an unknown state is invalid on either side', () => {
    for (const known of STATES) {
      for (const unknown of ['', 'running', 'ACTIVE', 'constructor', '__proto__']) {
        expect(transition(unknown, known)).toBe('invalid');
        expect(transition(known, unknown)).toBe('invalid');
        expect(isState(unknown)).toBe(false);
      }
    }
  });

  test('the table has exactly the hops of the map, and what is derived from it agrees with it', () => {
    const mapped = STATES.flatMap((from) => MAP[from].map((to) => `${from} ${to}`)).sort();
    expect(HOPS.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(mapped);
    expect(TRANSITIONS).toEqual(MAP);
    expect(VERBS).toEqual(['resume', 'suspend', 'freeze', 'archive', 'revive', 'delete']);
    for (const hop of HOPS) expect(VERB_TARGET[hop.verb]).toBe(hop.to);
    expect(WAKE_VERBS).toEqual(['resume', 'revive']);
    expect(HOPS.filter((hop) => hop.auto).map(({ from, to }) => [from, to])).toEqual([
      ['active', 'suspended'],
      ['suspended', 'frozen'],
    ]);
  });

  test('every refused hop has its reason in words', () => {
    for (const from of STATES) {
      for (const to of STATES) {
        if (transition(from, to) === 'invalid') expect(hopRefusal(from, to)).toMatch(/^[A-Z].{10,}\.$/);
      }
    }
  });
});

describe('the ladder', () => {
  const policy = { idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 };

  test('active suspends at 900 idle seconds, both bounds inclusive', () => {
    expect(autoNext('active', 899, policy)).toBeNull();
    expect(autoNext('active', 900, policy)).toBe('suspended');
    expect(autoNext('active', 901, policy)).toBe('suspended');
  });

  test('suspended freezes at 86 400 idle seconds, both bounds inclusive', () => {
    expect(autoNext('suspended', 86_399, policy)).toBeNull();
    expect(autoNext('suspended', 86_400, policy)).toBe('frozen');
    expect(autoNext('suspended', 86_401, policy)).toBe('frozen');
  });

  test('nothing else moves by itself, however long it idles', () => {
    for (const state of ['created', 'frozen', 'archived', 'deleted'] as const) {
      expect(autoNext(state, Number.MAX_SAFE_INTEGER, policy)).toBeNull();
    }
  });

  const subject: LadderSubject = {
    state: 'active',
    updated: 1000,
    created: 500,
    keepHot: false,
    holdUntil: null,
    ephemeral: false,
    blocked: false,
    attached: 0,
  };

  test('the coming move falls due exactly when the ladder would take it', () => {
    for (const state of ['active', 'suspended'] as const) {
      const move = nextMove({ ...subject, state }, policy);
      expect(move).not.toBeNull();
      if (move === null) return;
      expect(autoNext(state, move.at - subject.updated, policy)).toBe(move.state);
      expect(autoNext(state, move.at - subject.updated - 1, policy)).toBeNull();
    }
  });

  test('keep hot, an attached terminal or a running call, and a blocking fault stop every automatic move', () => {
    for (const state of STATES) {
      for (const ephemeral of [false, true]) {
        const base = { ...subject, state, ephemeral };
        expect(nextMove({ ...base, keepHot: true }, policy)).toBeNull();
        expect(nextMove({ ...base, attached: 1 }, policy)).toBeNull();
        expect(nextMove({ ...base, blocked: true }, policy)).toBeNull();
      }
    }
  });

  test('a hold puts the move off until it ends and no longer', () => {
    expect(nextMove({ ...subject, holdUntil: 5000 }, policy)?.at).toBe(5000);
    expect(nextMove({ ...subject, holdUntil: 1200 }, policy)?.at).toBe(1900);
  });

  test('an ephemeral sandbox goes to deleted at its timeout by hops of the map', () => {
    expect(nextMove({ ...subject, ephemeral: true }, policy)).toMatchObject({ state: 'archived', at: 1900 });
    expect(nextMove({ ...subject, ephemeral: true, state: 'archived' }, policy)).toMatchObject({
      state: 'deleted',
      at: 1900,
    });
    expect(nextMove({ ...subject, ephemeral: true, state: 'created' }, policy)).toBeNull();
    for (const [begun, path] of [
      ['active', ['archived', 'deleted']],
      ['suspended', ['archived', 'deleted']],
      ['frozen', ['archived', 'deleted']],
    ] as const) {
      let state: State = begun;
      const visited: State[] = [];
      for (;;) {
        const move = nextMove({ ...subject, ephemeral: true, state }, policy);
        if (move === null) break;
        expect(plan(state, move.state, { ephemeral: true })).not.toBeNull();
        state = move.state;
        visited.push(state);
      }
      expect(visited).toEqual(path);
    }
  });

  test('one whose process ended before its time keeps that time, and passes active on its way', () => {
    const asleep = { ...subject, ephemeral: true, state: 'suspended' as const };
    expect(nextMove(asleep, policy)).toMatchObject({ state: 'archived', at: 1900 });
    expect(plan('suspended', 'archived', { ephemeral: true })).toEqual(['active', 'archived']);
  });
});

describe('plans', () => {
  test('every plan is made of hops of the map, and there is one exactly where the map has a way', () => {
    for (const from of STATES) {
      for (const to of STATES) {
        const hops = plan(from, to);
        if (from === to) expect(hops).toEqual([]);
        else if (to === 'created' || from === 'deleted') expect(hops).toBeNull();
        else {
          expect(hops?.at(-1)).toBe(to);
          let at: State = from;
          for (const hop of hops ?? []) {
            expect(transition(at, hop)).toBe('ok');
            at = hop;
          }
        }
      }
    }
  });

  test('an ephemeral sandbox is brought to suspended and frozen from nowhere, and everywhere else as any other', () => {
    const ephemeral = { ephemeral: true };
    for (const from of STATES) {
      expect(hopsFrom(from, ephemeral)).toEqual(MAP[from].filter((to) => to !== 'suspended' && to !== 'frozen'));
      for (const to of STATES) {
        const closed = (to === 'suspended' || to === 'frozen') && from !== to;
        expect(plan(from, to, ephemeral), `${from} ${to}`).toEqual(closed ? null : plan(from, to));
        expect(plan(from, to, ephemeral) ?? []).not.toContain('frozen');
        if (closed && from !== 'deleted') expect(hopRefusal(from, to, ephemeral)).toContain('ephemeral');
        if (from !== to) expect(hopRefusal(from, to, ephemeral)).toMatch(/^[A-Z].{10,}\.$/);
      }
    }
  });

  test('plans of several hops are the shortest', () => {
    expect(plan('active', 'frozen')).toEqual(['suspended', 'frozen']);
    expect(plan('suspended', 'deleted')).toEqual(['active', 'archived', 'deleted']);
    expect(plan('created', 'deleted')).toEqual(['active', 'archived', 'deleted']);
    expect(plan('frozen', 'suspended')).toEqual(['active', 'suspended']);
  });
});

test('only an error leaves a sandbox free to wake', () => {
  expect(isBlocking(null)).toBe(false);
  expect(isBlocking('error')).toBe(false);
  for (const fault of ['unknown', 'corrupt', 'missing'] as const) expect(isBlocking(fault)).toBe(true);
});
