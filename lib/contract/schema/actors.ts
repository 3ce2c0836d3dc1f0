/** Contract schema of the name beside an actor's id. Safe for the browser. */
import { z } from 'zod';

export const actorNameSchema = z
  .string()
  .nullable()
  .describe('The name of the person or key; null for one without a name, or that is gone.');
