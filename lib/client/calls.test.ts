import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { callLinesOf, printedFiles } from '../../scripts/client/print-calls.ts';
import { ensurePeers } from '../../scripts/peers.ts';
import { instanceSchema, patchSchema, verbBodySchema } from '../contract/schema.ts';
import { customRoute } from '../http/route.ts';
import { ROUTES } from '../http/routes.ts';
import { CALLS } from './calls.ts';
import { createClient } from './client.ts';

// The formatter of what is printed is there; the first time it is installed.
beforeAll(() => ensurePeers());

test('every route of the table is a method of the client, sent and read as the route says', () => {
  expect(CALLS, 'run `npm run client:calls`').toEqual(callLinesOf(ROUTES));
  const client = createClient({ url: 'http://localhost:3000' }) as unknown as Record<string, unknown>;
  expect(ROUTES.map(({ name }) => name).filter((name) => typeof client[name] !== 'function')).toEqual([]);
});

const callsText = async (...given: Parameters<typeof printedFiles>) => (await printedFiles(...given)).calls.text;

test('the calls and their types are those of the routes, to the letter', async () => {
  for (const { path, text } of Object.values(await printedFiles())) {
    expect(readFileSync(path, 'utf8'), 'run `npm run client:calls`').toBe(text);
  }
});

const declared = (name: string, body: typeof patchSchema | typeof verbBodySchema | null) =>
  customRoute({
    method: 'POST',
    path: '/instances/:id/turn',
    name,
    operation: null,
    summary: 'Turns it.',
    tag: 'Instances',
    body,
    answers: { 200: { description: 'It', schema: instanceSchema } },
    handle: () => ({ status: 200 }),
  });

test('a new or changed route changes the table, so that it cannot be forgotten', async () => {
  const before = await callsText(ROUTES);
  expect(await callsText([...ROUTES, declared('turnInstance', null)])).not.toBe(before);
  const one = await callsText([declared('turnInstance', patchSchema)]);
  const other = await callsText([declared('turnInstance', verbBodySchema)]);
  expect(one).toContain('input?: PatchInput');
  expect(other).toContain('input?: VerbBodyInput');
});

test('a route whose schema is not exported is refused with its name', async () => {
  const hidden = instanceSchema.pick({ id: true });
  const made = customRoute({ ...declared('turnInstance', null), params: null, query: null, body: hidden });
  await expect(callsText([made])).rejects.toThrow(/turnInstance/);
});
