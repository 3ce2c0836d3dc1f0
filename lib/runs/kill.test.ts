/** Rounds of `kill -9` on a real server amid calls and runs. `WB_KILL_SEED` draws other moments. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import type { ExecAnswer, Instance, RunOutput, SandboxRun } from '../contract/schema.ts';
import { processesOf } from '../testing/leftovers.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { treeOf } from '../testing/process-tree.ts';

const SEED = Number(process.env.WB_KILL_SEED ?? 20261124);
const ROUNDS = 5;
const SLOW_MS = 240_000;

/** Runs give way to everything else on the machine, which may be busy for long: where one may, they need not here. */
function hurry({ child }: ServerProcess): void {
  for (const pid of treeOf(child.pid ?? 0)) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), 0);
    } catch {
      // It has ended, or only a privileged user may.
    }
  }
}
/** What each does again and again: one command writes a number to two files, then the number is said. */
const WRITERS = {
  shell: Array.from(
    { length: 400 },
    (_, n) => `{ echo ${n + 1} > sh-a; sleep 0.01; echo ${n + 1} > sh-b; }; echo ${n + 1}`,
  ).join('\n'),
  python: Array.from(
    { length: 60 },
    (_, n) => `python3 -c "for x in 'ab': open('py-' + x, 'w').write('${n + 1}\\n')"; echo ${n + 1}`,
  ).join('\n'),
  js: Array.from(
    { length: 400 },
    (_, n) => `x=$(js -e 'console.log(${n + 1})'); { echo $x > js-a; echo $x > js-b; }; echo $x`,
  ).join('\n'),
};
type Writer = keyof typeof WRITERS;
const FILES: Record<Writer, string> = { shell: 'sh', python: 'py', js: 'js' };

/** Whole numbers from 0 below `most`, the same ones for the same seed. */
function drawn(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

const start = (folder: string) => spawnServer({ folder, alone: false, settings: { WB_RUNS_PER_SANDBOX: '8' } });
const at = (id: string) => `/api/instances/${id}`;

/**
 * The number in both files of a pair. `apart`: by how much the first may be ahead. A command in the background that
 * writes for more than a second is not committed whole.
 */
async function pairOf(server: ServerProcess, id: string, name: string, apart = 0): Promise<number> {
  const [a, b] = await Promise.all(
    ['a', 'b'].map(async (half) => {
      const { status, text } = await server.call('GET', `${at(id)}/volumes/workspace/${name}-${half}`);
      return status === 200 ? Number(text) : 0;
    }),
  );
  expect((a ?? Number.NaN) - (b ?? Number.NaN), `${name} is torn`).toBeOneOf(apart === 0 ? [0] : [0, apart]);
  return b ?? Number.NaN;
}

/** The highest number that a run had said before its server was killed: what was said is on disk. */
async function saidBy(server: ServerProcess, { id, instance }: SandboxRun): Promise<number> {
  const { json } = await server.call<RunOutput>('GET', `${at(instance)}/runs/${id}/output?limit=1048576`);
  const lines = json.pieces
    .map(({ text }) => text)
    .join('')
    .split('\n')
    .slice(0, -1);
  return Number(lines.at(-1) ?? 0);
}

test(`killed ${ROUNDS} times amid runs of each language, a server keeps what it answered, names what it lost, and leaves nothing behind (seed ${SEED})`, async () => {
  const draw = drawn(SEED);
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-runs-killed-'));
  let server = await start(folder);
  try {
    for (const id of [...Object.keys(WRITERS), 'calls'])
      await server.call('POST', '/api/instances', { id, tenant: 'acme' });
    let answered = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const done = (
        await server.call<SandboxRun>('POST', `${at('calls')}/runs`, { command: `echo ${round}; exit ${round}` })
      ).json;
      await vi.waitFor(async () => {
        const { json } = await server.call<SandboxRun>('GET', `${at('calls')}/runs/${done.id}`);
        expect(json).toMatchObject({ state: 'done', exit_code: round });
      }, 240_000);
      const runs = new Map<Writer, SandboxRun>();
      for (const kind of Object.keys(WRITERS) as Writer[]) {
        await server.call('POST', `${at(kind)}/exec`, { command: `rm -f ${FILES[kind]}-a ${FILES[kind]}-b` });
        const body = { command: `${WRITERS[kind]}\nsleep 600`, timeout_ms: 600_000 };
        const begun = await server.call<SandboxRun>('POST', `${at(kind)}/runs`, body);
        expect(begun.status, begun.text).toBe(202);
        runs.set(kind, begun.json);
      }
      const said = new Map<Writer, number>();
      await vi.waitFor(async () => {
        hurry(server);
        for (const [kind, run] of runs) {
          said.set(kind, await saidBy(server, run));
          expect(said.get(kind), kind).toBeGreaterThan(0);
        }
      }, SLOW_MS);
      const calls = 3 + draw(20);
      const killed = server;
      for (let n = 0; n < calls; n += 1) {
        const next = answered + 1;
        const command = `{ echo ${next} > call-a; echo ${next} > call-b; }`;
        const { json } = await killed.call<ExecAnswer>('POST', `${at('calls')}/exec`, { command });
        expect(json.exit_code).toBe(0);
        answered = next;
      }
      const cut = `{ echo ${answered + 1} > call-a; echo ${answered + 1} > call-b; }`;
      const unanswered = killed.call('POST', `${at('calls')}/exec`, { command: cut }).then(
        ({ status }) => status === 200,
        () => false,
      );
      await new Promise((resolve) => setTimeout(resolve, draw(8)));
      expect(await killed.end('SIGKILL')).toBe('SIGKILL');
      if (await unanswered) answered += 1;
      await vi.waitFor(() => expect(processesOf(folder)).toEqual([]), 240_000);

      server = await start(folder);
      const kept = await pairOf(server, 'calls', 'call');
      expect(kept).toBeGreaterThanOrEqual(answered);
      expect(kept).toBeLessThanOrEqual(answered + 1);
      answered = kept;
      const ended = (await server.call<SandboxRun>('GET', `${at('calls')}/runs/${done.id}`)).json;
      expect(ended).toMatchObject({ state: 'done', exit_code: round });
      for (const [kind, run] of runs) {
        const lost = (await server.call<SandboxRun>('GET', `${at(kind)}/runs/${run.id}`)).json;
        expect(lost).toMatchObject({ state: 'lost', exit_code: null });
        expect(lost.reason).toContain('The server ended under it');
        expect(lost.ended).not.toBeNull();
        expect(await pairOf(server, kind, FILES[kind], 1), kind).toBeGreaterThanOrEqual(said.get(kind) ?? 0);
        const { fault, calls: underWay } = (await server.call<Instance>('GET', at(kind))).json;
        expect({ fault, underWay }).toEqual({ fault: null, underWay: 0 });
      }
    }
    const told = await server.call<unknown[]>('GET', '/api/events?type=run.lost&limit=100');
    expect(told.json).toHaveLength(ROUNDS * Object.keys(WRITERS).length);
    expect(await server.end()).toBe(0);
    expect(processesOf(folder)).toEqual([]);
    for (const id of [...Object.keys(WRITERS), 'calls']) {
      const database = new Database(join(folder, 'live', id, 'vfs.sqlite'), { readonly: true });
      expect(database.pragma('integrity_check', { simple: true }), id).toBe('ok');
      database.close();
    }
  } finally {
    await server.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}, 1_200_000);
