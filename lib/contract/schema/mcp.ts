/** Contract schema of the messages of the Model Context Protocol. Safe for the browser. */
import { z } from 'zod';

const id = z.union([z.string().max(200), z.number()]);

/** One message of JSON-RPC 2.0: what is in it beyond that is the protocol's. Several at once are not taken. */
export const mcpMessageSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: id.optional(),
    method: z.string().max(200).optional(),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'McpMessage' });
export type McpMessage = z.infer<typeof mcpMessageSchema>;
