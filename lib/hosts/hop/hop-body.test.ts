import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newSigningKey, signerOf } from '../../base/signing.ts';
import { BodySeal, HELD_BYTES, type HopBody, hashOf, heldBody, holdBody, provedBody, SEALED } from './hop-body.ts';

const signer = signerOf(newSigningKey(), 'one');
const other = signerOf(newSigningKey(), 'other');
const NONCE = 'of this request';

/** What is sent of a body: its bytes and their signature. */
function sealed(bytes: Buffer, { nonce = NONCE, by = signer } = {}): Buffer {
  const seal = new BodySeal();
  seal.add(bytes);
  return Buffer.concat([bytes, seal.tail(nonce, by)]);
}

/** Bytes as they come, cut at the given places. */
function inPieces(bytes: Buffer, cuts: readonly number[]): HopBody {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return {
    length: null,
    ownsPieces: true,
    async read(onChunk) {
      for (const [index, from] of places.entries()) {
        const piece = new Uint8Array(bytes.subarray(from, places[index + 1] ?? from));
        if (piece.byteLength > 0) await onChunk(piece);
      }
    },
  };
}

async function readAll(body: HopBody): Promise<Buffer> {
  const got: Buffer[] = [];
  await body.read((piece) => void got.push(Buffer.from(piece)));
  return Buffer.concat(got);
}

const proof = (length: number | null) => ({ body: SEALED, length, nonce: NONCE, publicKey: signer.issuer });
const bytesOf = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));
const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe('a body that ends with its signature', () => {
  test('is what was sent, however it comes in pieces', async () => {
    await fc.assert(
      fc.asyncProperty(bytesOf, cuts, fc.boolean(), async (bytes, at, isKnown) => {
        const body = provedBody(inPieces(sealed(bytes), at), proof(isKnown ? bytes.length : null));
        expect((await readAll(body)).equals(bytes)).toBe(true);
      }),
    );
  });

  test('has no end when a bit of it, or of its signature, was altered, or when it was cut or grew', async () => {
    const altered = fc.oneof(
      fc.nat().map((at) => (sent: Buffer) => {
        const copy = Buffer.from(sent);
        copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ 1;
        return copy;
      }),
      fc.nat().map((at) => (sent: Buffer) => sent.subarray(0, at % sent.length)),
      fc.uint8Array({ minLength: 1, maxLength: 100 }).map((more) => (sent: Buffer) => Buffer.concat([sent, more])),
      fc.uint8Array({ minLength: 1, maxLength: 100 }).map((more) => (sent: Buffer) => Buffer.concat([more, sent])),
    );
    await fc.assert(
      fc.asyncProperty(bytesOf, cuts, altered, async (bytes, at, alter) => {
        const body = provedBody(inPieces(alter(sealed(bytes)), at), proof(null));
        await expect(readAll(body)).rejects.toMatchObject({ code: 'bad_request' });
      }),
    );
  });

  test.each([
    ['that another host signed', { by: other }],
    ['of another request', { nonce: 'of another request' }],
  ])('has no end with a signature %s', async (_what, options) => {
    const body = provedBody(inPieces(sealed(Buffer.from('text'), options), [2]), proof(null));
    await expect(readAll(body)).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('has no end when it has another length than was stated', async () => {
    const body = provedBody(inPieces(sealed(Buffer.from('text')), []), proof(5));
    await expect(readAll(body)).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('comes as fast as it is taken', async () => {
    const bytes = randomBytes(1000);
    let isTaken = true;
    const body = provedBody(inPieces(sealed(bytes), [10, 200, 500, 510, 900]), proof(1000));
    const got: Buffer[] = [];
    await body.read(async (piece) => {
      expect(isTaken).toBe(true);
      isTaken = false;
      await turn();
      isTaken = true;
      got.push(Buffer.from(piece));
    });
    expect(Buffer.concat(got).equals(bytes)).toBe(true);
  });
});

describe('a body whose hash is stated', () => {
  const bytes = Buffer.from('{"command":"true"}');
  const stated = (body: string | null) => ({ ...proof(bytes.length), body });

  test('is passed on once all of it is there', async () => {
    const pieces: string[] = [];
    await provedBody(inPieces(bytes, [3, 9]), stated(hashOf(bytes))).read((piece) => {
      pieces.push(Buffer.from(piece).toString());
    });
    expect(pieces).toEqual([bytes.toString()]);
  });

  test.each([
    ['another one', Buffer.from('{"command":"fals"}'), hashOf(bytes)],
    ['none', Buffer.alloc(0), hashOf(bytes)],
    ['one where none was stated', bytes, null],
    ['a longer one than is ever held', Buffer.alloc(HELD_BYTES + 1), hashOf(Buffer.alloc(HELD_BYTES + 1))],
  ])('is refused when it is %s', async (_what, sent, hash) => {
    const pieces: Uint8Array[] = [];
    const read = provedBody(inPieces(sent, [1]), stated(hash)).read((piece) => void pieces.push(piece));
    await expect(read).rejects.toMatchObject({ code: 'bad_request' });
    expect(pieces).toEqual([]);
  });
});

test('only a body that says it is small is held, and of any other nothing is read', async () => {
  const small = Buffer.from('text');
  expect(await holdBody(heldBody(small))).toEqual(small);
  expect(await holdBody(heldBody(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  const unread = (length: number | null): HopBody => ({
    length,
    read: () => Promise.reject(new Error('It was read.')),
  });
  expect(await holdBody(unread(null))).toBeNull();
  expect(await holdBody(unread(HELD_BYTES + 1))).toBeNull();
});
