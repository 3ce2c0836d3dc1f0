import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOfCharacters, bytesOfText, redecode, textOfByte, textOfBytes, unfinishedEnd } from './byte-text.ts';

/** Bytes that mix valid UTF-8 and other bytes. */
const mixed = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 4 }),
    ),
  )
  .map((parts) => Buffer.concat(parts));

test('any bytes survive the round trip through text', () => {
  fc.assert(
    fc.property(mixed, (bytes) => bytes.equals(bytesOfText(textOfBytes(bytes)))),
    { numRuns: 3000 },
  );
});

test('text in UTF-8 is itself, a byte order mark included', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => textOfBytes(Buffer.from(text)) === text));
  expect(textOfBytes(Buffer.from('\ufeffé'))).toBe('\ufeffé');
});

test('only valid UTF-8 is decoded as characters', () => {
  // Overlong forms, surrogates, code points past U+10FFFF, and truncated characters.
  for (const hex of [
    'c080',
    'c1bf',
    'e09fbf',
    'eda080',
    'f08fbfbf',
    'f4908080',
    'f5808080',
    'c3',
    'e282',
    'f09f98',
    '80',
    'ff',
  ]) {
    const bytes = Buffer.from(hex, 'hex');
    const text = textOfBytes(bytes);
    expect(text, hex).toBe([...bytes].map(textOfByte).join(''));
    expect(Buffer.from(bytesOfText(text)).toString('hex')).toBe(hex);
  }
});

test('a text is cut only between characters, wherever its bytes are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (text, nat) => {
      const bytes = Buffer.from(text);
      const cut = bytes.subarray(0, nat % (bytes.length + 1));
      return textOfBytes(cut.subarray(0, cut.length - unfinishedEnd(cut))).isWellFormed();
    }),
  );
  fc.assert(fc.property(mixed, (bytes) => unfinishedEnd(bytes) <= 3));
});

test('the escaped bytes of a character decode to it once they are together', () => {
  const pieces = [...Buffer.from('é€😀')].map(textOfByte).join('');
  expect([redecode(pieces), redecode(`${textOfByte(0xff)}é`)]).toEqual(['é€😀', '\udcffé']);
  expect(bytesOfCharacters(Buffer.from('é€😀x').toString('latin1'), 3)).toBe(9);
  expect(bytesOfCharacters('\xff\xfex', 2)).toBe(2);
  expect([bytesOfCharacters('', 1), bytesOfCharacters('ab', 5)]).toEqual([1, 5]);
});
