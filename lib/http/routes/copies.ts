/** Routes of copies: snapshots, blueprints, and what came from what. */
import { z } from 'zod';
import {
  blueprintSchema,
  blueprintsQuerySchema,
  type CreateBlueprintInput,
  cloneSchema,
  createBlueprintQuerySchema,
  createBlueprintSchema,
  instanceSchema,
  lineageSchema,
  restoreSchema,
  slugSchema,
  snapshotSchema,
  snapshotsQuerySchema,
  takeSnapshotSchema,
} from '../../contract/schema.ts';
import type { Upload } from '../../operations/streams.ts';
import { empty, json } from '../answer.ts';
import { nextLink } from '../paging.ts';
import { orUpload, type Route, route } from '../route.ts';
import { idParams } from './instances.ts';

const nameParams = z.strictObject({ name: slugSchema });
const made = {
  201: { description: 'The new instances, in the order of their names', schema: z.array(instanceSchema) },
};
const paged = { Link: 'The next page, `rel="next"`, when there is one' };
const tree = { 200: { description: 'Ancestors and descendants', schema: lineageSchema } };

const snapshots: Route[] = [
  route({
    method: 'POST',
    path: '/instances/:id/snapshots',
    name: 'takeSnapshot',
    summary: 'Keeps what an instance holds now, its tmp aside. It keeps running, or sleeping.',
    tag: 'Snapshots',
    params: idParams,
    body: takeSnapshotSchema,
    answers: { 201: { description: 'The snapshot', schema: snapshotSchema, headers: { Location: 'Its address' } } },
    async handle({ services, caller, params, body }) {
      const snapshot = await services.operations.takeSnapshot(caller, params.id, body);
      return json(201, snapshot, { location: `/api/snapshots/${snapshot.id}` });
    },
  }),
  route({
    method: 'GET',
    path: '/snapshots',
    name: 'listSnapshots',
    summary: 'Lists snapshots, newest first, a page at a time.',
    tag: 'Snapshots',
    query: snapshotsQuerySchema,
    answers: { 200: { description: 'A page of snapshots', schema: z.array(snapshotSchema), headers: paged } },
    async handle({ services, caller, query, path, search }) {
      const { items, next } = await services.operations.listSnapshots(caller, query);
      return json(200, items, nextLink(path, search, next));
    },
  }),
  route({
    method: 'GET',
    path: '/snapshots/:id',
    name: 'getSnapshot',
    summary: 'Shows a snapshot.',
    tag: 'Snapshots',
    params: idParams,
    answers: { 200: { description: 'The snapshot', schema: snapshotSchema } },
    handle: async ({ services, caller, params }) => json(200, await services.operations.getSnapshot(caller, params.id)),
  }),
  route({
    method: 'DELETE',
    path: '/snapshots/:id',
    name: 'deleteSnapshot',
    summary: 'Deletes a snapshot. Instances that came from it keep what they have.',
    tag: 'Snapshots',
    params: idParams,
    answers: { 204: { description: 'Deleted' } },
    async handle({ services, caller, params }) {
      await services.operations.deleteSnapshot(caller, params.id);
      return empty(204);
    },
  }),
  route({
    method: 'POST',
    path: '/snapshots/:id/restore',
    name: 'restoreSnapshot',
    summary: 'Makes 1 to 1 000 new instances from a snapshot, all or none. `start` resumes them in the background.',
    tag: 'Snapshots',
    params: idParams,
    body: restoreSchema,
    answers: made,
    handle: async ({ services, caller, params, body }) =>
      json(201, await services.operations.restoreSnapshot(caller, params.id, body)),
  }),
];

const blueprints: Route[] = [
  route({
    method: 'POST',
    path: '/blueprints',
    name: 'createBlueprint',
    summary:
      'Makes a blueprint of the work of an instance; with `?name=` of the SQLite file of a sandbox that is the body.',
    tag: 'Blueprints',
    query: createBlueprintQuerySchema,
    body: orUpload(createBlueprintSchema, (query) => query.name !== undefined),
    answers: { 201: { description: 'The blueprint', schema: blueprintSchema, headers: { Location: 'Its address' } } },
    async handle({ services: { operations }, caller, query, body }) {
      const blueprint =
        query.name === undefined
          ? await operations.createBlueprint(caller, body as CreateBlueprintInput)
          : await operations.uploadBlueprint(caller, query.name, body as Upload);
      return json(201, blueprint, { location: `/api/blueprints/${blueprint.name}` });
    },
  }),
  route({
    method: 'GET',
    path: '/blueprints',
    name: 'listBlueprints',
    summary: 'Lists blueprints by name, a page at a time.',
    tag: 'Blueprints',
    query: blueprintsQuerySchema,
    answers: { 200: { description: 'A page of blueprints', schema: z.array(blueprintSchema), headers: paged } },
    async handle({ services, caller, query, path, search }) {
      const { items, next } = await services.operations.listBlueprints(caller, query);
      return json(200, items, nextLink(path, search, next));
    },
  }),
  route({
    method: 'GET',
    path: '/blueprints/:name',
    name: 'getBlueprint',
    summary: 'Shows a blueprint.',
    tag: 'Blueprints',
    params: nameParams,
    answers: { 200: { description: 'The blueprint', schema: blueprintSchema } },
    handle: async ({ services, caller, params }) =>
      json(200, await services.operations.getBlueprint(caller, params.name)),
  }),
  route({
    method: 'DELETE',
    path: '/blueprints/:name',
    name: 'deleteBlueprint',
    summary: 'Deletes a blueprint. Clones keep what they have.',
    tag: 'Blueprints',
    params: nameParams,
    answers: { 204: { description: 'Deleted' } },
    async handle({ services, caller, params }) {
      await services.operations.deleteBlueprint(caller, params.name);
      return empty(204);
    },
  }),
  route({
    method: 'POST',
    path: '/blueprints/:name/clone',
    name: 'cloneBlueprint',
    summary: 'Makes 1 to 1 000 new instances from a blueprint, all or none. `start` resumes them in the background.',
    tag: 'Blueprints',
    params: nameParams,
    body: cloneSchema,
    answers: made,
    handle: async ({ services, caller, params, body }) =>
      json(201, await services.operations.cloneBlueprint(caller, params.name, body)),
  }),
];

const lineages: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/lineage',
    name: 'getInstanceLineage',
    needs: 'instanceLineage',
    summary: 'Shows what an instance came from and what came from it, with what each takes on disk.',
    tag: 'Snapshots',
    params: idParams,
    answers: tree,
    handle: async ({ services, caller, params }) =>
      json(200, await services.operations.instanceLineage(caller, params.id)),
  }),
  route({
    method: 'GET',
    path: '/snapshots/:id/lineage',
    name: 'getSnapshotLineage',
    needs: 'snapshotLineage',
    summary: 'Shows what a snapshot came from and what came from it.',
    tag: 'Snapshots',
    params: idParams,
    answers: tree,
    handle: async ({ services, caller, params }) =>
      json(200, await services.operations.snapshotLineage(caller, params.id)),
  }),
  route({
    method: 'GET',
    path: '/blueprints/:name/lineage',
    name: 'getBlueprintLineage',
    needs: 'blueprintLineage',
    summary: 'Shows what came from a blueprint.',
    tag: 'Blueprints',
    params: nameParams,
    answers: tree,
    handle: async ({ services, caller, params }) =>
      json(200, await services.operations.blueprintLineage(caller, params.name)),
  }),
];

export const copyRoutes: Route[] = [...snapshots, ...blueprints, ...lineages];
