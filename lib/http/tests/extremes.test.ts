/**
 * The work of one request is bounded: whatever its parameters are, no loop of the server turns more often than that,
 * and nobody else waits for it. Every operation of the OpenAPI document is asked at the extremes of what it declares.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { partOf } from '../../testing/draw.ts';
import type { Asked, Cost } from '../../testing/extremes/measured-server.ts';
import { type OpenApi, type Probe, probesOf } from '../../testing/extremes/requests.ts';
import { TEST_KEY } from '../../testing/key.ts';

/** Rounds of one loop for one request; each byte that it sends allows one more. */
const MOST_STEPS = 20_000;
/** Processor time of one turn of the event loop, in milliseconds. */
const MOST_TURN_MS = 50;
/** Instructions of SQLite for one request: twenty or so for each of as many rows. */
const MOST_INSTRUCTIONS = 20 * MOST_STEPS;
/**
 * What is too much is measured again, later and later: a collection of garbage is not the request's, nor is what a tick
 * or work in the background did, which takes longer on a busy machine.
 */
const ATTEMPTS = 12;
const LATER_MS = 100;
const NONE: Answered = { status: 0, bytes: 0, text: '', next: null };
/** How long the first part of a stream is waited for, and any answer. */
const STREAM_MS = 100;
const LONGEST_MS = 1500;
/** What gives or reads everything there is, in slices: its steps are as many as that; a turn of it is bounded. */
const WHOLE = new Set([
  'verifyLedger',
  'exportEvents',
  'exportLedgerSegment',
  'streamEvents',
  'compare',
  'simulate',
  'forgetTenant',
]);
/** What moves or multiplies sandboxes comes after what needs them. */
const LATE = /^(?:suspend|freeze|archive|revive|walkPlan|restore|salvage|startJob|clone|import|close|forget)/;

let child: ChildProcess;
let url = '';
let probes: Probe[] = [];

async function ask<T>(asked: Asked): Promise<T> {
  child.send(asked);
  const [answer] = await once(child, 'message');
  return answer as T;
}

interface Answered {
  status: number;
  /** Bytes of its body. */
  bytes: number;
  text: string;
  /** The address of the page after it. */
  next: string | null;
}

/** Sends it; resolves with its status when the answer has ended or takes too long. */
function send({ method, path, body }: Probe): Promise<Answered> {
  const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${TEST_KEY}`,
      ...(sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
    };
    const started = request(new URL(url).origin, { method, path, headers, agent: false }, (response) => {
      const [status, chunks] = [response.statusCode ?? 0, [] as Buffer[]];
      const done = () => {
        clearTimeout(timer);
        const [, next = null] = /<([^>]+)>; rel="next"/.exec(String(response.headers.link)) ?? [];
        resolve({ status, bytes: Buffer.byteLength(sent ?? ''), text: Buffer.concat(chunks).toString(), next });
      };
      if (response.headers['content-type']?.startsWith('text/event-stream')) {
        setTimeout(() => {
          started.destroy();
          done();
        }, STREAM_MS);
      }
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', done)
        .on('error', done)
        .on('close', done);
    });
    const timer = setTimeout(() => {
      started.destroy();
      resolve({ ...NONE, text: 'It takes too long.' });
    }, LONGEST_MS);
    started.on('error', (error) => {
      clearTimeout(timer);
      if (started.destroyed && !started.writableFinished) resolve({ ...NONE, text: String(error) });
      else reject(error);
    });
    started.end(sent);
  });
}

async function costOf(probe: Probe): Promise<Cost & Answered> {
  await ask('begin');
  const answer = await send(probe);
  return { ...(await ask<Cost>('end')), ...answer };
}

beforeAll(async () => {
  child = fork(join(import.meta.dirname, '..', '..', 'testing', 'extremes', 'measured-server.ts'), {
    execArgv: ['--no-warnings'],
    env: { ...process.env, WB_TEST_TARGET: '' },
  });
  const [ready] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [
    { url: string; made: Record<string, string> },
  ];
  url = ready.url;
  const document = await send({ operation: '', method: 'GET', path: '/openapi.json', what: '' });
  const every = probesOf(JSON.parse(document.text) as OpenApi, ready.made);
  // A round sends every other one of each operation.
  const all = [...Map.groupBy(every, ({ operation }) => operation).values()].flatMap((of) =>
    of.length === 1 ? of : partOf(of, 2),
  );
  probes = [
    ...all.filter(({ operation }) => !LATE.test(operation)),
    ...all.filter(({ operation }) => LATE.test(operation)),
  ];
});
afterAll(async () => {
  await ask('stop');
  child.kill();
});

/** What an operation cost at most. */
interface Row {
  asked: number;
  turnMs: number;
  steps: number;
  instructions: number;
  /** The request that took the most steps, and where. */
  what: string;
}
const rows = new Map<string, Row>();
const failed: string[] = [];

function rowOf({ operation }: Probe): Row {
  const row = rows.get(operation) ?? { asked: 0, turnMs: 0, steps: 0, instructions: 0, what: '' };
  rows.set(operation, row);
  return row;
}

function isTooMuch({ operation }: Probe, { turnMs, steps, instructions, bytes }: Cost & Answered): boolean {
  if (turnMs > MOST_TURN_MS) return true;
  return !WHOLE.has(operation) && (steps > MOST_STEPS + bytes || instructions > MOST_INSTRUCTIONS);
}

/** Measures a request, and the pages after it to the last one. */
async function measure(first: Probe): Promise<void> {
  for (let probe: Probe | null = first; probe !== null; ) {
    let cost = await costOf(probe);
    for (let n = 1; n < ATTEMPTS && isTooMuch(probe, cost); n += 1) {
      await pause(n * LATER_MS);
      const again = await costOf(probe);
      const { steps, where } = again.steps < cost.steps ? again : cost;
      const instructions = Math.min(cost.instructions, again.instructions);
      cost = { ...cost, steps, where, instructions, turnMs: Math.min(cost.turnMs, again.turnMs) };
    }
    const { turnMs, status, steps, instructions, where, text, next } = cost;
    const row = rowOf(probe);
    row.asked += 1;
    row.turnMs = Math.max(row.turnMs, turnMs);
    row.instructions = Math.max(row.instructions, instructions);
    if (steps > row.steps) [row.steps, row.what] = [steps, `${probe.what} ${where}`];
    const name = `${probe.operation} ${probe.what}: ${status}`;
    if (status === 500) failed.push(`${name} ${text.slice(0, 200)}`);
    if (isTooMuch(probe, cost))
      failed.push(
        `${name}, ${turnMs.toFixed(0)} ms in one turn, ${steps} steps at ${where}, ${instructions} of SQLite`,
      );
    probe = next === null || !probe.isPaged ? null : { ...probe, path: next, what: 'a later page' };
  }
}

test('no request takes more than 20 000 steps or holds the server for 50 ms, whatever its parameters are', async () => {
  for (const probe of probes) await measure(probe);
  const lines = [...rows].map(([operation, { turnMs, steps, instructions, asked, what }]) =>
    [
      operation.padEnd(26),
      ...[asked, turnMs.toFixed(0), steps, instructions].map((value) => String(value).padStart(8)),
      ` ${what.slice(0, 100)}`,
    ].join(''),
  );
  const head = `${'operation'.padEnd(26)}   asked      ms   steps  SQLite  most steps`;
  process.stdout.write(`${head}\n${lines.join('\n')}\n`);
  expect(rows.size).toBeGreaterThan(120);
  expect(failed).toEqual([]);
}, 1_800_000);
