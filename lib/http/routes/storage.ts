/** Routes about how the store does. */

import { storageCheckSchema, storageSchema } from '../../contract/schema.ts';
import { route } from '../operation-route.ts';
import type { Route } from '../route.ts';

const tag = 'System';

export const storageRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/settings/storage',
    operation: 'storage',
    summary:
      'Shows the health of the store: the registry, the ledger, the drawers, the disk, the places for processes. Takes the same time however much there is.',
    tag,
    answers: { 200: { description: 'How it does', schema: storageSchema } },
  }),
  route({
    method: 'POST',
    path: '/settings/storage/check',
    operation: 'checkStorage',
    summary:
      'Checks the registry’s structure, or measures what lies in the drawers. Answers after ten seconds at the latest; what is still `running` then goes on.',
    tag,
    body: storageCheckSchema,
    answers: { 200: { description: 'How it does, with what was found by then', schema: storageSchema } },
  }),
];
