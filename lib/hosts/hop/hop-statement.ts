/**
 * What a host states of a request that it sends on, signed with its key: method, path and query, headers, body, who
 * asks, for whom and when. Every byte of what the receiver acts on is under the signature. Pure.
 */
import { z } from 'zod';
import type { Signer } from '../../base/signing.ts';
import { verify } from '../../base/signing.ts';
import { headersDigest } from './hop-headers.ts';

/** Bytes of a header that may be a statement. */
const MOST_STATEMENT = 4096;

const token = z.string().max(64);
const name = z.string().max(255);
const statementSchema = z.strictObject({
  /** Names of the hosts, and the term of the one that is asked. */
  from: name,
  to: name,
  term: z.int(),
  /** See hop-clock.ts. */
  epoch: token,
  atMs: z.number(),
  nonce: token.min(16),
  /**
   * Who asks: an identity without rights. Null: the request has its credentials with it, and whoever is asked looks at
   * them. `proof`: which admin key it was.
   */
  caller: z
    .strictObject({ actor: z.string().max(200), session: z.string().max(200).nullable(), proof: token.nullable() })
    .nullable(),
  /** The client's address, and the headers that say which origin it asked. */
  address: z.string().max(64).nullable(),
  origin: z.strictObject({
    host: z.string().max(1024).optional(),
    'x-forwarded-host': z.string().max(1024).optional(),
    'x-forwarded-proto': z.string().max(64).optional(),
  }),
  /** The SHA-256 of a body that was held; `sealed`: it ends with its signature; null: there is none. */
  body: z.string().max(64).nullable(),
  /** Bytes of the client's body; null: it did not say. */
  length: z.int().min(0).nullable(),
});

export type HopStatement = Readonly<z.output<typeof statementSchema>>;

/** The request that a statement is of. */
export interface StatedRequest {
  method: string;
  /** Path and query as they are sent. */
  target: string;
  /** The headers that cross. */
  headers: Readonly<Record<string, string>>;
}

function signedBytes({ method, target, headers }: StatedRequest, text: string): Buffer {
  return Buffer.from(['winterdock hop 1', method, target, headersDigest(headers), text].join('\n'));
}

/** The value of the header. */
export function sealStatement(statement: HopStatement, request: StatedRequest, signer: Pick<Signer, 'sign'>): string {
  const text = Buffer.from(JSON.stringify(statement)).toString('base64url');
  return `${text}.${signer.sign(signedBytes(request, text))}`;
}

/** A statement as it came: nothing of it is proved. */
export interface UnprovedStatement {
  readonly statement: HopStatement;
  /** Whether a host signed it, for this very request. */
  isSignedBy(publicKey: string, request: StatedRequest): boolean;
}

/** Reads the value of the header; null when it is none. */
export function parseStatement(value: string): UnprovedStatement | null {
  const [text = '', signature = '', ...rest] = value.split('.');
  if (value.length > MOST_STATEMENT || rest.length > 0) return null;
  let said: unknown;
  try {
    said = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    // Somebody else's header.
    return null;
  }
  const parsed = statementSchema.safeParse(said);
  if (!parsed.success) return null;
  return {
    statement: parsed.data,
    isSignedBy: (publicKey, request) => verify(publicKey, signedBytes(request, text), signature),
  };
}

const clockBytes = (nonce: string, epoch: string, nowMs: number) =>
  Buffer.from(['winterdock hop clock 1', nonce, epoch, String(nowMs)].join('\n'));

/** What the clock of a host shows, signed by it in answer to the request with this nonce. */
export function sealClock(
  { epoch, nowMs }: { epoch: string; nowMs: number },
  nonce: string,
  signer: Pick<Signer, 'sign'>,
): string {
  const shownMs = Math.round(nowMs);
  return `${epoch}.${shownMs}.${signer.sign(clockBytes(nonce, epoch, shownMs))}`;
}

/** Reads what the host with this key answered; null when it is not that. */
export function parseClock(
  value: string,
  { nonce, publicKey }: { nonce: string; publicKey: string },
): { epoch: string; nowMs: number } | null {
  const [epoch = '', shown = '', signature = ''] = value.split('.');
  if (!/^\d{1,15}$/.test(shown)) return null;
  const nowMs = Number(shown);
  return verify(publicKey, clockBytes(nonce, epoch, nowMs), signature) ? { epoch, nowMs } : null;
}
