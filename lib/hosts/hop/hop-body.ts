/**
 * The body of a request between hosts. A small one is held, and its hash is in the statement. A large one is sent as it
 * comes and ends with its signature: nothing that is done with a body is done before its end, and the end comes only
 * when the signature is right. Knows no sockets.
 */
import { createHash, type Hash } from 'node:crypto';
import { WinterdockError } from '../../base/errors.ts';
import { type Signer, verify } from '../../base/signing.ts';
import { releaseBytes } from '../../base/spent-bytes.ts';

/** Bytes of a body that is held: what a call sends. It can be sent again without asking the client. */
export const HELD_BYTES = 64 * 1024;
/** Bytes of the signature at the end of a streamed body: base64url of 64. */
export const TAIL_BYTES = 86;
/** Says in a statement that the body ends with its signature. */
export const SEALED = 'sealed';

/** A body before it is read, as the adapters of HTTP have it. */
export interface HopBody {
  length: number | null;
  ownsPieces?: boolean;
  read(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** A body that is held, for as often as it is wanted. */
export function heldBody(bytes: Uint8Array): HopBody {
  return {
    length: bytes.byteLength,
    async read(onChunk) {
      if (bytes.byteLength > 0) await onChunk(bytes);
    },
  };
}

/** Reads a body that says it is small; null for any other one, of which nothing was read. */
export async function holdBody(body: HopBody): Promise<Buffer | null> {
  if (body.length === 0) return Buffer.alloc(0);
  if (body.length === null || body.length > HELD_BYTES) return null;
  const pieces: Uint8Array[] = [];
  await body.read((piece) => void pieces.push(piece));
  return Buffer.concat(pieces);
}

const tailBytes = (nonce: string, length: number, hash: Hash) =>
  Buffer.from(['winterdock hop body 1', nonce, String(length), hash.digest('base64url')].join('\n'));

/** Follows a body as it is sent, and signs its end. */
export class BodySeal {
  readonly #hash = createHash('sha256');
  #length = 0;

  add(piece: Uint8Array): void {
    this.#hash.update(piece);
    this.#length += piece.byteLength;
  }

  /** What is sent after the last piece. */
  tail(nonce: string, signer: Pick<Signer, 'sign'>): Buffer {
    return Buffer.from(signer.sign(tailBytes(nonce, this.#length, this.#hash)), 'latin1');
  }
}

function altered(): WinterdockError {
  return new WinterdockError('bad_request', 'The body is not the one that the other host sent on.', {
    hint: 'Nothing of it was kept.',
  });
}

/** What a body has to be: see `HopStatement.body`. */
export interface BodyProof {
  readonly body: string | null;
  readonly length: number | null;
  readonly nonce: string;
  /** Of the host that sent it. */
  readonly publicKey: string;
}

/**
 * A body as its sender had it. Its end comes only when it is proved; `read` rejects with `bad_request` when it is
 * another one.
 */
export function provedBody(source: HopBody, proof: BodyProof): HopBody {
  const { body, length } = proof;
  if (body !== SEALED) return heldProved(source, body);
  return {
    length,
    ownsPieces: true,
    async read(onChunk) {
      const seal = createHash('sha256');
      let passed = 0;
      let kept = Buffer.alloc(0);
      const pass = (piece: Uint8Array): void | Promise<void> => {
        if (piece.byteLength === 0) return;
        seal.update(piece);
        passed += piece.byteLength;
        return onChunk(piece);
      };
      await source.read((piece) => {
        // The last bytes that came may be the signature: they are kept back.
        const beyond = kept.byteLength + piece.byteLength - TAIL_BYTES;
        if (beyond <= 0) {
          kept = Buffer.concat([kept, piece]);
          return;
        }
        const whole = beyond < kept.byteLength ? Buffer.concat([kept, piece]) : piece;
        const first = whole === piece ? kept : null;
        const own = new Uint8Array(whole.subarray(0, whole.byteLength - TAIL_BYTES));
        kept = Buffer.from(whole.subarray(whole.byteLength - TAIL_BYTES));
        if (source.ownsPieces) releaseBytes(piece);
        if (first === null || first.byteLength === 0) return pass(own);
        const begun = pass(first);
        return begun === undefined ? pass(own) : begun.then(() => pass(own));
      });
      const isWhole = length === null || passed === length;
      if (!isWhole || !verify(proof.publicKey, tailBytes(proof.nonce, passed, seal), kept.toString('latin1')))
        throw altered();
    },
  };
}

/** A body whose hash is stated: it is small, and nothing of it is passed on before all of it is there. */
function heldProved(source: HopBody, stated: string | null): HopBody {
  return {
    length: source.length,
    async read(onChunk) {
      const pieces: Uint8Array[] = [];
      let size = 0;
      await source.read((piece) => {
        size += piece.byteLength;
        if (size > HELD_BYTES) throw altered();
        pieces.push(piece);
      });
      const whole = Buffer.concat(pieces);
      if ((stated === null && size > 0) || (stated !== null && hashOf(whole) !== stated)) throw altered();
      if (size > 0) await onChunk(whole);
    },
  };
}
