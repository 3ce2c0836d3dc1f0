/** Signs the ledger's documents and checks them. Knows nothing of where they are kept. */

import { type Signer, verify } from '../base/signing.ts';
import type { Segment } from '../registry/segments.ts';
import {
  DROP_KIND,
  type LedgerDocument,
  SEGMENT_KIND,
  type SegmentDrop,
  type SegmentHead,
  signedText,
  type Unsigned,
} from './documents.ts';

/** The document with its issuer and signature. */
export function signed<D extends LedgerDocument>(signer: Signer, document: Unsigned<D>): D {
  const named = { ...document, issuer: signer.issuer, signature: '' } as unknown as D;
  return { ...named, signature: signer.sign(Buffer.from(signedText(named))) };
}

/** True when a document is signed by its issuer, and the issuer is trusted. */
export function isSigned(document: LedgerDocument, trusted: readonly string[]): boolean {
  const { issuer, signature } = document;
  return trusted.includes(issuer) && verify(issuer, Buffer.from(signedText(document)), signature);
}

/** The signed document of a sealed segment. */
export function segmentHeadOf(segment: Omit<Segment, 'exportedMs' | 'droppedMs' | 'dropSignature'>): SegmentHead {
  return {
    kind: SEGMENT_KIND,
    id: segment.id,
    first_seq: segment.firstSeq,
    last_seq: segment.lastSeq,
    lines: segment.lines,
    previous_hash: segment.previousHash,
    first_hash: segment.firstHash,
    last_hash: segment.lastHash,
    sealed_ms: segment.sealedMs,
    issuer: segment.issuer,
    signature: segment.signature,
  };
}

/** The unsigned document by which a segment's lines are dropped. */
export function dropOf(segment: Segment, droppedMs: number): Unsigned<SegmentDrop> {
  return { kind: DROP_KIND, id: segment.id, last_hash: segment.lastHash, dropped_ms: droppedMs };
}

/** True when a segment's own signature is valid. */
export function isSealed(segment: Segment, trusted: readonly string[]): boolean {
  return isSigned(segmentHeadOf(segment), trusted);
}

/** True when the server itself dropped a segment that is marked as dropped. */
export function isDropped(segment: Segment, trusted: readonly string[]): boolean {
  const { droppedMs, dropSignature: signature } = segment;
  if (droppedMs === null || signature === null) return false;
  // A month may be sealed with one key, and dropped after that was replaced.
  return trusted.some((issuer) => isSigned({ ...dropOf(segment, droppedMs), issuer, signature }, trusted));
}
