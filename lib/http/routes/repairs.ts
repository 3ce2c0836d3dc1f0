/** Routes of damaged files, the file as it lies, and of moments of the replica. */

import {
  fromMomentSchema,
  instanceSchema,
  rawQuerySchema,
  restoredMomentSchema,
  restoredSchema,
  restoreInstanceSchema,
  salvageAnswerSchema,
  salvageSchema,
  undoRestoreSchema,
} from '../../contract/schema.ts';
import { attachment, attachmentHeaders, empty, json } from '../answer.ts';
import { route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Repairs';
const BYTES = 'application/octet-stream';

/** RFC 9530. */
const contentDigest = (sha256: string) => `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;

export const repairRoutes: Route[] = [
  customRoute({
    method: 'GET',
    path: '/instances/:id/raw',
    operation: 'raw',
    name: 'rawInstance',
    summary:
      'Gives the file of an instance that is not awake byte for byte as it lies, all volumes, deleted bytes and damage included; an archived one compressed (zstd). With `part=log` what SQLite left beside it. Opens and wakes nothing.',
    tag,
    params: idParams,
    query: rawQuerySchema,
    answers: {
      200: {
        description: 'The bytes',
        mediaType: BYTES,
        headers: {
          'Content-Digest': 'The hash of the bytes, as in RFC 9530',
          'X-SHA256': 'The hash of the bytes, in hex',
          'X-Log-Bytes': 'Size of the log that lies beside the file, which is whole only with it; 0 without one',
        },
      },
    },
    async handle({ services, caller, params, query, head, signal }) {
      if (head) {
        await services.operations.getInstance(caller, params.id);
        return empty(200, attachmentHeaders(BYTES, `${params.id}.sqlite`));
      }
      const { facts, outgoing } = await services.operations.raw(caller, params.id, query, signal);
      return attachment(outgoing, {
        ...attachmentHeaders(BYTES, facts.name),
        'content-digest': contentDigest(facts.sha256),
        'x-sha256': facts.sha256,
        'x-log-bytes': String(facts.logBytes),
      });
    },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/salvage',
    operation: 'salvage',
    name: 'salvageInstance',
    summary:
      'Makes a new instance from every readable file of one that is not awake, and lists what is not readable. The damaged file is left as it is; tmp is left out.',
    tag,
    params: idParams,
    body: salvageSchema,
    answers: {
      201: {
        description: 'The new instance, and what is lost',
        schema: salvageAnswerSchema,
        headers: { Location: 'The address of the new instance' },
      },
    },
    cancellable: true,
    answer: (salvaged) => json(201, salvaged, { location: `/api/instances/${salvaged.instance.id}` }),
  }),
  route({
    method: 'POST',
    path: '/instances/:id/restore',
    operation: 'restoreInstance',
    summary:
      'Replaces the file of an instance that is not awake by a snapshot of the same tenant, by the newest moment up to `time`, or by the named `moment`. The old file is set aside, a fault is cleared, the state stays. With a moment, what it had is kept as a named moment, which `undo` names.',
    tag,
    params: idParams,
    body: restoreInstanceSchema,
    answers: {
      200: {
        description:
          'The instance; with a moment in `instance`, beside the time of the one that was used and what undoes it',
        schema: restoredSchema,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/undo',
    operation: 'undoRestore',
    summary:
      'Undoes the last restore of an instance to a moment: brings back what it replaced. Once more, the one before. What it has now is kept as a named moment, which `undo` names.',
    tag,
    params: idParams,
    body: undoRestoreSchema,
    answers: { 200: { description: 'As of a restore to a moment', schema: restoredMomentSchema } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/from-moment',
    operation: 'instanceFromMoment',
    summary:
      'Makes a new instance of what one had at the newest moment up to `time`, or at the named `moment`. The one that it is made of stays as it is, or is deleted.',
    tag,
    params: idParams,
    body: fromMomentSchema,
    answers: {
      201: {
        description: 'The new instance',
        schema: instanceSchema,
        headers: { Location: 'The address of the new instance' },
      },
    },
    answer: (made) => json(201, made, { location: `/api/instances/${made.id}` }),
  }),
];
