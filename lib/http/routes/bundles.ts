/** Routes of bundles: ship, shares, inspect, import, checkout. */
import {
  checkoutQuerySchema,
  importedSchema,
  importQuerySchema,
  inspectionSchema,
  instanceSharesQuerySchema,
  shareSchema,
  sharesQuerySchema,
  shipSchema,
} from '../../contract/schema.ts';
import { attachment, attachmentHeaders, checkoutAnswer, empty, json } from '../answer.ts';
import { listAnswer, route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Bundles';
const ZIP = 'application/zip';
const HTML = 'text/html; charset=utf-8';
const TAR_GZ = 'application/gzip';
const page = { 200: listAnswer('A page of shares', shareSchema) };

export const bundleRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/instances/:id/ship',
    operation: 'ship',
    name: 'shipInstance',
    summary:
      'Makes a signed bundle of an instance: its workspace, or with `include_private` all volumes; with `at` as of a moment, which the manifest names. Wakes nothing.',
    tag,
    params: idParams,
    body: shipSchema,
    answers: {
      200: {
        description: 'A `wbundle/1`',
        mediaType: ZIP,
        orMediaType: HTML,
        headers: { 'X-Share': 'The id of the share', 'X-SHA256': 'The hash of the bundle' },
      },
    },
    cancellable: true,
    answer: ({ share, outgoing, format }) =>
      attachment(outgoing, {
        ...attachmentHeaders(format === 'html' ? HTML : ZIP, `${share.instance}.wbundle.${format}`),
        'x-share': share.id,
        'x-sha256': share.sha256,
      }),
  }),
  customRoute({
    method: 'GET',
    path: '/instances/:id/checkout',
    operation: 'checkout',
    name: 'checkoutInstance',
    summary:
      'Gives the workspace as a directory tree with a `.gitignore` for the private volumes, without the settings and hooks of repositories. Wakes nothing.',
    tag,
    params: idParams,
    query: checkoutQuerySchema,
    answers: {
      200: {
        description: 'The tree',
        mediaType: TAR_GZ,
        headers: {
          'X-Left-Out':
            'Set when the workspace has what git takes commands from, which is not in the tree: how many, then the first of them, percent-encoded. The list is the last file of the tree',
        },
      },
    },
    async handle({ services, caller, params, head, signal }) {
      const headers = attachmentHeaders(TAR_GZ, `${params.id}.tar.gz`);
      if (!head) return checkoutAnswer(await services.operations.checkout(caller, params.id, signal), headers);
      await services.operations.getInstance(caller, params.id);
      return empty(200, headers);
    },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/shares',
    operation: 'instanceShares',
    name: 'listInstanceShares',
    summary: 'Lists the bundles that were made of an instance, newest first.',
    tag,
    params: idParams,
    query: instanceSharesQuerySchema,
    answers: page,
  }),
  route({
    method: 'GET',
    path: '/shares',
    operation: 'shares',
    name: 'listShares',
    summary: 'Lists the bundles that were made, newest first, a page at a time.',
    tag,
    query: sharesQuerySchema,
    answers: page,
  }),
  route({
    method: 'POST',
    path: '/bundles/inspect',
    operation: 'inspectBundle',
    summary:
      'Inspects a bundle: its signer, its faults, and the share of this server that it is. Stores nothing of it.',
    tag,
    body: 'stream',
    answers: { 200: { description: 'What was found', schema: inspectionSchema } },
    cancellable: true,
  }),
  route({
    method: 'POST',
    path: '/instances/import',
    operation: 'importBundle',
    summary:
      'Makes a new instance from a bundle, or from a bare VFS file, and says whether it is signed. A share of this server that lost its signature is refused.',
    tag,
    query: importQuerySchema,
    body: 'stream',
    answers: { 201: { description: 'The new instance', schema: importedSchema, headers: { Location: 'Its address' } } },
    cancellable: true,
    answer: (instance, { path }) =>
      json(201, instance, { location: `${path.slice(0, -'/import'.length)}/${instance.id}` }),
  }),
];
