/** Routes of plans and jobs. */
import { z } from 'zod';
import {
  dryRunSchema,
  instanceSchema,
  jobResultSchema,
  jobResultsQuerySchema,
  jobSchema,
  jobStartedSchema,
  jobsQuerySchema,
  planQuerySchema,
  planSchema,
  startJobSchema,
  walkSchema,
} from '../../contract/schema.ts';
import { json } from '../answer.ts';
import { nextLink } from '../paging.ts';
import { type Route, route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Jobs';
const Link = 'The next page, `rel="next"`, when there is one';
const one = { 200: { description: 'The job', schema: jobSchema } };

export const jobRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/plan',
    name: 'getPlan',
    needs: 'plan',
    summary: 'Shows the hops from where an instance is to a state, and what they cost. Changes nothing.',
    tag,
    params: idParams,
    query: planQuerySchema,
    answers: { 200: { description: 'The plan', schema: planSchema } },
    handle: async ({ services, caller, params, query }) =>
      json(200, await services.operations.plan(caller, params.id, query)),
  }),
  route({
    method: 'POST',
    path: '/instances/:id/plan',
    name: 'walkPlan',
    needs: 'walk',
    summary:
      'Walks an instance to a state, hop by hop, each in the ledger. `active` is passed through without a process. A walk that fails stays where it came to.',
    tag,
    params: idParams,
    body: walkSchema,
    answers: { 200: { description: 'The instance as it is at the end', schema: instanceSchema } },
    handle: async ({ services, caller, params, body }) =>
      json(200, await services.operations.walk(caller, params.id, body)),
  }),
  route({
    method: 'POST',
    path: '/jobs',
    name: 'startJob',
    summary:
      'Does a verb to many instances: to those named, or to everything that matches now. With `dry_run` it only says what it would do and whom it would pass over, and why.',
    tag,
    body: startJobSchema,
    answers: {
      200: { description: 'What it would do', schema: dryRunSchema },
      202: { description: 'It runs', schema: jobStartedSchema, headers: { Location: 'Its address' } },
    },
    async handle({ services, caller, body, path }) {
      const answer = await services.operations.startJob(caller, body);
      if ('dryRun' in answer) return json(200, answer.dryRun);
      return json(202, { id: answer.id }, { location: `${path}/${answer.id}` });
    },
  }),
  route({
    method: 'GET',
    path: '/jobs',
    name: 'listJobs',
    summary: 'Lists jobs, newest first.',
    tag,
    query: jobsQuerySchema,
    answers: { 200: { description: 'A page of jobs', schema: z.array(jobSchema), headers: { Link } } },
    async handle({ services, caller, query, path, search }) {
      const { items, next } = await services.operations.listJobs(caller, query);
      return json(200, items, nextLink(path, search, next));
    },
  }),
  route({
    method: 'GET',
    path: '/jobs/:id',
    name: 'getJob',
    summary: 'Shows a job and how far it is.',
    tag,
    params: idParams,
    answers: one,
    handle: async ({ services, caller, params }) => json(200, await services.operations.getJob(caller, params.id)),
  }),
  route({
    method: 'DELETE',
    path: '/jobs/:id',
    name: 'cancelJob',
    summary: 'Cancels a job: what is under way ends, nothing more begins. A job that has ended stays as it is.',
    tag,
    params: idParams,
    answers: one,
    handle: async ({ services, caller, params }) => json(200, await services.operations.cancelJob(caller, params.id)),
  }),
  route({
    method: 'GET',
    path: '/jobs/:id/results',
    name: 'listJobResults',
    needs: 'jobResults',
    summary: 'Lists what became of each instance of a job, in the job’s order.',
    tag,
    params: idParams,
    query: jobResultsQuerySchema,
    answers: { 200: { description: 'A page of results', schema: z.array(jobResultSchema), headers: { Link } } },
    async handle({ services, caller, params, query, path, search }) {
      const { items, next } = await services.operations.jobResults(caller, params.id, query);
      return json(200, items, nextLink(path, search, next));
    },
  }),
];
