/** Messages between the server and the process that reads a base, validated at both ends. */
import { z } from 'zod';
import { isSerializedError, type SerializedError } from '../base/serialized-error.ts';

const path = z.string().min(1);
const orderSchema = z.object({
  request: z.object({
    main: path,
    log: path,
    target: path,
    txid: z.int().positive(),
    timeMs: z.int().nonnegative(),
    sync: z.boolean(),
  }),
  /** Whom it becomes before it opens anything; null: nobody else. */
  user: z.object({ uid: z.int(), gid: z.int() }).nullable(),
});
export type BaseOrder = z.infer<typeof orderSchema>;

const count = z.int().nonnegative();
const cutSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('gap'), why: z.string() }),
  z.object({
    kind: z.literal('base'),
    bytes: count,
    pages: count,
    commit: count,
    pageSize: count,
    sha256: z.string(),
    position: z
      .object({
        salts: z.string(),
        frames: count,
        sums: z.tuple([z.int(), z.int()]),
        commit: count,
        doubtful: z.array(count).readonly(),
      })
      .nullable(),
  }),
]);
const reportSchema = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ answer: cutSchema }),
  z.object({ failure: z.custom<SerializedError>(isSerializedError) }),
]);
export type BaseProcessReport = z.infer<typeof reportSchema>;

/** Throws when it is invalid. */
export function parseBaseOrder(message: unknown): BaseOrder {
  return orderSchema.parse(message);
}

/** Throws when it is invalid. */
export function parseBaseReport(message: unknown): BaseProcessReport {
  return reportSchema.parse(message);
}
