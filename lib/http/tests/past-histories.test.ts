/**
 * Random histories of a sandbox: what it is said to have been at any second is what a copy of then has, whatever state
 * it was in, after restores, restarts and merges, and at each level of what is kept.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import type { Instance, Moment } from '../../contract/schema.ts';
import { numbersOf } from '../../replication/testing/history.ts';
import { DAY, DRAWN_BY, DRAWS_ALL } from '../../testing/draw.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const ALL = 12;
const STEPS = 14;
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
/** All of it, tmp too: what a copy of the sandbox would hold. */
const SQL = 'SELECT volume, path, hex(content), mtime FROM vfs ORDER BY volume, path';

interface Known {
  /** Seconds since the epoch. */
  second: number;
  dump: string;
  state: string;
}

const counts: Record<string, number> = {};

class PastHistory {
  readonly known: Known[] = [];
  /** What was there when a moment was named, by its name. */
  readonly #named = new Map<string, string>();
  /** What each restore replaced that was not undone yet. */
  readonly #replaced: string[] = [];
  readonly #folder: string;
  readonly #clock = new FakeClock();
  readonly #random: () => number;
  #server: TestServer | null = null;

  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#random = numbersOf(seed);
  }

  async live(): Promise<void> {
    await this.start();
    await this.#call('POST', '', { id: 'a', tenant: 'acme' });
    for (let step = 0; step < STEPS; step += 1) {
      this.#clock.advance(1 + this.#below(50));
      await this.#step();
      await this.#note();
    }
  }

  async start(): Promise<void> {
    this.#server = await startServer({
      folder: join(this.#folder, 'data'),
      clock: this.#clock,
      settings: { WB_REPLICA_URL: `file://${join(this.#folder, 'bucket')}` },
    });
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = null;
  }

  /** A server that has opened nothing yet, so much later. */
  async later(seconds: number): Promise<void> {
    await this.stop();
    this.#clock.advance(seconds);
    await this.start();
  }

  /** All minutes and hours are over, and merged. */
  async merge(): Promise<void> {
    const levels = this.#server?.host.replica?.levels;
    for (let round = 0; round < 2; round += 1) {
      levels?.look();
      await levels?.whenMerged();
    }
  }

  async age(): Promise<number> {
    return (await this.#server?.host.replica?.retention.run()) ?? 0;
  }

  /** Each known second, and a time between it and the next; returns of how many seconds something was read. */
  async compare(when: string): Promise<number> {
    const used = new Set<number>();
    for (const [at, { second }] of this.known.entries()) {
      const next = this.known[at + 1]?.second ?? second + 2;
      for (const time of [second, second + this.#random() * (next - second - 0.001)]) {
        const answer = await this.#call<{ rows?: unknown; code?: string }>('POST', `/a/query?at=${time}`, { sql: SQL });
        const moment = Number(answer.headers['x-moment']);
        if (answer.json.code === 'moment_gone') {
          // Then nothing older is there either.
          if (used.size > 0) throw new Error(`${when}: nothing at ${time}, but something before`);
          continue;
        }
        const known = this.known.find((one) => one.second === Math.floor(moment));
        if (known === undefined || moment > Math.floor(time) + 1) {
          throw new Error(`${when}: at ${time} it says ${moment}: ${answer.text.slice(0, 300)}`);
        }
        if (JSON.stringify(answer.json.rows) !== known.dump) {
          throw new Error(`${when}: at ${time}, of ${moment}, it is not what it was (${known.state})`);
        }
        used.add(known.second);
      }
    }
    return used.size;
  }

  /** Each of the listed moments is found by its own time. */
  async compareList(): Promise<number> {
    const listed = await this.#call<Moment[]>('GET', '/a/moments?limit=500');
    for (const { time_ms: ms } of listed.json) {
      const answer = await this.#call('POST', `/a/query?at=${ms / 1000 + 0.0004}`, { sql: 'SELECT 1' });
      expect([answer.status, answer.headers['x-moment']]).toEqual([200, String(ms / 1000)]);
    }
    return listed.json.length;
  }

  /** Each name is of what was there when it was given, whatever the replica has of then. Returns how many there are. */
  async compareNamed(when: string): Promise<number> {
    const listed = (await this.#call<Moment[]>('GET', '/a/moments?kind=named&limit=500')).json;
    const own = listed.filter(({ name }) => this.#named.has(name ?? ''));
    if (own.length !== this.#named.size) throw new Error(`${when}: ${own.length} of ${this.#named.size} names`);
    for (const { name, time_ms: ms } of own) {
      const answer = await this.#call<{ rows?: unknown }>('POST', `/a/query?at=${(ms + 0.4) / 1000}`, { sql: SQL });
      if (JSON.stringify(answer.json.rows) !== this.#named.get(name ?? '')) {
        throw new Error(`${when}: "${name}" is not what it was: ${answer.text.slice(0, 300)}`);
      }
    }
    return own.length;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  async #call<T>(method: string, path: string, body?: object | string) {
    if (this.#server === null) throw new Error('There is no server.');
    return this.#server.call<T>(method, `/api/instances${path}`, body);
  }

  async #done(method: string, path: string, body?: object | string): Promise<void> {
    const { status, text } = await this.#call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    counts[path.replace(/^\/a\//, '').replace(/\/.*/, '')] =
      (counts[path.replace(/^\/a\//, '').replace(/\/.*/, '')] ?? 0) + 1;
  }

  async #step(): Promise<void> {
    const { state } = (await this.#call<Instance>('GET', '/a')).json;
    const file = () => `/a/volumes/${['workspace', 'memory', 'tmp'][this.#below(3)]}/f${this.#below(6)}`;
    const write = () => this.#done('PUT', file(), `${this.#random()} `.repeat(1 + this.#below(3000)));
    const script = () => this.#done('POST', '/a/exec', { command: SCRIPTS[this.#below(SCRIPTS.length)] ?? '' });
    const rest = (verb: string) => () => this.#done('POST', `/a/${verb}`, {});
    const back = async () => {
      const to = this.known[this.#below(this.known.length)];
      if (to === undefined) return;
      const before = this.known.at(-1)?.dump ?? '';
      await this.#done('POST', '/a/restore', { time: to.second });
      this.#replaced.push(before);
    };
    const undo = async () => {
      const before = this.#replaced.pop();
      if (before === undefined) return;
      await this.#done('POST', '/a/undo', {});
      const { json } = await this.#call<{ rows: unknown }>('POST', '/a/query', { sql: SQL });
      if (JSON.stringify(json.rows) !== before) throw new Error('an undo brought back something else');
    };
    const name = async () => {
      const one = `n${this.#named.size}`;
      await this.#done('PUT', `/a/moments/${one}`, {});
      this.#named.set(one, this.known.at(-1)?.dump ?? '');
    };
    const again = async () => {
      counts.restart = (counts.restart ?? 0) + 1;
      await this.later(0);
    };
    const works: Record<string, (() => Promise<void>)[]> = {
      created: [write, script],
      active: [write, write, script, script, rest('suspend'), rest('archive'), again, name],
      suspended: [write, script, rest('freeze'), rest('resume'), back, back, undo, name],
      frozen: [write, rest('archive'), rest('resume'), back, undo, name],
      archived: [rest('revive'), rest('revive'), back, undo],
    };
    const own = works[state] ?? [];
    await own[this.#below(own.length)]?.();
  }

  /** Once the replica has everything that there is. */
  async #note(): Promise<void> {
    const { state } = await vi.waitFor(
      async () => {
        const { json } = await this.#call<Instance>('GET', '/a');
        expect(json.recovery_point).toMatchObject({ behind_s: 0 });
        return json;
      },
      { timeout: 240_000, interval: 50 },
    );
    const { json } = await this.#call<{ rows: unknown }>('POST', '/a/query', { sql: SQL });
    this.known.push({ second: Math.floor(this.#clock.now() / 1000), dump: JSON.stringify(json.rows), state });
  }
}

const SCRIPTS = [
  'for n in 1 2 3; do seq 2000 > "n$n"; done',
  'mv f1 moved 2>/dev/null; mkdir -p d/e; cp f2 d/e/ 2>/dev/null; true',
  'rm -rf d f*; echo left > /memory/left',
  'sqlite3 s.db "CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (hex(randomblob(9000)))"',
  'echo "$RANDOM" >> /tmp/log; echo "$RANDOM" >> log',
];

const SEEDS = DRAWS_ALL ? Array.from({ length: ALL }, (_, seed) => seed) : [DAY];

test.each(SEEDS)('what a sandbox was at any second is what a copy of then has (%i)', async (seed) => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-past-history-'));
  const history = new PastHistory(folder, seed);
  try {
    await history.live();
    const awake = await history.compare('as it was shipped');
    expect(awake).toBeGreaterThan(STEPS / 3);
    expect(await history.compareList()).toBeGreaterThanOrEqual(awake);
    const names = await history.compareNamed('as it was shipped');
    await history.later(3 * HOUR_S);
    await history.merge();
    const all = await history.compare('once it was merged');
    // The stop filed what had woken last and committed nothing.
    expect([awake, awake + 1]).toContain(all);
    let kept = all;
    for (const days of [2, 9, 32]) {
      await history.later(days * DAY_S);
      expect([days, await history.age()]).toEqual([days, expect.any(Number)]);
      const left = await history.compare(`${days} days later`);
      expect(await history.compareNamed(`${days} days later`)).toBe(names);
      expect(left).toBeLessThanOrEqual(kept);
      kept = left;
    }
    expect(kept).toBeLessThan(all);
    expect(kept).toBeGreaterThan(0);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`history ${seed} (${DRAWN_BY}): ${why}`, { cause });
  } finally {
    await history.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test.runIf(DRAWS_ALL)('all of them together have every kind of step', () => {
  for (const name of ['restore', 'undo', 'moments', 'suspend', 'freeze', 'archive', 'revive', 'restart']) {
    expect([name, counts[name]]).toEqual([name, expect.any(Number)]);
  }
});
