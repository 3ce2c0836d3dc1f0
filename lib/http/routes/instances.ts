/** Routes of instances: list, create, look, change, and the verbs that file and wake them. */
import { z } from 'zod';
import {
  createSchema,
  deleteSchema,
  instanceIdSchema,
  instanceSchema,
  listQuerySchema,
  patchSchema,
  prefetchAnswerSchema,
  resumeAnswerSchema,
  resumeSchema,
  verbBodySchema,
} from '../../contract/schema.ts';
import type { Verb } from '../../lifecycle/state-map.ts';
import { settingsTag } from '../../operations/settings-tag.ts';
import { json } from '../answer.ts';
import { route } from '../operation-route.ts';
import { nextLink } from '../paging.ts';
import { customRoute, type Route } from '../route.ts';

export const idParams = z.strictObject({ id: instanceIdSchema });
const tag = 'Instances';
const one = { 200: { description: 'The instance', schema: instanceSchema } };

const tagged = {
  200: {
    description: 'The instance',
    schema: instanceSchema,
    headers: { ETag: 'Of what PATCH changes, for `If-Match`; the rest may change without it' },
  },
};

type Filing = Exclude<Verb, 'resume' | 'delete'>;

function filing(verb: Filing, summary: string): Route {
  return route({
    method: 'POST',
    path: `/instances/:id/${verb}`,
    operation: verb,
    name: `${verb}Instance`,
    summary,
    tag,
    params: idParams,
    body: verbBodySchema,
    answers: one,
  });
}

export const instanceRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances',
    operation: 'listInstances',
    summary:
      'Lists instances, newest activity first, a page at a time; `since` and `until` bound their last state change or activity, `idle_over` and `idle_under` the seconds since then, `due_since` and `due_until` their next automatic move; `pending` asks for those with an operation under way, `host` for those that a server has awake or on its disk. Looking wakes nothing.',
    tag,
    query: listQuerySchema,
    answers: {
      200: {
        description: 'A page of instances',
        schema: z.array(instanceSchema),
        headers: {
          Link: 'The next page, `rel="next"`, when there is one',
          'X-Total-Count':
            'Number of instances that match: exact to 10 000 (with `q`, to 1 000), then `10000+` (`1000+`); `300+` when some thousand rows were read and more are left',
        },
      },
    },
    answer: ({ items, next, total, totalIsExact }, { path, search }) =>
      json(200, items, {
        ...nextLink(path, search, next),
        'x-total-count': totalIsExact ? String(total) : `${total}+`,
      }),
  }),
  route({
    method: 'POST',
    path: '/instances',
    operation: 'createInstance',
    summary: 'Creates an instance. It has no process and no file until its first resume or call.',
    tag,
    body: createSchema,
    answers: { 201: { description: 'The new instance', schema: instanceSchema, headers: { Location: 'Its address' } } },
    answer: (instance, { path }) => json(201, instance, { location: `${path}/${instance.id}` }),
  }),
  route({
    method: 'GET',
    path: '/instances/:id',
    operation: 'getInstance',
    summary: 'Shows an instance. Looking wakes nothing.',
    tag,
    params: idParams,
    answers: tagged,
    answer: (instance) => json(200, instance, { etag: settingsTag(instance) }),
  }),
  customRoute({
    method: 'PATCH',
    path: '/instances/:id',
    operation: 'patchInstance',
    name: 'patchInstance',
    summary:
      'Changes settings that need no transition. A policy takes effect at the next start of a process. With `If-Match` nothing is changed when somebody changed the settings meanwhile.',
    tag,
    params: idParams,
    headers: { 'If-Match': 'Only when nobody changed them meanwhile: the ETag that they were read with' },
    body: patchSchema,
    answers: tagged,
    async handle({ services, caller, params, body, header }) {
      const condition = { ifMatch: header('if-match') };
      const instance = await services.operations.patchInstance(caller, params.id, body, condition);
      return json(200, instance, { etag: settingsTag(instance) });
    },
  }),
  route({
    method: 'DELETE',
    path: '/instances/:id',
    operation: 'deleteInstance',
    summary: 'Deletes an archived instance for good. Its id is never used again.',
    tag,
    params: idParams,
    body: deleteSchema,
    answers: { 204: { description: 'Deleted' } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/resume',
    operation: 'resume',
    name: 'resumeInstance',
    summary: 'Wakes an instance from any state but deleted. `force` clears a fault and tries once more.',
    tag,
    params: idParams,
    body: resumeSchema,
    answers: { 200: { description: 'How it came back', schema: resumeAnswerSchema } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/prefetch',
    operation: 'prefetch',
    name: 'prefetchInstance',
    summary: 'Moves the file to the live drawer without starting a process. It is filed again when no call follows.',
    tag,
    params: idParams,
    answers: { 200: { description: 'Where the file came from', schema: prefetchAnswerSchema } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/settle',
    operation: 'settle',
    name: 'settleInstance',
    summary:
      'Completes or undoes an interrupted operation (`interrupted`) by looking at the file, as a start of the server does. Without one nothing changes.',
    tag,
    params: idParams,
    answers: one,
  }),
  filing(
    'suspend',
    'Ends the process and keeps the file where it is. An ephemeral instance ends at its time instead: `conflict`.',
  ),
  filing('freeze', 'Files a suspended instance into the cold drawer. An ephemeral one is never frozen: `conflict`.'),
  filing('archive', 'Files an active or frozen instance away; only resume or revive brings it back.'),
  filing('revive', 'Brings an archived instance back to active.'),
];
