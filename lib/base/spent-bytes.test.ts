import { expect, test } from 'vitest';
import { releaseBytes } from './spent-bytes.ts';

test('released bytes are gone, and a part of larger memory stays', () => {
  const whole = Buffer.allocUnsafeSlow(100).fill('x');
  releaseBytes(whole);
  expect([whole.length, whole.buffer.byteLength]).toEqual([0, 0]);
  const larger = new Uint8Array(100).fill(1);
  releaseBytes(larger.subarray(10, 20));
  releaseBytes(Buffer.from('a string, in memory that many share'));
  expect(larger[15]).toBe(1);
  const shared = new Uint8Array(new SharedArrayBuffer(4));
  releaseBytes(shared);
  expect(shared.length).toBe(4);
});
