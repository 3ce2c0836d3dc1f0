import { expect, test } from 'vitest';
import { AttachmentTimer, RELEASE_MINUTES } from './attachment-timer.ts';

const MINUTE = 60_000;

/** A terminal that ticks once a minute, and its requests. */
function opened() {
  let now = 0;
  const requests: string[] = [];
  const grip = new AttachmentTimer(
    {
      renew: (first) => requests.push(first ? 'hold' : 'renew'),
      end: () => requests.push('end'),
      released: (at) => requests.push(at === null ? 'used again' : `let go at ${at / MINUTE} min`),
    },
    now,
  );
  const pass = (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      now += MINUTE;
      grip.tick(now);
    }
    return requests.splice(0);
  };
  return { grip, pass, requests: () => requests.splice(0), now: () => now };
}

test('a forgotten terminal is released once, to the minute, and stays released', () => {
  const { grip, pass, requests, now } = opened();
  grip.setAwake(true, now());
  expect(requests()).toEqual(['hold']);
  expect(new Set(pass(RELEASE_MINUTES - 1))).toEqual(new Set(['renew']));
  expect(pass(1)).toEqual(['end', `let go at ${RELEASE_MINUTES} min`]);
  expect(pass(600)).toEqual([]);
});

test('a key or output before the end keeps it attached, and after the end attaches it again', () => {
  const { grip, pass, requests, now } = opened();
  grip.setAwake(true, now());
  pass(RELEASE_MINUTES - 1);
  grip.used(now());
  expect(requests()).toEqual([]);
  expect(pass(RELEASE_MINUTES).slice(-2)).toEqual(['end', `let go at ${2 * RELEASE_MINUTES - 1} min`]);
  grip.used(now());
  expect(requests()).toEqual(['used again', 'hold']);
  expect(pass(1)).toEqual(['renew']);
});

test('a sleeping sandbox is not attached, and one that others wake is not kept awake by a forgotten terminal', () => {
  const { grip, pass, requests, now } = opened();
  grip.used(now());
  expect(pass(5)).toEqual([]);
  grip.setAwake(true, now());
  grip.setAwake(false, now());
  expect(requests()).toEqual(['hold', 'end']);
  pass(RELEASE_MINUTES);
  grip.setAwake(true, now());
  expect([...requests(), ...pass(5)]).toEqual([]);
  grip.used(now());
  expect(requests()).toEqual(['used again', 'hold']);
});
