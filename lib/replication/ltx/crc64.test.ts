import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wasmOfWat } from '#peers/wasm.ts';
import { numbersOf } from '../testing/history.ts';
import { CRC64_MODULE, Crc64 } from './crc64.ts';

/** The definition, bit by bit. */
function slowly(bytes: Uint8Array): bigint {
  let register = 0xffff_ffff_ffff_ffffn;
  for (const byte of bytes) {
    register ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) register = (register >> 1n) ^ (register & 1n ? 0xd800_0000_0000_0000n : 0n);
  }
  return register ^ 0xffff_ffff_ffff_ffffn;
}

function crcOf(...pieces: Uint8Array[]): bigint {
  const crc = new Crc64();
  for (const piece of pieces) crc.update(piece);
  return crc.value;
}

test('it is CRC-64/ISO: the check value of the catalogue, and the definition for every length', () => {
  expect(crcOf(Buffer.from('123456789'))).toBe(0xb909_56c7_75a4_1001n);
  expect(crcOf()).toBe(0n);
  const random = numbersOf(1);
  for (let length = 0; length < 70; length += 1) {
    const bytes = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
    expect(crcOf(bytes)).toBe(slowly(bytes));
  }
});

test('pieces are as the whole, also one that is larger than the memory of the module, and two sums at once', () => {
  const bytes = Buffer.alloc(300_001, 'winter').fill(0, 1000, 20_000);
  const whole = crcOf(bytes);
  expect(whole).toBe(slowly(bytes));
  expect(crcOf(bytes.subarray(0, 5), bytes.subarray(5, 4101), bytes.subarray(4101))).toBe(whole);
  const [one, other] = [new Crc64(), new Crc64()];
  for (const half of [bytes.subarray(0, 7), bytes.subarray(7)]) {
    one.update(half);
    other.update(Buffer.from('x'));
  }
  expect([one.value, other.value]).toEqual([whole, slowly(Buffer.from('xx'))]);
});

test('the module is what its text says', async () => {
  const text = readFileSync(new URL('./crc64.wat', import.meta.url), 'utf8');
  expect(Buffer.from(await wasmOfWat(text)).toString('base64')).toBe(CRC64_MODULE);
});
