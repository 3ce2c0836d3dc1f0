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
import type { UploadStream } from '../../operations/streams.ts';
import { json } from '../answer.ts';
import { listAnswer, route } from '../operation-route.ts';
import { customRoute, orUpload, type Route } from '../route.ts';
import { idParams } from './instances.ts';

const nameParams = z.strictObject({ name: slugSchema });
const made = {
  201: { description: 'The new instances, in the order of their names', schema: z.array(instanceSchema) },
};
const tree = { 200: { description: 'Ancestors and descendants', schema: lineageSchema } };

const snapshots: Route[] = [
  route({
    method: 'POST',
    path: '/instances/:id/snapshots',
    operation: 'takeSnapshot',
    summary: 'Keeps a copy of what an instance holds now, without its tmp. The instance goes on running, or sleeping.',
    tag: 'Snapshots',
    params: idParams,
    body: takeSnapshotSchema,
    answers: { 201: { description: 'The snapshot', schema: snapshotSchema, headers: { Location: 'Its address' } } },
    answer: (snapshot) => json(201, snapshot, { location: `/api/snapshots/${snapshot.id}` }),
  }),
  route({
    method: 'GET',
    path: '/snapshots',
    operation: 'listSnapshots',
    summary: 'Lists snapshots, newest first, a page at a time.',
    tag: 'Snapshots',
    query: snapshotsQuerySchema,
    answers: { 200: listAnswer('A page of snapshots', snapshotSchema) },
  }),
  route({
    method: 'GET',
    path: '/snapshots/:id',
    operation: 'getSnapshot',
    summary: 'Shows a snapshot.',
    tag: 'Snapshots',
    params: idParams,
    answers: { 200: { description: 'The snapshot', schema: snapshotSchema } },
  }),
  route({
    method: 'DELETE',
    path: '/snapshots/:id',
    operation: 'deleteSnapshot',
    summary: 'Deletes a snapshot. Instances that came from it keep what they have.',
    tag: 'Snapshots',
    params: idParams,
    answers: { 204: { description: 'Deleted' } },
  }),
  route({
    method: 'POST',
    path: '/snapshots/:id/restore',
    operation: 'restoreSnapshot',
    summary: 'Makes 1 to 1 000 new instances from a snapshot, all or none. `start` resumes them in the background.',
    tag: 'Snapshots',
    params: idParams,
    body: restoreSchema,
    answers: made,
  }),
];

const blueprints: Route[] = [
  customRoute({
    method: 'POST',
    path: '/blueprints',
    operation: 'createBlueprint',
    name: 'createBlueprint',
    summary:
      'Makes a blueprint from the workspace of an instance, or with `?name=` from a sandbox’s SQLite file in the body.',
    tag: 'Blueprints',
    query: createBlueprintQuerySchema,
    body: orUpload(createBlueprintSchema, (query) => query.name !== undefined),
    answers: { 201: { description: 'The blueprint', schema: blueprintSchema, headers: { Location: 'Its address' } } },
    async handle({ services: { operations }, caller, query, body }) {
      const blueprint =
        query.name === undefined
          ? await operations.createBlueprint(caller, body as CreateBlueprintInput)
          : await operations.uploadBlueprint(caller, { ...query, name: query.name }, body as UploadStream);
      return json(201, blueprint, { location: `/api/blueprints/${blueprint.name}` });
    },
  }),
  route({
    method: 'GET',
    path: '/blueprints',
    operation: 'listBlueprints',
    summary: 'Lists blueprints by name, a page at a time.',
    tag: 'Blueprints',
    query: blueprintsQuerySchema,
    answers: { 200: listAnswer('A page of blueprints', blueprintSchema) },
  }),
  route({
    method: 'GET',
    path: '/blueprints/:name',
    operation: 'getBlueprint',
    summary: 'Shows a blueprint.',
    tag: 'Blueprints',
    params: nameParams,
    answers: { 200: { description: 'The blueprint', schema: blueprintSchema } },
  }),
  route({
    method: 'DELETE',
    path: '/blueprints/:name',
    operation: 'deleteBlueprint',
    summary: 'Deletes a blueprint. Clones keep what they have.',
    tag: 'Blueprints',
    params: nameParams,
    answers: { 204: { description: 'Deleted' } },
  }),
  route({
    method: 'POST',
    path: '/blueprints/:name/clone',
    operation: 'cloneBlueprint',
    summary: 'Makes 1 to 1 000 new instances from a blueprint, all or none. `start` resumes them in the background.',
    tag: 'Blueprints',
    params: nameParams,
    body: cloneSchema,
    answers: made,
  }),
];

const lineages: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/lineage',
    operation: 'instanceLineage',
    name: 'getInstanceLineage',
    summary: 'Shows what an instance came from and what came from it, with what each takes on disk.',
    tag: 'Snapshots',
    params: idParams,
    answers: tree,
  }),
  route({
    method: 'GET',
    path: '/snapshots/:id/lineage',
    operation: 'snapshotLineage',
    name: 'getSnapshotLineage',
    summary: 'Shows what a snapshot came from and what came from it.',
    tag: 'Snapshots',
    params: idParams,
    answers: tree,
  }),
  route({
    method: 'GET',
    path: '/blueprints/:name/lineage',
    operation: 'blueprintLineage',
    name: 'getBlueprintLineage',
    summary: 'Shows what came from a blueprint.',
    tag: 'Blueprints',
    params: nameParams,
    answers: tree,
  }),
];

export const copyRoutes: Route[] = [...snapshots, ...blueprints, ...lineages];
