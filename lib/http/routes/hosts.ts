/** Routes of hosts: the servers of the registry. */
import { z } from 'zod';
import { drainHostSchema, hostSchema, patchHostSchema } from '../../contract/schema.ts';
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
  route({
    method: 'PATCH',
    path: '/hosts/:name',
    operation: 'patchHost',
    summary: 'Sets the labels of a server, in the place of those that it has.',
    tag,
    params,
    body: patchHostSchema,
    answers: { 200: { description: 'The host', schema: hostSchema } },
  }),
  route({
    method: 'POST',
    path: '/hosts/:name/drain',
    operation: 'drainHost',
    summary:
      'Empties a server, for an upgrade or a repair: it takes nothing new, and a job of its own suspends, files and stores what it has, so that others wake it. What stays is in the results of that job, each with the reason. It stays so, over its next starts too, until it is taken back; once the job has ended, the same call begins another one for what is left.',
    tag,
    params,
    body: drainHostSchema,
    answers: { 202: { description: 'The host; `drain` says how far it is', schema: hostSchema } },
  }),
  route({
    method: 'DELETE',
    path: '/hosts/:name/drain',
    operation: 'stopDraining',
    summary: 'Has a server take what is new again. It keeps what it has, and nothing comes back to it by itself.',
    tag,
    params,
    answers: { 200: { description: 'The host', schema: hostSchema } },
  }),
];
