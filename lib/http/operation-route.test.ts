import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { instanceIdSchema } from '../contract/schema/ids.ts';
import { filesQuerySchema, jobSchema, verbBodySchema } from '../contract/schema.ts';
import type { Operations } from '../operations/operations.ts';
import type { Volume } from '../vfs/volumes.ts';
import { listAnswer, route } from './operation-route.ts';
import type { Route, RouteContext } from './route.ts';

const caller = { actor: 'key:test' } as Caller;
const signal = new AbortController().signal;
const spec = { method: 'GET', summary: 'Does it.', tag: 'test' } as const;

/** Runs a derived handler over one operation, which notes its arguments and returns `result`. */
async function run(made: Route, given: Partial<RouteContext>, result?: unknown) {
  let inputs: unknown[] = [];
  const operations = {
    [String(made.operation)]: async (...args: unknown[]) => {
      inputs = args;
      return result;
    },
  } as unknown as Operations;
  const context = { services: { operations }, caller, signal, path: '/api/jobs', search: 'limit=1', ...given };
  return { answer: await made.handle(context as RouteContext), inputs };
}

test('the arguments are the path in its order, the query and the body', async () => {
  const params = z.strictObject({ volume: z.string().transform((name) => name as Volume), id: instanceIdSchema });
  const files = route({
    ...spec,
    path: '/instances/:id/volumes/:volume',
    operation: 'files',
    params,
    query: filesQuerySchema,
    answers: { 200: { description: 'Files', schema: z.unknown() } },
  });
  const { inputs } = await run(files, { params: { volume: 'tmp', id: 'a' }, query: { limit: 2 }, body: {} });
  expect(inputs).toEqual([caller, 'a', 'tmp', { limit: 2 }]);
});

test('an operation that ends with its client gets the signal last', async () => {
  const inspect = route({
    ...spec,
    path: '/x',
    operation: 'inspectBundle',
    body: 'stream',
    cancellable: true,
    answers: {},
  });
  expect((await run(inspect, { params: {}, body: 'upload' })).inputs).toEqual([caller, 'upload', signal]);
});

test('the result is JSON, a page with a link to the next, or nothing', async () => {
  const page = route({
    ...spec,
    path: '/jobs',
    operation: 'listTenants',
    answers: { 200: listAnswer('Jobs', jobSchema) },
  } as never);
  expect((await run(page, { params: {} }, { items: [1], next: 'c' })).answer).toEqual({
    status: 200,
    headers: { link: '</api/jobs?limit=1&cursor=c>; rel="next"' },
    body: { json: [1] },
  });
  const made = route({
    ...spec,
    path: '/x',
    operation: 'me',
    answers: { 201: { description: 'It', schema: z.unknown() } },
  });
  expect((await run(made, { params: {} }, { a: 1 })).answer).toMatchObject({ status: 201, body: { json: { a: 1 } } });
  const none = route({ ...spec, path: '/x', operation: 'me', answers: { 204: { description: 'Done' } } });
  expect((await run(none, { params: {} })).answer.body).toBeUndefined();
});

test('a route that does not give its operation what it takes does not compile', () => {
  const params = z.strictObject({ id: instanceIdSchema });
  const answers = { 200: { description: 'It' } };
  // @ts-expect-error: the body is missing.
  route({ ...spec, path: '/instances/:id/suspend', operation: 'suspend', params, answers });
  const [unparsed, body] = [z.strictObject({ id: z.string() }), verbBodySchema];
  // @ts-expect-error: the id is a text that nobody parsed.
  route({ ...spec, path: '/instances/:id/freeze', operation: 'freeze', params: unparsed, body, answers });
  // @ts-expect-error: the id is missing.
  route({ ...spec, path: '/suspend', operation: 'suspend', body: verbBodySchema, answers });
  const whole = route({
    ...spec,
    path: '/instances/:id/suspend',
    operation: 'suspend',
    params,
    body: verbBodySchema,
    answers,
  });
  expect([whole.name, whole.operation]).toEqual(['suspend', 'suspend']);
});
