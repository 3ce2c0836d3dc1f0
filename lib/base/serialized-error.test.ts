import { expect, test } from 'vitest';
import { WinterdockError } from './errors.ts';
import { deserializeError, isSerializedError, serializeError } from './serialized-error.ts';

const UNEXPECTED = 'The process failed unexpectedly.';

/** The error at the other end of a channel that carries JSON, as the one to a bundle process does. */
function received(thrown: unknown): WinterdockError {
  const value: unknown = JSON.parse(JSON.stringify(serializeError(thrown, UNEXPECTED)));
  if (!isSerializedError(value)) throw new Error('It is no serialized error.');
  return deserializeError(value);
}

test('an error of the contract arrives with its code, message, hint, extra members and retry time', () => {
  const sent = new WinterdockError('capacity', 'No process is free.', {
    hint: 'Try again.',
    extra: { limit: 3 },
    retryAfterSeconds: 2,
  });
  const { code, message, hint, extra, retryAfterSeconds } = received(sent);
  expect({ code, message, hint, extra, retryAfterSeconds }).toEqual({
    code: 'capacity',
    message: 'No process is free.',
    hint: 'Try again.',
    extra: { limit: 3 },
    retryAfterSeconds: 2,
  });
});

test('an unexpected error arrives as internal, and its own message only as the cause', () => {
  const error = received(new TypeError('/data/live/x.sqlite is broken'));
  expect(error).toMatchObject({ code: 'internal', message: UNEXPECTED, extra: {} });
  expect(error.cause).toMatchObject({ message: '/data/live/x.sqlite is broken' });
});

test('a full disk arrives as storage_unavailable, without the path', () => {
  const full = Object.assign(new Error("ENOSPC: '/data/x'"), { code: 'ENOSPC', syscall: 'write' });
  const error = received(full);
  expect(error).toMatchObject({ code: 'storage_unavailable', retryAfterSeconds: 5 });
  expect(JSON.stringify(serializeError(full, UNEXPECTED))).not.toContain('/data');
});

test('a value of any other form is none', () => {
  const sound = { code: 'gone', message: 'It was deleted.' };
  expect(isSerializedError(sound)).toBe(true);
  for (const value of [
    null,
    'gone',
    [],
    {},
    { ...sound, code: 'constructor' },
    { ...sound, message: 1 },
    { ...sound, hint: 1 },
    { ...sound, extra: 'x' },
    { ...sound, extra: [] },
    { ...sound, extra: new Map() },
    { ...sound, retryAfterSeconds: '5' },
  ])
    expect(isSerializedError(value), JSON.stringify(value)).toBe(false);
});
