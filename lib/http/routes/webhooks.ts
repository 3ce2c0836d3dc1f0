/** Routes of webhooks: who is told of ledger lines, and what was delivered. */
import { z } from 'zod';
import {
  deliveriesQuerySchema,
  webhookDeliverySchema,
  webhookInputSchema,
  webhookPatchSchema,
  webhookSchema,
  webhookSecretSchema,
  webhooksQuerySchema,
} from '../../contract/schema.ts';
import { json } from '../answer.ts';
import { listAnswer, route } from '../operation-route.ts';
import type { Route } from '../route.ts';

const tag = 'Webhooks';
const idText = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'is not an id');
const params = z.strictObject({ id: idText });
const one = { 200: { description: 'The webhook', schema: webhookSchema } };

export const webhookRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/webhooks',
    operation: 'listWebhooks',
    summary: 'Lists the webhooks, the oldest first.',
    tag,
    query: webhooksQuerySchema,
    answers: { 200: { description: 'Webhooks, without their secrets', schema: z.array(webhookSchema) } },
  }),
  route({
    method: 'POST',
    path: '/webhooks',
    operation: 'createWebhook',
    summary:
      'Sets up a webhook: from now on it is told of ledger lines, signed as Standard Webhooks says, at least once each and with the same `webhook-id` at every attempt. `tenant` limits it to the lines of one, `types` to some (`instance.*`, `problems` for faults and refusals). https and public addresses only, unless the server’s settings allow an origin by name. The secret is shown this once.',
    tag,
    body: webhookInputSchema,
    answers: {
      201: {
        description: 'The webhook with its secret',
        schema: webhookSecretSchema,
        headers: { Location: 'Its address' },
      },
    },
    answer: (made, { path }) => json(201, made, { location: `${path}/${made.id}` }),
  }),
  route({
    method: 'GET',
    path: '/webhooks/:id',
    operation: 'getWebhook',
    summary: 'Shows a webhook and the health of its receiver.',
    tag,
    params,
    answers: one,
  }),
  route({
    method: 'PATCH',
    path: '/webhooks/:id',
    operation: 'patchWebhook',
    summary:
      'Changes a webhook, or turns it on or off. One that is turned on goes on where it stopped, or with `resume_from: now` with what happens from now on. After 24 hours without a success the server turns it off.',
    tag,
    params,
    body: webhookPatchSchema,
    answers: one,
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/:id',
    operation: 'deleteWebhook',
    summary: 'Removes a webhook with its deliveries.',
    tag,
    params,
    answers: { 204: { description: 'It is told of nothing any more' } },
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/rotate',
    operation: 'rotateWebhookSecret',
    summary: 'Replaces the secret. For 24 hours the previous one signs too. The new one is shown this once.',
    tag,
    params,
    answers: { 200: { description: 'The webhook with its new secret', schema: webhookSecretSchema } },
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/test',
    operation: 'testWebhook',
    summary: 'Sends `webhook.ping` once and answers how that went, also for a webhook that is off.',
    tag,
    params,
    answers: { 200: { description: 'The delivery', schema: webhookDeliverySchema } },
  }),
  route({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    operation: 'webhookDeliveries',
    name: 'listWebhookDeliveries',
    summary: 'Lists what is to be delivered and the last that was or failed, newest first.',
    tag,
    params,
    query: deliveriesQuerySchema,
    answers: { 200: listAnswer('A page of deliveries', webhookDeliverySchema) },
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery/resend',
    operation: 'resendDelivery',
    summary: 'Delivers again, with the same `webhook-id`, whatever came of it before.',
    tag,
    params: params.extend({ delivery: idText }),
    answers: { 202: { description: 'It is to be delivered', schema: webhookDeliverySchema } },
  }),
];
