/** Routes of usage by the hour, and of a sandbox's life. */
import { z } from 'zod';
import {
  instanceLifeSchema,
  instanceUsageSchema,
  lifeQuerySchema,
  slugSchema,
  tenantUsageSchema,
  usageQuerySchema,
} from '../../contract/schema.ts';
import { route } from '../operation-route.ts';
import type { Route } from '../route.ts';
import { idParams } from './instances.ts';

const tenantParams = z.strictObject({ tenant: slugSchema });

export const usageRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/usage',
    operation: 'instanceUsage',
    summary:
      'Shows what an instance used over time: processor seconds, calls, memory, disk, by the hour or more. Steps in which it did nothing are left out.',
    tag: 'Instances',
    params: idParams,
    query: usageQuerySchema,
    answers: { 200: { description: 'What it took', schema: instanceUsageSchema } },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/life',
    operation: 'instanceLife',
    summary:
      'Shows the life of an instance from the ledger: the time in each state and its hops, in a bounded number of columns.',
    tag: 'Instances',
    params: idParams,
    query: lifeQuerySchema,
    answers: { 200: { description: 'Its life', schema: instanceLifeSchema } },
  }),
  route({
    method: 'GET',
    path: '/tenants/:tenant/usage',
    operation: 'tenantUsage',
    summary:
      'Shows what a tenant’s instances used over time, together: processor seconds, calls, memory, disk, wakes, faults, active time.',
    tag: 'Tenants',
    params: tenantParams,
    query: usageQuerySchema,
    answers: { 200: { description: 'What they took', schema: tenantUsageSchema } },
  }),
  route({
    method: 'GET',
    path: '/usage',
    operation: 'serverUsage',
    summary: 'Shows the same of the whole server.',
    tag: 'System',
    query: usageQuerySchema,
    answers: { 200: { description: 'What all instances took', schema: tenantUsageSchema } },
  }),
];
