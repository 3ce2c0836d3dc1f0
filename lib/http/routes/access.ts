/** Routes about access: who the caller is, people and their sessions, keys. */
import { z } from 'zod';
import {
  createdKeySchema,
  endSessionQuerySchema,
  invitationSchema,
  invitedSchema,
  inviteSchema,
  keyInputSchema,
  keySchema,
  meSchema,
  passwordChangeSchema,
  personPatchSchema,
  personSchema,
  sessionSchema,
} from '../../contract/schema/access.ts';
import { empty, json } from '../answer.ts';
import { type Route, route } from '../route.ts';

const people = 'People';
const keys = 'Keys';
const idParams = z.strictObject({ id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'is not an id') });

export const accessRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/me',
    name: 'me',
    summary: 'Shows who is calling and what the role allows.',
    tag: people,
    answers: { 200: { description: 'The caller', schema: meSchema } },
    handle: async ({ services, caller }) => json(200, await services.operations.me(caller)),
  }),
  route({
    method: 'PUT',
    path: '/me/password',
    name: 'changePassword',
    summary: 'Changes the caller’s own password and ends all its other sessions.',
    tag: people,
    body: passwordChangeSchema,
    answers: { 204: { description: 'Changed' } },
    async handle({ services, caller, body }) {
      await services.operations.changePassword(caller, body);
      return empty(204);
    },
  }),
  route({
    method: 'GET',
    path: '/people',
    name: 'people',
    summary: 'Lists the people who have an account, the oldest first.',
    tag: people,
    answers: { 200: { description: 'Everyone', schema: z.array(personSchema) } },
    handle: async ({ services, caller }) => json(200, await services.operations.people(caller)),
  }),
  route({
    method: 'GET',
    path: '/people/invitations',
    name: 'invitations',
    summary: 'Lists the invitations that are still open, the newest first.',
    tag: people,
    answers: { 200: { description: 'Open invitations', schema: z.array(invitationSchema) } },
    handle: async ({ services, caller }) => json(200, await services.operations.invitations(caller)),
  }),
  route({
    method: 'POST',
    path: '/people/invitations',
    name: 'invite',
    summary: 'Makes a link that lets one person in, once and for a week. The link is shown this once.',
    tag: people,
    body: inviteSchema,
    answers: { 201: { description: 'The invitation with its link', schema: invitedSchema } },
    handle: async ({ services, caller, body }) => json(201, await services.operations.invite(caller, body)),
  }),
  route({
    method: 'DELETE',
    path: '/people/invitations/:id',
    name: 'withdrawInvitation',
    summary: 'Withdraws an open invitation.',
    tag: people,
    params: idParams,
    answers: { 204: { description: 'Its link does not work any more' } },
    async handle({ services, caller, params }) {
      await services.operations.withdrawInvitation(caller, params.id);
      return empty(204);
    },
  }),
  route({
    method: 'PATCH',
    path: '/people/:id',
    name: 'patchPerson',
    summary: 'Changes a person’s name, role or tenants, or disables the account, which ends its sessions.',
    tag: people,
    params: idParams,
    body: personPatchSchema,
    answers: { 200: { description: 'The person', schema: personSchema } },
    handle: async ({ services, caller, params, body }) =>
      json(200, await services.operations.patchPerson(caller, params.id, body)),
  }),
  route({
    method: 'GET',
    path: '/people/:id/sessions',
    name: 'sessionsOf',
    summary: 'Lists the open sessions of a person, the newest first. `me` is the caller.',
    tag: people,
    params: idParams,
    answers: { 200: { description: 'Open sessions', schema: z.array(sessionSchema) } },
    handle: async ({ services, caller, params }) => json(200, await services.operations.sessionsOf(caller, params.id)),
  }),
  route({
    method: 'DELETE',
    path: '/people/:id/sessions',
    name: 'endSession',
    summary: 'Ends one session of a person, or all of them. `me` is the caller.',
    tag: people,
    params: idParams,
    query: endSessionQuerySchema,
    answers: { 204: { description: 'Ended' } },
    async handle({ services, caller, params, query }) {
      await services.operations.endSession(caller, params.id, query);
      return empty(204);
    },
  }),
  route({
    method: 'GET',
    path: '/keys',
    name: 'listKeys',
    summary: 'Lists the keys that are not revoked, the newest first.',
    tag: keys,
    answers: { 200: { description: 'Keys, by what they begin with', schema: z.array(keySchema) } },
    handle: async ({ services, caller }) => json(200, await services.operations.listKeys(caller)),
  }),
  route({
    method: 'POST',
    path: '/keys',
    name: 'createKey',
    summary: 'Makes a key for a program. It is shown this once; only its digest is kept.',
    tag: keys,
    body: keyInputSchema,
    answers: { 201: { description: 'The key', schema: createdKeySchema } },
    handle: async ({ services, caller, body }) => json(201, await services.operations.createKey(caller, body)),
  }),
  route({
    method: 'DELETE',
    path: '/keys/:id',
    name: 'revokeKey',
    summary: 'Revokes a key, at once and for open streams too.',
    tag: keys,
    params: idParams,
    answers: { 204: { description: 'It is no key any more' } },
    async handle({ services, caller, params }) {
      await services.operations.revokeKey(caller, params.id);
      return empty(204);
    },
  }),
];
