/** What a guest gets of an answer, how many bytes it is counted as, and why there is none. Knows nothing of lists. */

import { MOST_ANSWER_BYTES } from '../outgoing/network-limits.ts';
import type { OutgoingAnswer } from '../outgoing/send.ts';
import { redacted } from '../secrets/redact-secrets.ts';
import type { SecretHeader } from '../secrets/secrets.ts';
import type { FetchAnswer, FetchFailure, FetchRequest } from '../workers/protocol/fetch-messages.ts';
import { decompressed, type NotDecompressed } from './decompress.ts';
import { answerHeaders } from './headers.ts';

/** Why a request has no answer; its message is a sentence for the guest. */
export class Refusal extends Error {
  readonly failure: FetchFailure;

  constructor(failure: FetchFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Bytes of a request without the headers that the server adds: the address, headers and body. */
export function sizeOfRequest({ pathname, search }: URL, { headers, body }: FetchRequest): number {
  return pathname.length + search.length + sizeOfHeaders(headers.flat()) + (body?.byteLength ?? 0);
}

/** Bytes of an answer as far as it was read. */
export function sizeOfAnswer({ rawHeaders, body }: OutgoingAnswer): number {
  return sizeOfHeaders(rawHeaders) + body.byteLength;
}

/** Names and values in turn; each has two characters behind it. */
function sizeOfHeaders(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + part.length + 2, 0);
}

/** What the guest gets of an answer. Throws for one that was cut off, or that cannot be decompressed. */
export async function answered(
  { status, statusText, headers: given, rawHeaders, body: read, cut }: OutgoingAnswer,
  { decode, method }: FetchRequest,
  secrets: SecretHeader[],
): Promise<FetchAnswer> {
  if (cut !== null) throw CUTS[cut]();
  const encoding = given['content-encoding']?.trim().toLowerCase();
  // An echo is found in what was decompressed alone.
  const isDecoded = encoding !== undefined && encoding !== 'identity' && (decode || secrets.length > 0);
  const isEmpty = method === 'HEAD' || read.byteLength === 0;
  const body = isDecoded && !isEmpty ? await decompressed(read, encoding, MOST_ANSWER_BYTES) : read;
  if (typeof body === 'string') throw CUTS[body]();
  const redact = (text: string) => redacted(Buffer.from(text, 'latin1'), secrets).toString('latin1');
  const headers = answerHeaders(rawHeaders, isDecoded).map(([name, value]): [string, string] => [name, redact(value)]);
  return { status, statusText: redact(statusText), headers, body: redacted(body, secrets) };
}

const CUTS = {
  size: () => new Refusal('too_large', `the answer has more than ${MOST_ANSWER_BYTES} bytes`),
  pieces: () => new Refusal('broken', 'the answer came in too many pieces'),
  time: () => new Refusal('timeout', 'the answer did not end in time'),
  broken: () => new Refusal('broken', 'the answer broke off'),
  encoding: () => new Refusal('broken', 'the answer is compressed in a way that was not asked for'),
  undecodable: () => new Refusal('broken', 'the answer could not be decompressed'),
} as const satisfies Record<NonNullable<OutgoingAnswer['cut']> | NotDecompressed, () => Refusal>;
