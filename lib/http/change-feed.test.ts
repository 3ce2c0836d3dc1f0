import { expect, test, vi } from 'vitest';
import type { InstanceId } from '../base/ids.ts';
import type { Changes, Instance } from '../contract/schema.ts';
import type { StartProgress } from '../copies/seeding.ts';
import { STATES, type State } from '../lifecycle/state-map.ts';
import { CommitEvents } from '../registry/commit-events.ts';
import type { JobRow } from '../registry/jobs.ts';
import type { RunRow } from '../registry/runs.ts';
import type { InstanceRow, LedgerLine } from '../registry/types.ts';
import { createChangeFeed } from './change-feed.ts';

const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
const faults = { error: 0, unknown: 0, corrupt: 0, missing: 0 };

/** A feed of a registry in which every id has a row, and of whose lines those up to `dropped` are gone. */
function feedOf(dropped = 0, last = 100) {
  const ledgerFeed = new CommitEvents();
  let listening = 0;
  const counted =
    <L>(join: (listener: L) => () => void) =>
    (listener: L) => {
      const leave = join(listener);
      listening += 1;
      return () => {
        leave();
        listening -= 1;
      };
    };
  ledgerFeed.onLedgerAppend = counted(ledgerFeed.onLedgerAppend.bind(ledgerFeed));
  ledgerFeed.onJobChange = counted(ledgerFeed.onJobChange.bind(ledgerFeed));
  let started: ((started: StartProgress) => void) | undefined;
  let hostChanged: ((host: string) => void) | undefined;
  let operated: ((id: InstanceId) => void) | undefined;
  let ran: ((run: RunRow) => void) | undefined;
  const read: string[] = [];
  const feed = createChangeFeed({
    actors: { load: async () => {}, nameOf: () => 'Ada' },
    events: {
      failed(error) {
        throw error;
      },
    },
    registry: {
      commitEvents: ledgerFeed,
      instances: {
        async get(id) {
          read.push(id);
          return { id, tenant: id.split('-')[0] } as InstanceRow;
        },
        async list({ host }) {
          const names = host === 'one' ? ['acme-7', 'globex-7'] : [];
          return { rows: names.map((id) => ({ id, tenant: id.split('-')[0] }) as InstanceRow), next: null };
        },
        countsByState: async () => counts,
        countsByFault: async () => faults,
      },
      ledger: {
        lastSeq: async () => last,
        after: async (seq) => [{ seq: Math.max(seq, dropped) + 1 } as LedgerLine],
      },
      jobs: {
        // The name of a job says whose it is: `acme+globex`, `all`.
        async get(id) {
          read.push(id);
          return { id, tenants: id === 'all' ? null : id.split('+'), request: { filter: {} }, done: 7 } as JobRow;
        },
      },
    },
    runs: {
      onChange(listener) {
        ran = listener;
        return () => {
          ran = undefined;
        };
      },
    },
    seeding: {
      onProgress(listener) {
        started = listener;
        return () => {
          started = undefined;
        };
      },
    },
    sandboxes: {
      onOperationChange(listener) {
        operated = listener;
        return () => {
          operated = undefined;
        };
      },
    },
    hosts: {
      onReachChange(listener) {
        hostChanged = listener;
        return () => {
          hostChanged = undefined;
        };
      },
    },
    serializer: {
      serialize: async (row) => row as unknown as Instance,
      serializeAll: async (rows) => rows as unknown as Instance[],
    },
    countWarm: async () => 0,
    everyMs: 20,
  });
  let seq = 0;
  const append = (...ids: string[]) =>
    ledgerFeed.emitLedgerAppend(
      ids.map((id) => {
        seq += 1;
        return { seq, type: 'instance.changed', instance: id, tenant: id.split('-')[0] } as LedgerLine;
      }),
    );
  const isListening = () =>
    listening > 0 || [started, operated, ran, hostChanged].some((listener) => listener !== undefined);
  return {
    feed,
    read,
    append,
    isListening,
    move: (id: string) => ledgerFeed.emitJobChange(id),
    start: (far: StartProgress) => started?.(far),
    operate: (id: InstanceId) => operated?.(id),
    changeHost: (host: string) => hostChanged?.(host),
    run: (id: string, terminal: string | null = null) => ran?.({ instance: id, terminal } as RunRow),
  };
}

const parsed = (piece: Buffer): Changes => JSON.parse(/^data: (.*)$/m.exec(piece.toString())?.[1] ?? '');

test('a row that changes often is read seldom, and told in one piece to all who see the same', async () => {
  const { feed, read, append } = feedOf();
  const pieces: Buffer[][] = [[], [], []];
  feed.join(null, (piece) => pieces[0]?.push(piece));
  feed.join(null, (piece) => pieces[1]?.push(piece));
  feed.join(['acme'], (piece) => pieces[2]?.push(piece));
  for (let n = 0; n < 50; n += 1) append('acme-1', 'globex-1');
  await vi.waitFor(() => expect(pieces[0]?.length).toBe(1), { timeout: 240_000 });
  expect(read).toEqual(['acme-1', 'globex-1']);
  expect(pieces[1]?.[0]).toBe(pieces[0]?.[0]);
  expect(parsed(pieces[2]?.[0] as Buffer).rows.map(({ id }) => id)).toEqual(['acme-1']);
  expect(parsed(pieces[2]?.[0] as Buffer).tenants.map(({ tenant }) => tenant)).toEqual(['acme']);
});

test('a verb that begins or ends is told without a line, as the row alone, to who may see it', async () => {
  const { feed, operate } = feedOf();
  const theirs: Changes[] = [];
  const others: Changes[] = [];
  feed.join(['acme'], (piece) => theirs.push(parsed(piece)));
  feed.join(['globex'], (piece) => others.push(parsed(piece)));
  operate('acme-1' as InstanceId);
  await vi.waitFor(() => expect(theirs.length).toBe(1), { timeout: 240_000 });
  expect(theirs[0]).toMatchObject({ rows: [{ id: 'acme-1' }], tenants: [], jobs: [], more: false });
  operate('acme-1' as InstanceId);
  await vi.waitFor(() => expect(theirs.length).toBe(2), { timeout: 240_000 });
  expect(others).toEqual([]);
});

test('what a host has is told when that goes away or comes back, to each what is theirs', async () => {
  const { feed, changeHost } = feedOf();
  const theirs: Changes[] = [];
  const others: Changes[] = [];
  feed.join(['acme'], (piece) => theirs.push(parsed(piece)));
  feed.join(['initech'], (piece) => others.push(parsed(piece)));
  changeHost('one');
  changeHost('two');
  await vi.waitFor(() => expect(theirs).toHaveLength(1), { timeout: 240_000 });
  expect(theirs[0]?.rows.map(({ id }) => id)).toEqual(['acme-7']);
  expect(theirs[0]?.tenants.map(({ tenant }) => tenant)).toEqual(['acme']);
  expect(others).toEqual([]);
});

test('a run is told with the row that it holds, a line of a terminal as the row alone, to who may see it', async () => {
  const { feed, run } = feedOf();
  const theirs: Changes[] = [];
  const others: Changes[] = [];
  feed.join(['acme'], (piece) => theirs.push(parsed(piece)));
  feed.join(['globex'], (piece) => others.push(parsed(piece)));
  run('acme-1');
  run('acme-2', 'term-1');
  await vi.waitFor(() => expect(theirs.length).toBe(1), { timeout: 240_000 });
  expect(theirs[0]).toMatchObject({ rows: [{ id: 'acme-1' }, { id: 'acme-2' }], runs: ['acme-1'], more: false });
  run('globex-1');
  await vi.waitFor(() => expect(others.length).toBe(1), { timeout: 240_000 });
  expect([theirs.length, others[0]?.runs]).toEqual([1, ['globex-1']]);
});

test('when more changes than a page shows, it says that there is more', async () => {
  const { feed, append } = feedOf();
  const received: Changes[] = [];
  feed.join(null, (piece) => received.push(parsed(piece)));
  append(...Array.from({ length: 2000 }, (_, n) => `acme-${n}`));
  await vi.waitFor(() => expect(received.length).toBe(1), { timeout: 240_000 });
  expect(received[0]?.more).toBe(true);
  expect(received[0]?.rows.length).toBe(500);
});

test('how far a job is hears only who may see all that it concerns; the others not even that something happened', async () => {
  const { feed, read, move } = feedOf();
  const scopes = [null, ['acme'], ['globex'], ['acme', 'globex'], ['acme', 'initech', 'globex']];
  const received = scopes.map((): Changes[] => []);
  scopes.forEach((scope, at) => {
    feed.join(scope, (piece) => received[at]?.push(parsed(piece)));
  });
  for (let n = 0; n < 30; n += 1) move('acme+globex');
  await vi.waitFor(() => expect(received[0]?.length).toBe(1), { timeout: 240_000 });
  expect(read).toEqual(['acme+globex']);
  expect(received.map((pieces) => pieces.map(({ jobs }) => jobs.map(({ id, done }) => [id, done])))).toEqual([
    [[['acme+globex', 7]]],
    [],
    [],
    [[['acme+globex', 7]]],
    [[['acme+globex', 7]]],
  ]);
  move('all');
  move('globex');
  await vi.waitFor(() => expect(received[0]?.[1]?.jobs.map(({ id }) => id)).toEqual(['all', 'globex']), {
    timeout: 240_000,
  });
  expect(received.map((pieces) => pieces[1]?.jobs.map(({ id }) => id))).toEqual([
    ['all', 'globex'],
    undefined,
    undefined,
    ['globex'],
    ['globex'],
  ]);
  expect(received[2]?.map(({ jobs }) => jobs.map(({ id }) => id))).toEqual([['globex']]);
});

test('when more jobs change than fit into a batch they take turns, and a start reaches its tenant with its newest numbers', async () => {
  const { feed, move, start } = feedOf();
  const received: Changes[] = [];
  const others: Changes[] = [];
  feed.join(['acme'], (piece) => received.push(parsed(piece)));
  feed.join(['globex'], (piece) => others.push(parsed(piece)));
  for (let n = 0; n < 250; n += 1) move(`acme${'+acme'.repeat(n)}`);
  await vi.waitFor(() => expect(new Set(received.flatMap(({ jobs }) => jobs.map(({ id }) => id))).size).toBe(250), {
    timeout: 240_000,
  });
  expect(received.every(({ jobs, more }) => jobs.length <= 100 && !more)).toBe(true);
  for (const started of [1, 2, 3]) start({ requestId: 'one', tenant: 'acme', started, failed: 0, total: 9 });
  await vi.waitFor(
    () =>
      expect(received.at(-1)?.starts).toEqual([{ request_id: 'one', tenant: 'acme', started: 3, failed: 0, total: 9 }]),
    { timeout: 240_000 },
  );
  expect(others).toEqual([]);
});

test('nothing is read without a listener', async () => {
  const { feed, read, append, isListening } = feedOf();
  expect(isListening()).toBe(false);
  const leave = feed.join(null, () => undefined);
  expect(isListening()).toBe(true);
  append('acme-1');
  leave();
  expect(isListening()).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(read).toEqual([]);
});

test('lines that were dropped since, or that there never were, are no whole ledger', async () => {
  const { feed } = feedOf(40, 100);
  expect(await feed.standing(100)).toEqual({ last: 100, whole: true });
  expect(await feed.standing(60)).toEqual({ last: 100, whole: true });
  expect(await feed.standing(20)).toEqual({ last: 100, whole: false });
  expect(await feed.standing(500)).toEqual({ last: 100, whole: false });
});
