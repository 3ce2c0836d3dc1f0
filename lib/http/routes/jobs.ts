/** Routes of plans and jobs. */
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
  runPlanSchema,
  startJobSchema,
} from '../../contract/schema.ts';
import { json } from '../answer.ts';
import { listAnswer, route } from '../operation-route.ts';
import type { Route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Jobs';
const one = { 200: { description: 'The job', schema: jobSchema } };

export const jobRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/plan',
    operation: 'plan',
    name: 'getPlan',
    summary: 'Shows the hops from where an instance is to a state, and what they cost. Changes nothing.',
    tag,
    params: idParams,
    query: planQuerySchema,
    answers: { 200: { description: 'The plan', schema: planSchema } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/plan',
    operation: 'runPlan',
    name: 'walkPlan',
    summary:
      'Runs the plan that brings an instance to a state: hop by hop, each in the ledger. `active` is passed through without a process. A plan that fails leaves the instance in the state of its last hop.',
    tag,
    params: idParams,
    body: runPlanSchema,
    answers: { 200: { description: 'The instance as it is at the end', schema: instanceSchema } },
  }),
  route({
    method: 'POST',
    path: '/jobs',
    operation: 'startJob',
    summary:
      'Applies a verb to many instances: to those named, or to all that match now. With `dry_run` it only says what it would do, which instances it would skip, and why.',
    tag,
    body: startJobSchema,
    answers: {
      200: { description: 'What it would do', schema: dryRunSchema },
      202: { description: 'It runs', schema: jobStartedSchema, headers: { Location: 'Its address' } },
    },
    answer: (result, { path }) =>
      'dryRun' in result
        ? json(200, result.dryRun)
        : json(202, { id: result.id }, { location: `${path}/${result.id}` }),
  }),
  route({
    method: 'GET',
    path: '/jobs',
    operation: 'listJobs',
    summary: 'Lists jobs, newest first.',
    tag,
    query: jobsQuerySchema,
    answers: { 200: listAnswer('A page of jobs', jobSchema) },
  }),
  route({
    method: 'GET',
    path: '/jobs/:id',
    operation: 'getJob',
    summary: 'Shows a job and how far it is.',
    tag,
    params: idParams,
    answers: one,
  }),
  route({
    method: 'DELETE',
    path: '/jobs/:id',
    operation: 'cancelJob',
    summary: 'Cancels a job: moves under way finish, and no further ones begin. An ended job does not change.',
    tag,
    params: idParams,
    answers: one,
  }),
  route({
    method: 'GET',
    path: '/jobs/:id/results',
    operation: 'jobResults',
    name: 'listJobResults',
    summary: 'Lists the result for each instance of a job, in the job’s order.',
    tag,
    params: idParams,
    query: jobResultsQuerySchema,
    answers: { 200: listAnswer('A page of results', jobResultSchema) },
  }),
];
