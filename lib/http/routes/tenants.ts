/** Routes of tenants, wake times and the simulator. */
import { z } from 'zod';
import {
  forgetTenantSchema,
  forgettingStartedSchema,
  previewAnswerSchema,
  previewSchema,
  simulateSchema,
  simulationSchema,
  slugSchema,
  tenantForgetPlanSchema,
  tenantPatchSchema,
  tenantSchema,
  tenantsQuerySchema,
  wakeTimeSchema,
  wakeTimesQuerySchema,
} from '../../contract/schema.ts';
import { json } from '../answer.ts';
import { listAnswer, route } from '../operation-route.ts';
import type { Route } from '../route.ts';

const tag = 'Tenants';
const params = z.strictObject({ tenant: slugSchema });

export const tenantRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/tenants',
    operation: 'listTenants',
    summary: 'Lists tenants by name, with what they use and their quotas.',
    tag,
    query: tenantsQuerySchema,
    answers: { 200: listAnswer('A page of tenants', tenantSchema) },
  }),
  route({
    method: 'GET',
    path: '/tenants/:tenant',
    operation: 'getTenant',
    summary: 'Shows a tenant: counts by state, bytes by drawer, thresholds, quotas with their use.',
    tag,
    params,
    answers: { 200: { description: 'The tenant', schema: tenantSchema } },
  }),
  route({
    method: 'PATCH',
    path: '/tenants/:tenant',
    operation: 'patchTenant',
    summary: 'Changes a tenant’s thresholds and quotas. What it has beyond a new quota stays; it gets no more.',
    tag,
    params,
    body: tenantPatchSchema,
    answers: { 200: { description: 'The tenant as it is now', schema: tenantSchema } },
  }),
  route({
    method: 'DELETE',
    path: '/tenants/:tenant',
    operation: 'forgetTenant',
    summary:
      'Forgets a tenant for good: sandboxes, snapshots, blueprints, shares, keys, people, search words; the ledger keeps ids only. A job does it, which nothing cancels. With `dry_run` it only says what would go and what would still hold it; else its name must be in `confirm`.',
    tag,
    params,
    body: forgetTenantSchema,
    answers: {
      200: { description: 'What would go', schema: tenantForgetPlanSchema },
      202: { description: 'It runs', schema: forgettingStartedSchema, headers: { Location: 'The address of its job' } },
    },
    answer: (result, { path }) =>
      'plan' in result
        ? json(200, result.plan)
        : json(202, result.started, { location: path.replace(/\/tenants\/.*$/, `/jobs/${result.started.id}`) }),
  }),
  route({
    method: 'GET',
    path: '/metrics/wakes',
    operation: 'wakeTimes',
    summary: 'Shows how long wakes took in the last days, by where the file came from; kept over restarts.',
    tag: 'System',
    query: wakeTimesQuerySchema,
    answers: { 200: { description: 'Histograms with p50 and p99', schema: z.array(wakeTimeSchema) } },
  }),
  route({
    method: 'POST',
    path: '/settings/preview',
    operation: 'previewThresholds',
    summary:
      'Counts which instances other thresholds, global or of a tenant, would suspend, freeze or end within a minute, and which they would leave. Changes nothing.',
    tag: 'System',
    body: previewSchema,
    answers: { 200: { description: 'What would come, and what would not', schema: previewAnswerSchema } },
  }),
  route({
    method: 'POST',
    path: '/settings/simulate',
    operation: 'simulate',
    summary:
      'Computes from the ledger what other thresholds would have meant in the last days: process-hours, cold wakes, thaws. Changes nothing.',
    tag: 'System',
    body: simulateSchema,
    answers: { 200: { description: 'As it was and as it would have been', schema: simulationSchema } },
  }),
];
