/** Contract schemas of ids. Safe for the browser. */
import { z } from 'zod';
import { type InstanceId, SLUG, SLUG_RULE } from '../../base/ids.ts';

/** Ids and tenants. */
export const slugSchema = z.string().regex(SLUG, SLUG_RULE);

/** The name of a host, as `WB_HOST_NAME` may have it. */
export const hostNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/, 'must be 1 to 100 letters, digits, dots and dashes');

/** The id of a sandbox: a slug, and from here on an `InstanceId`. */
export const instanceIdSchema = slugSchema as unknown as z.ZodType<InstanceId, string>;
