/** Contract schemas of health and readiness. Safe for the browser. */
import { z } from 'zod';

export const healthSchema = z.object({ status: z.literal('ok') });

/** `walls`: whether each stands around the processes of sandboxes. A missing one makes the server no less ready. */
export const readinessSchema = z.object({
  /** `degraded`: it can do its work with what is on this machine; `because` says what it cannot reach. */
  status: z.enum(['ok', 'degraded']),
  because: z.array(z.string()).optional(),
  walls: z.object({ net: z.boolean(), uid: z.boolean(), caps: z.boolean(), files: z.boolean() }),
});
