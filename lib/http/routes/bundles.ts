/** Routes of bundles: ship, shares, inspect, import, checkout. */
import { z } from 'zod';
import {
  checkoutQuerySchema,
  importQuerySchema,
  inspectionSchema,
  instanceSchema,
  instanceSharesQuerySchema,
  shareSchema,
  sharesQuerySchema,
  shipSchema,
} from '../../contract/schema.ts';
import { attachment, attachmentHeaders, empty, json } from '../answer.ts';
import { nextLink } from '../paging.ts';
import { type Route, route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Bundles';
const ZIP = 'application/zip';
const TAR_GZ = 'application/gzip';
const page = {
  200: {
    description: 'A page of shares',
    schema: z.array(shareSchema),
    headers: { Link: 'The next page, `rel="next"`, when there is one' },
  },
};

export const bundleRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/instances/:id/ship',
    name: 'shipInstance',
    needs: 'ship',
    summary:
      'Makes a signed bundle of an instance: its workspace, or with `include_private` all volumes. Wakes nothing.',
    tag,
    params: idParams,
    body: shipSchema,
    answers: {
      200: {
        description: 'A `wbundle/1`',
        mediaType: ZIP,
        headers: { 'X-Share': 'The id of the share', 'X-SHA256': 'The hash of the bundle' },
      },
    },
    async handle({ services, caller, params, body, signal }) {
      const { share, outgoing } = await services.operations.ship(caller, params.id, body, signal);
      const headers = attachmentHeaders(ZIP, `${share.instance}.wbundle.zip`);
      return attachment(outgoing, { ...headers, 'x-share': share.id, 'x-sha256': share.sha256 });
    },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/checkout',
    name: 'checkoutInstance',
    needs: 'checkout',
    summary: 'Gives the workspace as a directory tree with a `.gitignore` for the private volumes. Wakes nothing.',
    tag,
    params: idParams,
    query: checkoutQuerySchema,
    answers: { 200: { description: 'The tree', mediaType: TAR_GZ } },
    async handle({ services, caller, params, head, signal }) {
      const headers = attachmentHeaders(TAR_GZ, `${params.id}.tar.gz`);
      if (!head) return attachment(await services.operations.checkout(caller, params.id, signal), headers);
      await services.operations.getInstance(caller, params.id);
      return empty(200, headers);
    },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/shares',
    name: 'listInstanceShares',
    needs: 'instanceShares',
    summary: 'Lists what left of an instance in bundles, newest first.',
    tag,
    params: idParams,
    query: instanceSharesQuerySchema,
    answers: page,
    async handle({ services, caller, params, query, path, search }) {
      const { items, next } = await services.operations.instanceShares(caller, params.id, query);
      return json(200, items, nextLink(path, search, next));
    },
  }),
  route({
    method: 'GET',
    path: '/shares',
    name: 'listShares',
    needs: 'shares',
    summary: 'Lists what left in bundles, newest first, a page at a time.',
    tag,
    query: sharesQuerySchema,
    answers: page,
    async handle({ services, caller, query, path, search }) {
      const { items, next } = await services.operations.shares(caller, query);
      return json(200, items, nextLink(path, search, next));
    },
  }),
  route({
    method: 'POST',
    path: '/bundles/inspect',
    name: 'inspectBundle',
    summary: 'Says who signed a bundle, what is wrong with it, and which of our shares it is. Keeps nothing of it.',
    tag,
    body: 'stream',
    answers: { 200: { description: 'What was found', schema: inspectionSchema } },
    handle: async ({ services, caller, body, signal }) =>
      json(200, await services.operations.inspectBundle(caller, body, signal)),
  }),
  route({
    method: 'POST',
    path: '/instances/import',
    name: 'importBundle',
    summary: 'Makes a new instance of a bundle, or of a bare VFS file.',
    tag,
    query: importQuerySchema,
    body: 'stream',
    answers: { 201: { description: 'The new instance', schema: instanceSchema, headers: { Location: 'Its address' } } },
    async handle({ services, caller, query, body, path, signal }) {
      const instance = await services.operations.importBundle(caller, query, body, signal);
      return json(201, instance, { location: `${path.slice(0, -'/import'.length)}/${instance.id}` });
    },
  }),
];
