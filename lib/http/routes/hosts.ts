/** Routes of hosts: the servers of the registry. */
import { z } from 'zod';
import { hostSchema } from '../../contract/schema.ts';
import { route } from '../operation-route.ts';
import type { Route } from '../route.ts';

const tag = 'System';
const params = z.strictObject({ name: z.string().min(1).max(100) });

export const hostRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/hosts',
    operation: 'listHosts',
    summary: 'Lists the servers of the registry: what each says of itself, and its lease.',
    tag,
    answers: { 200: { description: 'All of them, by name', schema: z.array(hostSchema) } },
  }),
  route({
    method: 'GET',
    path: '/hosts/:name',
    operation: 'getHost',
    summary: 'Shows one server of the registry.',
    tag,
    params,
    answers: { 200: { description: 'The host', schema: hostSchema } },
  }),
];
