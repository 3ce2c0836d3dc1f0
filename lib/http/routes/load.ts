/** Routes of load: as JSON, and the points as a download in CSV. */
import { z } from 'zod';
import {
  type InstanceLoad,
  instanceLoadSchema,
  loadQuerySchema,
  slugSchema,
  topLoadQuerySchema,
  topLoadSchema,
} from '../../contract/schema.ts';
import { type Answer, empty } from '../answer.ts';
import { route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';
import { idParams } from './instances.ts';

const tenantParams = z.strictObject({ tenant: slugSchema });
const COLUMNS = Object.keys(instanceLoadSchema.shape.points.element.shape) as (keyof InstanceLoad['points'][number])[];

const csv = {
  200: {
    description: 'The points, with a row of names; what is not known is empty',
    mediaType: 'text/csv',
    headers: { 'Content-Disposition': 'A name for the file' },
  },
};

async function csvAnswer(name: string, head: boolean, load: () => Promise<InstanceLoad>): Promise<Answer> {
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="winterdock-load-${name}.csv"`,
  };
  if (head) return empty(200, headers);
  const { points } = await load();
  const rows = points.map((point) => [...COLUMNS.map((column) => point[column] ?? ''), isoOf(point.time)].join(','));
  const text = [[...COLUMNS, 'time_iso'].join(','), ...rows].map((row) => `${row}\r\n`).join('');
  return { status: 200, headers, body: { text } };
}

const isoOf = (time: number) => new Date(time * 1000).toISOString();

export const loadRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/load',
    operation: 'instanceLoad',
    summary:
      'Shows what an instance takes while it takes it: processor seconds, memory, calls, bytes in and out, disk. Each ten seconds of the last hour, each minute of the last day, each hour before. Steps in which nothing was measured are left out. The samples of the last hour are in memory and lost when the server stops.',
    tag: 'Instances',
    params: idParams,
    query: loadQuerySchema,
    answers: { 200: { description: 'What it took', schema: instanceLoadSchema } },
  }),
  customRoute({
    method: 'GET',
    path: '/instances/:id/load/export',
    operation: 'instanceLoad',
    name: 'exportInstanceLoad',
    summary: 'Downloads the points of the same as CSV.',
    tag: 'Instances',
    params: idParams,
    query: loadQuerySchema,
    answers: csv,
    handle: ({ services, caller, params, query, head }) =>
      csvAnswer(params.id, head, () => services.operations.instanceLoad(caller, params.id, query)),
  }),
  route({
    method: 'GET',
    path: '/tenants/:tenant/load',
    operation: 'tenantLoad',
    summary: 'Shows the same of a tenant’s instances together, and which of them took the most.',
    tag: 'Tenants',
    params: tenantParams,
    query: topLoadQuerySchema,
    answers: { 200: { description: 'What they took', schema: topLoadSchema } },
  }),
  customRoute({
    method: 'GET',
    path: '/tenants/:tenant/load/export',
    operation: 'tenantLoad',
    name: 'exportTenantLoad',
    summary: 'Downloads the points of the same as CSV.',
    tag: 'Tenants',
    params: tenantParams,
    query: topLoadQuerySchema,
    answers: csv,
    handle: ({ services, caller, params, query, head }) =>
      csvAnswer(params.tenant, head, () => services.operations.tenantLoad(caller, params.tenant, query)),
  }),
  route({
    method: 'GET',
    path: '/load',
    operation: 'serverLoad',
    summary: 'Shows the same of all instances of this server together, and which tenants took the most.',
    tag: 'System',
    query: topLoadQuerySchema,
    answers: { 200: { description: 'What all instances took', schema: topLoadSchema } },
  }),
  customRoute({
    method: 'GET',
    path: '/load/export',
    operation: 'serverLoad',
    name: 'exportServerLoad',
    summary: 'Downloads the points of the same as CSV.',
    tag: 'System',
    query: topLoadQuerySchema,
    answers: csv,
    handle: ({ services, caller, query, head }) =>
      csvAnswer('server', head, () => services.operations.serverLoad(caller, query)),
  }),
];
