/** Contract schemas of the ledger as a proof. Safe for the browser. */
import { z } from 'zod';
import { segmentHeadSchema } from '../../ledger/documents.ts';

export { ledgerHeadSchema, segmentHeadSchema } from '../../ledger/documents.ts';

const epochSchema = z.int().min(0);

export const ledgerSegmentSchema = z
  .object({
    /** The month, in UTC. */
    id: z.string(),
    first_seq: z.int(),
    last_seq: z.int(),
    lines: z.int(),
    sealed: epochSchema,
    /** When all its lines were first exported. */
    exported: epochSchema.nullable(),
    /** When its lines were dropped. */
    dropped: epochSchema.nullable(),
    head: segmentHeadSchema,
  })
  .meta({ id: 'LedgerSegment' });
export type LedgerSegment = z.infer<typeof ledgerSegmentSchema>;

export const ledgerProofSchema = z
  .object({
    ok: z.boolean(),
    /** The first flaw, or null; its `seq` is null when it is not about one line. */
    flaw: z.object({ seq: z.int().nullable(), why: z.string() }).nullable(),
    /** Lines whose hashes were computed again. */
    lines: z.int(),
    /** Lines that were exported and dropped. */
    dropped: z.int(),
    /** Lines that keep ids only, since their tenant was forgotten: a signed note in each stands for its texts. */
    blanked: z.int(),
    segments: z.int(),
    last_seq: z.int(),
    last_hash: z.string(),
    /** Lines after this one are chained, but no signature covers them yet. */
    signed_to: z.int(),
    took_ms: z.number(),
  })
  .meta({ id: 'LedgerProof' });
export type LedgerProof = z.infer<typeof ledgerProofSchema>;
