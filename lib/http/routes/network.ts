/** Routes of the network of sandboxes: what they may reach, and what they did reach. */
import { z } from 'zod';
import {
  instanceNetworkInputSchema,
  instanceNetworkSchema,
  slugSchema,
  tenantNetworkInputSchema,
  tenantNetworkSchema,
} from '../../contract/schema.ts';
import { route } from '../operation-route.ts';
import type { Route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Network';
const ofTenant = z.strictObject({ tenant: slugSchema });

export const networkRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/network',
    operation: 'instanceNetwork',
    summary: 'Shows what a sandbox may reach on the network, and what it reached in the last seven days, by host.',
    tag,
    params: idParams,
    answers: { 200: { description: 'Its network', schema: instanceNetworkSchema } },
  }),
  route({
    method: 'PUT',
    path: '/instances/:id/network',
    operation: 'putInstanceNetwork',
    summary:
      'Replaces the list of what a sandbox may reach. It reaches what its list and its tenant’s both allow; `rules: null` is the tenant’s list alone. `*` and numbers above the server’s are for operators and admins.',
    tag,
    params: idParams,
    body: instanceNetworkInputSchema,
    answers: { 200: { description: 'Its network as it is now', schema: instanceNetworkSchema } },
  }),
  route({
    method: 'GET',
    path: '/tenants/:tenant/network',
    operation: 'tenantNetwork',
    summary: 'Shows what the sandboxes of a tenant may reach on the network.',
    tag,
    params: ofTenant,
    answers: { 200: { description: 'Its list', schema: tenantNetworkSchema } },
  }),
  route({
    method: 'PUT',
    path: '/tenants/:tenant/network',
    operation: 'putTenantNetwork',
    summary:
      'Replaces the list of what the sandboxes of a tenant may reach: URL prefixes with methods (default: GET and HEAD), or `*` for everything public. `private` lets a name have an address that is not public. The numbers are of all its sandboxes together.',
    tag,
    params: ofTenant,
    body: tenantNetworkInputSchema,
    answers: { 200: { description: 'Its list as it is now', schema: tenantNetworkSchema } },
  }),
];
