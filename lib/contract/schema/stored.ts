/** Contract schemas of what a sandbox has in the object store. Safe for the browser. */
import { z } from 'zod';

/**
 * The last whole object of a sandbox in the store: its `address`, the `generation` of the filing that it is of, the
 * SHA-256 of the file, the bytes of the object, and when it was stored (epoch seconds). It stays while the sandbox is
 * awake.
 */
export const storedObjectSchema = z.object({
  address: z.string(),
  generation: z.int().min(0),
  sha256: z.string(),
  bytes: z.int().min(0),
  at: z.int().min(0),
});

/** Whether the file of a sandbox is to go to the store. */
export const uploadSchema = z.enum(['none', 'queued', 'running']);

/**
 * For a sandbox whose file is missing or damaged: the last whole object of it in the store becomes its file, and what
 * was written since is lost. Needs a reason.
 */
export const fromStoredSchema = z.literal('stored');

/** What is written since is given up: the ledger says why. */
export function storedNeedsReason(
  { from, reason }: { from?: 'stored' | undefined; reason?: string | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (from === undefined || (reason ?? '') !== '') return;
  const message = 'is needed with `from`: it says why what was written since is given up';
  context.addIssue({ code: 'custom', path: ['reason'], message });
}
