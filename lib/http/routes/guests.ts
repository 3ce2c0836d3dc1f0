/** Routes of what guests are given: variables of their environment, and secrets that no answer holds. */
import { z } from 'zod';
import {
  envPatchSchema,
  secretInputSchema,
  secretNameSchema,
  secretSchema,
  slugSchema,
  variableSchema,
} from '../../contract/schema.ts';
import { route } from '../operation-route.ts';
import type { Route } from '../route.ts';
import { idParams } from './instances.ts';

const tenantParams = z.strictObject({ tenant: slugSchema });
const nameParams = z.strictObject({ name: slugSchema });
const env = { tag: 'Environment', answers: { 200: { description: 'By name', schema: z.array(variableSchema) } } };
const changed = 'Values by name; null removes one, and what is not named stays. Holds for the next call.';
const tag = 'Secrets';
const listed = { 200: { description: 'By name, without their values', schema: z.array(secretSchema) } };
const stored = { 200: { description: 'As it is now, without its value', schema: secretSchema } };
const removed = { 204: { description: 'It is gone' } };

export const guestRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/env',
    operation: 'instanceEnv',
    summary:
      'Lists the variables that an instance’s guests have: its own override those of its blueprint, which override those of its tenant.',
    params: idParams,
    ...env,
  }),
  route({
    method: 'PATCH',
    path: '/instances/:id/env',
    operation: 'patchInstanceEnv',
    summary: `Sets and removes an instance’s own variables. ${changed}`,
    params: idParams,
    body: envPatchSchema,
    ...env,
  }),
  route({
    method: 'GET',
    path: '/tenants/:tenant/env',
    operation: 'tenantEnv',
    summary: 'Lists the variables of every sandbox of a tenant.',
    params: tenantParams,
    ...env,
  }),
  route({
    method: 'PATCH',
    path: '/tenants/:tenant/env',
    operation: 'patchTenantEnv',
    summary: `Sets and removes a tenant’s variables. ${changed}`,
    params: tenantParams,
    body: envPatchSchema,
    ...env,
  }),
  route({
    method: 'GET',
    path: '/blueprints/:name/env',
    operation: 'blueprintEnv',
    summary: 'Lists the variables of every clone of a blueprint.',
    params: nameParams,
    ...env,
  }),
  route({
    method: 'PATCH',
    path: '/blueprints/:name/env',
    operation: 'patchBlueprintEnv',
    summary: `Sets and removes a blueprint’s variables, which all its clones have. ${changed}`,
    params: nameParams,
    body: envPatchSchema,
    ...env,
  }),
  route({
    method: 'GET',
    path: '/instances/:id/secrets',
    operation: 'instanceSecrets',
    summary: 'Lists the secrets that requests of an instance carry, its own and its tenant’s, without their values.',
    tag,
    params: idParams,
    answers: listed,
  }),
  route({
    method: 'PUT',
    path: '/instances/:id/secrets/:name',
    operation: 'setInstanceSecret',
    summary: 'Sets a secret of an instance; it replaces its tenant’s secret of that name. Nobody can read it again.',
    tag,
    params: idParams.extend({ name: secretNameSchema }),
    body: secretInputSchema,
    answers: stored,
  }),
  route({
    method: 'DELETE',
    path: '/instances/:id/secrets/:name',
    operation: 'deleteInstanceSecret',
    summary: 'Removes a secret of an instance.',
    tag,
    params: idParams.extend({ name: secretNameSchema }),
    answers: removed,
  }),
  route({
    method: 'GET',
    path: '/tenants/:tenant/secrets',
    operation: 'tenantSecrets',
    summary: 'Lists the secrets that requests of every sandbox of a tenant carry, without their values.',
    tag,
    params: tenantParams,
    answers: listed,
  }),
  route({
    method: 'PUT',
    path: '/tenants/:tenant/secrets/:name',
    operation: 'setTenantSecret',
    summary: 'Sets a secret of a tenant. Nobody can read it again.',
    tag,
    params: tenantParams.extend({ name: secretNameSchema }),
    body: secretInputSchema,
    answers: stored,
  }),
  route({
    method: 'DELETE',
    path: '/tenants/:tenant/secrets/:name',
    operation: 'deleteTenantSecret',
    summary: 'Removes a secret of a tenant.',
    tag,
    params: tenantParams.extend({ name: secretNameSchema }),
    answers: removed,
  }),
];
