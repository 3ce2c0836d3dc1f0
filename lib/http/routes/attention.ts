/** Routes of what needs a person: what is wrong or comes near a wall, and what was acknowledged of it. */
import { z } from 'zod';
import { acknowledgeSchema, attentionQuerySchema, attentionSchema } from '../../contract/schema.ts';
import { route } from '../operation-route.ts';
import type { Route } from '../route.ts';

const tag = 'Attention';
const params = z.strictObject({ id: z.string().min(1).max(300) });

export const attentionRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/attention',
    operation: 'attention',
    summary: 'Lists what is wrong or comes near a wall, as far as the caller may see it, with what is acknowledged.',
    tag,
    query: attentionQuerySchema,
    answers: { 200: { description: 'What needs a person, what is wrong first', schema: z.array(attentionSchema) } },
  }),
  route({
    method: 'POST',
    path: '/attention/:id/acknowledge',
    operation: 'acknowledge',
    summary: 'Acknowledges it for everybody, until a time or until it ends. What begins anew is told of again.',
    tag,
    params,
    body: acknowledgeSchema,
    answers: { 200: { description: 'It, as it is now', schema: attentionSchema } },
  }),
  route({
    method: 'DELETE',
    path: '/attention/:id/acknowledge',
    operation: 'unacknowledge',
    summary: 'Takes an acknowledgement back.',
    tag,
    params,
    answers: { 204: { description: 'It is not acknowledged any more' } },
  }),
];
