/** Routes about the server itself: settings, health, metrics, the document. */

import { healthSchema, readinessSchema, settingsPatchSchema, settingsSchema } from '../../contract/schema.ts';
import { json } from '../answer.ts';
import { route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';

const tag = 'System';

export const systemRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/settings',
    operation: 'getSettings',
    summary: 'Shows the global thresholds of the ladder.',
    tag,
    answers: { 200: { description: 'The settings', schema: settingsSchema } },
  }),
  route({
    method: 'PATCH',
    path: '/settings',
    operation: 'patchSettings',
    summary: 'Changes the global thresholds of the ladder.',
    tag,
    body: settingsPatchSchema,
    answers: { 200: { description: 'The settings as they are now', schema: settingsSchema } },
  }),
  customRoute({
    method: 'GET',
    path: '/healthz',
    root: true,
    name: 'health',
    operation: null,
    summary: 'Answers while the process lives.',
    tag,
    access: 'open',
    answers: { 200: { description: 'It lives', schema: healthSchema } },
    handle: () => json(200, { status: 'ok' }),
  }),
  customRoute({
    method: 'GET',
    path: '/readyz',
    root: true,
    name: 'readiness',
    operation: null,
    summary:
      'Answers `ok` when the registry, the pool and the data folder can do their work, and `503` until then; `degraded` while the object store is away.',
    tag,
    access: 'open',
    answers: { 200: { description: 'It is ready', schema: readinessSchema } },
    async handle({ services }) {
      await services.ready();
      const because = services.degraded();
      const status = because.length === 0 ? { status: 'ok' } : { status: 'degraded', because };
      return json(200, { ...status, walls: services.walls.states });
    },
  }),
  customRoute({
    method: 'GET',
    path: '/metrics',
    root: true,
    operation: 'metricsText',
    name: 'metrics',
    summary: 'Shows the metrics in the Prometheus text format.',
    tag,
    access: 'metrics',
    answers: { 200: { description: 'The metrics', mediaType: 'text/plain' } },
    async handle({ services, caller }) {
      return {
        status: 200,
        headers: { 'content-type': services.metrics.contentType },
        body: { text: await services.operations.metricsText(caller) },
      };
    },
  }),
  customRoute({
    method: 'GET',
    path: '/openapi.json',
    root: true,
    name: 'openapi',
    operation: null,
    summary: 'Shows this document (OpenAPI 3.1).',
    tag,
    access: 'open',
    answers: { 200: { description: 'The document', mediaType: 'application/json' } },
    handle: ({ services }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { text: services.openapi() },
    }),
  }),
];
