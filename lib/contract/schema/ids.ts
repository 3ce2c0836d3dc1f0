/** Contract schemas of ids. Safe for the browser. */
import { z } from 'zod';
import { type InstanceId, SLUG, SLUG_RULE } from '../../base/ids.ts';

/** Ids and tenants. */
export const slugSchema = z.string().regex(SLUG, SLUG_RULE);

/** The id of a sandbox: a slug, and from here on an `InstanceId`. */
export const instanceIdSchema = slugSchema as unknown as z.ZodType<InstanceId, string>;
