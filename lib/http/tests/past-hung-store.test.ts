/** The past while the store of the replica takes connections and never answers: an answer comes within seconds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { Instance, Moment } from '../../contract/schema.ts';
import { type HangingGate, startHangingGate } from '../../storage/object-store/testing/hanging-gate.ts';
import {
  connectionTo,
  type S3Server,
  startS3Server,
  useTestKeys,
} from '../../storage/object-store/testing/s3-server.ts';
import { startServer } from '../../testing/server.ts';

/** Repeats of one request to a store take 95 s, and those that wait for their turn would wait as long again. */
const SOON_MS = 60_000;
/** More than are asked at the same time, and fewer than one tenant may have waiting. */
const MANY = 120;

interface Refusal {
  code: string;
  away: string;
  detail: string;
  hint: string;
  known: Moment[];
}

let forgetKeys: () => void;
let store: S3Server;
let gate: HangingGate;
let root: string;
beforeAll(async () => {
  forgetKeys = useTestKeys();
  store = await startS3Server();
  gate = await startHangingGate(store.endpoint);
  root = mkdtempSync(join(tmpdir(), 'winterdock-past-hung-'));
});
afterAll(async () => {
  await gate.stop();
  await store.stop();
  rmSync(root, { recursive: true, force: true });
  forgetKeys();
});

test('a look at the past says within seconds who is away and what is known here, and all is well when the store is back', async () => {
  const server = await startServer({
    folder: root,
    clock: systemClock,
    settings: {
      ...{ WB_REPLICA_URL: 's3://bucket/hung', WB_STORE_ENDPOINT: gate.endpoint, WB_STORE_REGION: 'us-east-1' },
      ...connectionTo(gate.endpoint).credentials,
    },
  });
  const call = <T>(method: string, path: string, body?: object | string) =>
    server.call<T>(method, `/api/instances/one${path}`, body);
  const shipped = () =>
    vi.waitFor(
      async () => expect((await call<Instance>('GET', '')).json.recovery_point).toMatchObject({ behind_s: 0 }),
      { timeout: 240_000, interval: 100 },
    );
  const soon = async (method: string, path: string, body?: object) => {
    const begun = performance.now();
    const answer = await call<Refusal>(method, path, body);
    expect(performance.now() - begun, path).toBeLessThan(SOON_MS);
    return answer;
  };
  try {
    await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
    await call('PUT', '/volumes/workspace/a', 'first');
    await shipped();
    const kept = (await call<Moment>('PUT', '/moments/kept', {})).json;
    const between = Date.now() / 1000;
    await call('PUT', '/volumes/workspace/a', 'second');
    await shipped();
    expect((await call('POST', '/suspend', {})).status).toBe(200);
    await shipped();
    const now = Date.now() / 1000;
    gate.hang();

    const refusals = [
      await soon('GET', '/moments'),
      await soon('GET', `/volumes/workspace/a?at=${now}`),
      await soon('GET', `/compare/workspace?since=${now}`),
      await soon('POST', '/volumes/workspace/take-back', { path: '/a', time: now }),
      await soon('POST', '/restore', { time: now }),
      await soon('POST', '/from-moment', { time: now }),
    ];
    expect(refusals.map(({ status, json }) => [status, json.code, json.away])).toEqual(
      refusals.map(() => [503, 'storage_unavailable', 'timeout']),
    );
    for (const { json, headers } of refusals.slice(0, 4)) {
      expect(json.known).toEqual([{ time_ms: kept.time_ms, kind: 'named', name: 'kept', grain_s: 1 }]);
      expect([json.detail, json.hint]).toEqual([
        expect.stringContaining('does not answer in time'),
        expect.stringContaining('“kept”'),
      ]);
      // A client that waits and asks again would not be told within seconds.
      expect(headers['retry-after']).toBeUndefined();
    }
    expect((await soon('GET', `/volumes/workspace/a?at=${kept.time_ms / 1000 - 60}`)).json.known).toEqual([]);

    const begun = performance.now();
    const many = await Promise.all(
      Array.from({ length: MANY }, (_, at) => call<Refusal>('GET', `/volumes/workspace/a?at=${between + at / 1e3}`)),
    );
    expect(performance.now() - begun).toBeLessThan(SOON_MS);
    expect(new Set(many.map(({ json }) => json.code))).toEqual(new Set(['storage_unavailable']));

    // What has a name is here.
    expect((await call('GET', `/volumes/workspace/a?at=${kept.time_ms / 1000 + 0.0001}`)).text).toBe('first');
    expect((await call('POST', '/restore', { moment: 'kept' })).status).toBe(200);
    expect((await call('GET', '/volumes/workspace/a')).text).toBe('first');

    gate.answer();
    await vi.waitFor(
      async () => {
        const { status, text } = await call('GET', `/volumes/workspace/a?at=${now}`);
        expect([status, text]).toEqual([200, 'second']);
      },
      { timeout: 240_000, interval: 500 },
    );
    const listed = (await call<Moment[]>('GET', '/moments')).json;
    expect(listed.length).toBeGreaterThan(1);
  } finally {
    await server.stop();
  }
});
