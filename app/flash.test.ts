import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from '#lib/auth/caller.ts';
import { type Host, setHost } from '#lib/host/host.ts';
import { RequestContext, runInRequest } from '#lib/host/request-context.ts';
import { keepFlash, readFlash } from './flash.ts';

const MINUTE = 60_000;
let now = 1_800_000_000_000;
const REFUSED = { kind: 'refusal', says: 'No.' } as const;

function callerOf(actor: string): Caller {
  return { actor, via: 'console', requestId: 'r', role: 'admin', tenants: null, address: null, session: null };
}

const inRequest = (work: () => void) => () => runInRequest(new RequestContext('r', false), work);

beforeEach(() => setHost({ clock: { now: () => now } } as Host));
afterEach(() => setHost(null));

test(
  'the result of a posted form is kept for its sender and for nobody else',
  inRequest(() => {
    const key = keepFlash(callerOf('user:ada'), REFUSED);
    expect(readFlash(callerOf('user:ada'), key)).toEqual(REFUSED);
    expect(readFlash(callerOf('user:ada'), key)).toEqual(REFUSED);
    expect(readFlash(callerOf('user:eve'), key)).toBeNull();
    expect(readFlash(callerOf('user:ada'), 'another')).toBeNull();
    expect(readFlash(callerOf('user:ada'), undefined)).toBeNull();
  }),
);

test(
  'a flash expires after half an hour',
  inRequest(() => {
    const key = keepFlash(callerOf('user:ada'), REFUSED);
    now += 29 * MINUTE;
    expect(readFlash(callerOf('user:ada'), key)).toEqual(REFUSED);
    now += MINUTE;
    expect(readFlash(callerOf('user:ada'), key)).toBeNull();
  }),
);

test(
  'beyond the limit the oldest flash is dropped first',
  inRequest(() => {
    const keys = Array.from({ length: 300 }, () => keepFlash(callerOf('user:ada'), REFUSED));
    const kept = keys.map((key) => readFlash(callerOf('user:ada'), key) !== null);
    expect(kept.slice(0, 100)).toEqual(Array(100).fill(false));
    expect(kept.slice(100)).toEqual(Array(200).fill(true));
  }),
);
