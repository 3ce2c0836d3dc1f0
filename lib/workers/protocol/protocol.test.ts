import { expect, test } from 'vitest';
import { MAX_STREAM_BYTES } from './output.ts';
import { parseFromInstance } from './protocol.ts';

const chunk = { stream: 'stdout', text: 'x' } as const;
const execResult = { exitCode: 0, cwd: '/', timedOut: false, truncated: false, tookMs: 0.5, rest: [chunk] };
const evalResult = { ok: true, timedOut: false, tookMs: 1, rest: [] };
const failure = { code: 'conflict', message: 'no' };

const SOUND = [
  { type: 'ready', pid: 4711 },
  { type: 'opened' },
  { type: 'pong' },
  { type: 'started', id: 1 },
  { type: 'output', id: 1, chunks: [chunk, { stream: 'stderr', text: '' }] },
  { type: 'executed', id: 0, result: execResult },
  { type: 'evaluated', id: 1, result: evalResult },
  { type: 'evaluated', id: 1, result: { ...evalResult, json: '1', error: 'e' } },
  { type: 'done', id: 1, result: { anything: new Map() } },
  { type: 'failed', id: null, failure },
  { type: 'failed', id: 1, failure },
  { type: 'closed', identity: null },
  { type: 'closed', identity: 'abc' },
];

test('every message of a worker is taken, without what it does not need', () => {
  for (const message of SOUND) {
    expect(parseFromInstance(message)).toEqual(message);
    expect(parseFromInstance({ ...message, also: 1 })).toEqual(message);
  }
  const more = { type: 'executed', id: 0, result: { ...execResult, woke: 'cold', rest: [{ ...chunk, also: 1 }] } };
  expect(parseFromInstance(more)).toEqual({ type: 'executed', id: 0, result: execResult });
});

/** Values that a field may hold instead of what it should. */
const WRONG = [undefined, null, true, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 'x'.repeat(65), [], {}];

/** Whether a field may hold the value as well. */
function isAllowed(path: string, value: unknown): boolean {
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (path.endsWith('tookMs')) return isNumber;
  if (path.endsWith('exitCode')) return Number.isSafeInteger(value);
  if (path === 'failed.id' || path === 'closed.identity') return value === null;
  if (/timedOut|truncated|ok$/.test(path)) return value === true;
  if (/cwd|text|json|error|message$/.test(path)) {
    return typeof value === 'string' || (value === undefined && /json|error$/.test(path));
  }
  if (/(rest|chunks)$/.test(path)) return Array.isArray(value);
  return path.startsWith('done.result');
}

function* spoiled(value: unknown, path: string): Generator<[string, unknown, unknown]> {
  if (typeof value !== 'object' || value === null || value instanceof Map) return;
  for (const key of Object.keys(value)) {
    const at = `${path}.${key}`;
    const put = (inner: unknown) => (Array.isArray(value) ? [inner] : { ...value, [key]: inner });
    for (const wrong of WRONG) yield [at, wrong, put(wrong)];
    for (const [deeper, wrong, inner] of spoiled((value as Record<string, unknown>)[key], at)) {
      yield [deeper, wrong, put(inner)];
    }
  }
}

test('a message with anything wrong in any field is refused', () => {
  let tried = 0;
  for (const message of SOUND) {
    for (const [path, wrong, whole] of spoiled(message, message.type)) {
      if (isAllowed(path, wrong)) continue;
      tried += 1;
      expect(parseFromInstance(whole), `${path} = ${String(wrong)}`).toBeNull();
    }
  }
  expect(tried).toBeGreaterThan(200);
});

test('what is no message is refused, and so is too much of it', () => {
  const holes = new Array(3);
  const many = new Array(1001).fill(chunk);
  const long = [{ stream: 'stdout', text: 'x'.repeat(MAX_STREAM_BYTES + 1) }];
  const outputs = [holes, many, long, new Map(), 'chunks'].map((chunks) => ({ type: 'output', id: 1, chunks }));
  for (const wrong of [null, undefined, 7, 'ready', ['ready'], new Map([['type', 'ready']]), {}, ...outputs]) {
    expect(parseFromInstance(wrong)).toBeNull();
  }
});

const called = {
  steps: [
    { state: 'done', json: '1', tookMs: 1 },
    { state: 'failed', error: { kind: 'timeout', message: 'x' }, tookMs: 1 },
    { state: 'skipped', because: 'x', tookMs: 0 },
  ],
  logs: [{ stream: 'log', text: 'x', step: 0 }],
  timedOut: true,
  tookMs: 1,
};

test('what components came to is taken with its known fields alone; anything else breaks the protocol', () => {
  const result = parseFromInstance({ type: 'called', id: 1, result: { ...called, more: 1 } });
  expect(result).toEqual({ type: 'called', id: 1, result: called });
  for (const progress of [{ step: 0, state: 'running' }, { step: 1, ...called.steps[1] }, { log: called.logs[0] }])
    expect(parseFromInstance({ type: 'progress', id: 1, progress })).toEqual({ type: 'progress', id: 1, progress });
  const wrong = [
    { ...called, steps: {} },
    { ...called, steps: [{ state: 'other', tookMs: 1 }] },
    { ...called, steps: [{ state: 'failed', error: { kind: 'other', message: 'x' }, tookMs: 1 }] },
    { ...called, steps: [{ state: 'done', json: 1, tookMs: 1 }] },
    { ...called, steps: [null] },
    { ...called, logs: [{ stream: 'log', text: 1, step: 0 }] },
    { ...called, logs: [{ stream: 'log', text: 'x', step: -1 }] },
    { ...called, timedOut: 'yes' },
    { ...called, tookMs: Number.NaN },
    null,
  ];
  for (const one of wrong) expect(parseFromInstance({ type: 'called', id: 1, result: one })).toBeNull();
  for (const one of [null, { step: 'x', state: 'running' }, { step: 0, state: 'x' }, { log: {} }])
    expect(parseFromInstance({ type: 'progress', id: 1, progress: one })).toBeNull();
});
