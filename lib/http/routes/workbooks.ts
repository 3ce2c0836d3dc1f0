/** Routes of workbooks: sources as org text, plans, versions, upgrades. */
import { z } from 'zod';
import {
  planAnswerSchema,
  slugSchema,
  upgradeAnswerSchema,
  upgradeQuerySchema,
  workbookQuerySchema,
  workbookSchema,
  workbooksQuerySchema,
  workbookVersionQuerySchema,
  workbookVersionSchema,
  workbookVersionsQuerySchema,
} from '../../contract/schema.ts';
import { etagOf, versionsOf } from '../../operations/conditions.ts';
import { attachmentHeaders, empty, json } from '../answer.ts';
import { listAnswer, route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';

const tag = 'Workbooks';
const ORG = 'text/org';
const params = z.strictObject({ id: slugSchema });
const plan = { 200: { description: 'The plan, or all problems', schema: planAnswerSchema } };

export const workbookRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/workbooks',
    operation: 'listWorkbooks',
    summary: 'Lists workbooks by tenant and id, a page at a time.',
    tag,
    query: workbooksQuerySchema,
    answers: { 200: listAnswer('A page of workbooks', workbookSchema) },
  }),
  customRoute({
    method: 'POST',
    path: '/workbooks/plan',
    operation: 'planSource',
    name: 'planSource',
    summary: 'Answers the plan of the org text that is the body, or all its problems. Stores nothing.',
    tag,
    body: 'stream',
    answers: plan,
    async handle({ services: { operations }, caller, body }) {
      return json(200, await operations.planSource(caller, body));
    },
  }),
  customRoute({
    method: 'GET',
    path: '/workbooks/:id',
    operation: 'getWorkbook',
    name: 'getWorkbook',
    summary: 'Reads the source of a workbook, byte for byte; `version` asks for an older one.',
    tag,
    params,
    query: workbookVersionQuerySchema,
    headers: { 'If-None-Match': 'Only when its ETag is none of these' },
    answers: { 200: { description: 'Org text', mediaType: ORG, headers: { ETag: 'Its version' } } },
    async handle({ services: { operations }, caller, params, query, header }) {
      const { version, source } = await operations.getWorkbook(caller, params.id, query);
      const headers = { etag: etagOf(version.version), 'cache-control': 'private, no-cache' };
      const known = header('if-none-match');
      const versions = known === null ? [] : versionsOf(known, true);
      if (versions === '*' || versions.includes(version.version)) return empty(304, headers);
      return {
        status: 200,
        headers: { ...attachmentHeaders(`${ORG}; charset=utf-8`, `${params.id}.org`), ...headers },
        body: { bytes: Buffer.from(source) },
      };
    },
  }),
  customRoute({
    method: 'PUT',
    path: '/workbooks/:id',
    operation: 'putWorkbook',
    name: 'putWorkbook',
    summary:
      'Stores the org text that is the body as the newest version. The same bytes again are no new version. A source with problems is stored too, and nothing can dock to it.',
    tag,
    params,
    query: workbookQuerySchema,
    headers: {
      'If-Match': 'Only when the newest version is one of these; `*`: only when it is there',
      'If-None-Match': 'Only when the newest version is none of these; `*`: only when it is new',
    },
    body: 'stream',
    answers: {
      200: { description: 'The workbook', schema: workbookSchema, headers: { ETag: 'Its version' } },
      201: { description: 'It is new', schema: workbookSchema, headers: { ETag: 'Its version' } },
    },
    async handle({ services: { operations }, caller, params, query, body, header }) {
      const headers = { ifMatch: header('if-match'), ifNoneMatch: header('if-none-match') };
      const { workbook, created } = await operations.putWorkbook(caller, params.id, query, body, headers);
      return json(created ? 201 : 200, workbook, { etag: etagOf(workbook.version) });
    },
  }),
  route({
    method: 'DELETE',
    path: '/workbooks/:id',
    operation: 'deleteWorkbook',
    summary: 'Deletes a workbook with all its versions, when no sandbox is docked to it.',
    tag,
    params,
    query: workbookQuerySchema,
    answers: { 204: { description: 'Deleted' } },
  }),
  route({
    method: 'GET',
    path: '/workbooks/:id/plan',
    operation: 'workbookPlan',
    name: 'getWorkbookPlan',
    summary: 'Answers the plan of a version: worlds, components and what feeds what; or all problems of its source.',
    tag,
    params,
    query: workbookVersionQuerySchema,
    answers: plan,
  }),
  route({
    method: 'GET',
    path: '/workbooks/:id/versions',
    operation: 'workbookVersions',
    name: 'listWorkbookVersions',
    summary: 'Lists the versions of a workbook, newest first, a page at a time.',
    tag,
    params,
    query: workbookVersionsQuerySchema,
    answers: { 200: listAnswer('A page of versions', workbookVersionSchema) },
  }),
  route({
    method: 'GET',
    path: '/workbooks/:id/upgrade',
    operation: 'workbookUpgrade',
    name: 'checkWorkbookUpgrade',
    summary: 'Shows what changes from one version to another, and which changes break a docked sandbox.',
    tag,
    params,
    query: upgradeQuerySchema,
    answers: { 200: { description: 'The changes', schema: upgradeAnswerSchema } },
  }),
];
