/**
 * The signed documents of the ledger: the head (its end), a segment (a month), a drop (a month whose lines were
 * removed), a blank (a line whose texts were removed). Safe for the browser. Pure; each has one canonical text, which
 * is what is signed.
 */
import { z } from 'zod';

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');
const seqSchema = z.int().min(0);
const timeMsSchema = z.int().min(0);
const issuerSchema = z.string().max(100);
const signatureSchema = z.string().max(100);

export const HEAD_KIND = 'winterdock.ledger.head/1';
export const SEGMENT_KIND = 'winterdock.ledger.segment/1';
export const DROP_KIND = 'winterdock.ledger.drop/1';
export const BLANK_KIND = 'winterdock.ledger.blank/1';

/** The end of the ledger at a moment. Kept elsewhere, it proves that no earlier line was changed or removed since. */
export const ledgerHeadSchema = z
  .strictObject({
    kind: z.literal(HEAD_KIND),
    /** Number of the last line; 0 when there is none. */
    seq: seqSchema,
    hash: hashSchema,
    time_ms: timeMsSchema,
    /**
     * The epoch of the ledger; absent in the first. An epoch begins when a person continues the ledger from an earlier
     * line.
     */
    epoch: z.int().min(2).optional(),
    issuer: issuerSchema,
    signature: signatureSchema,
  })
  .meta({ id: 'LedgerHead' });
export type LedgerHead = z.infer<typeof ledgerHeadSchema>;

/** The last line of an exported segment. */
export const segmentHeadSchema = z
  .strictObject({
    kind: z.literal(SEGMENT_KIND),
    id: z.string().regex(/^\d{4}-\d{2}$/),
    first_seq: seqSchema,
    last_seq: seqSchema,
    lines: seqSchema,
    previous_hash: hashSchema,
    first_hash: hashSchema,
    last_hash: hashSchema,
    sealed_ms: timeMsSchema,
    issuer: issuerSchema,
    signature: signatureSchema,
  })
  .meta({ id: 'LedgerSegmentHead' });
export type SegmentHead = z.infer<typeof segmentHeadSchema>;

const dropSchema = z.strictObject({
  kind: z.literal(DROP_KIND),
  id: z.string(),
  last_hash: hashSchema,
  dropped_ms: timeMsSchema,
  issuer: issuerSchema,
  signature: signatureSchema,
});
export type SegmentDrop = z.infer<typeof dropSchema>;

/** A line whose texts were removed: its place in the chain, and the digest of its rest. */
const blankSchema = z.strictObject({
  kind: z.literal(BLANK_KIND),
  seq: seqSchema,
  previous_hash: hashSchema,
  hash: hashSchema,
  /** SHA-256 of the canonical text of the remaining members. */
  kept: hashSchema,
  /** The forgetting that removed the texts: the id of its job. */
  by: z.string().max(100),
  issuer: issuerSchema,
  signature: signatureSchema,
});
export type LineBlank = z.infer<typeof blankSchema>;

/** The members of that document that a blanked line stores; the others are derived from the line. */
export const blankNoteSchema = blankSchema.pick({ by: true, issuer: true, signature: true });
export type BlankNote = z.infer<typeof blankNoteSchema>;

export type LedgerDocument = LedgerHead | SegmentHead | SegmentDrop | LineBlank;
/** A document before it is signed. */
export type Unsigned<D extends LedgerDocument> = Omit<D, 'issuer' | 'signature'>;

const MEMBERS = {
  [HEAD_KIND]: Object.keys(ledgerHeadSchema.shape),
  [SEGMENT_KIND]: Object.keys(segmentHeadSchema.shape),
  [DROP_KIND]: Object.keys(dropSchema.shape),
  [BLANK_KIND]: Object.keys(blankSchema.shape),
};

/**
 * The signed text of a document: its JSON without the signature and absent members, the members in the order of its
 * schema.
 */
export function signedText(document: LedgerDocument): string {
  const members: Record<string, unknown> = document;
  const order = MEMBERS[document.kind].filter((name) => name !== 'signature');
  return JSON.stringify(Object.fromEntries(order.map((name) => [name, members[name]])));
}
