/** Routes of what is inside a sandbox: its volumes, their files, search, and read-only SQL. */
import { z } from 'zod';
import {
  compareQuerySchema,
  comparisonSchema,
  databaseQuerySchema,
  databaseRowsQuerySchema,
  databaseRowsSchema,
  databaseSchema,
  deleteFolderQuerySchema,
  fileInfoSchema,
  filesQuerySchema,
  folderItemSchema,
  folderQuerySchema,
  instanceIdSchema,
  makeFolderSchema,
  momentNameSchema,
  momentSchema,
  momentsQuerySchema,
  moveSchema,
  nameMomentSchema,
  newMomentNameSchema,
  pastQuerySchema,
  searchHitSchema,
  searchQuerySchema,
  sqlAnswerSchema,
  sqlSchema,
  takeBackSchema,
  takenBackSchema,
  volumeInfoSchema,
} from '../../contract/schema.ts';
import type { VfsPath } from '../../vfs/paths.ts';
import { parseVolume } from '../../vfs/volumes.ts';
import { json } from '../answer.ts';
import { deleteFile, getFile, putFile } from '../file-handlers.ts';
import { listAnswer, route } from '../operation-route.ts';
import { nextLink } from '../paging.ts';
import { type AnswerDoc, customRoute, type Route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Volumes';
// Another name than those of the three volumes is `unknown_volume`, which says more than a wrong value.
const volume = z.string().transform(parseVolume);
const volumeParams = z.strictObject({ id: instanceIdSchema, volume });
/** Already parsed from the raw segments: see `filePathOf`. */
const parsedPath = z.string() as z.ZodType as z.ZodType<VfsPath, string>;
const fileParams = z.strictObject({ id: instanceIdSchema, volume, path: parsedPath });
const file = '/instances/:id/volumes/:volume/*';
const IF_MATCH = { 'If-Match': 'Only when its ETag is one of these; `*`: only when it is there' };
const IF_NONE_MATCH = { 'If-None-Match': 'Only when its ETag is none of these; `*`: only when there is nothing' };
/** Of every read that may be of the past. */
const MOMENT = { 'X-Moment': 'With `at`: of the moment that was read, in seconds since the epoch with fractions' };
const fileHeaders = { ETag: 'New with every write', 'Last-Modified': 'When it was written' };
const readHeaders = { ...fileHeaders, ...MOMENT };

/** The page of a list that may be of the past. */
const pastList = (description: string, items: z.ZodType): AnswerDoc => {
  const answer = listAnswer(description, items);
  return { ...answer, headers: { ...answer.headers, ...MOMENT } };
};

export const volumeRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/moments',
    operation: 'moments',
    name: 'listMoments',
    summary:
      'Lists the moments of an instance that the replica can open, those next to a time, the newest first; of a deleted one too. Every read of volumes takes one as `at`.',
    tag,
    params: idParams,
    query: momentsQuerySchema,
    answers: { 200: { description: 'The moments', schema: z.array(momentSchema) } },
  }),
  route({
    method: 'PUT',
    path: '/instances/:id/moments/:name',
    operation: 'nameMoment',
    summary:
      'Names the newest moment of an instance up to `time`, or what it has now, once that is shipped. It is kept, as a copy of its own, until the name is removed or the instance is deleted. The same once more changes nothing.',
    tag,
    params: z.strictObject({ id: instanceIdSchema, name: newMomentNameSchema }),
    body: nameMomentSchema,
    answers: { 200: { description: 'The moment that has the name', schema: momentSchema } },
  }),
  route({
    method: 'DELETE',
    path: '/instances/:id/moments/:name',
    operation: 'removeMoment',
    summary: 'Removes the name of a moment and the copy that was kept for it.',
    tag,
    params: z.strictObject({ id: instanceIdSchema, name: momentNameSchema }),
    answers: { 204: { description: 'Removed' } },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/volumes',
    operation: 'volumes',
    name: 'listVolumes',
    summary: 'Lists the three volumes with what they hold and promise.',
    tag,
    params: idParams,
    query: pastQuerySchema,
    answers: { 200: { description: 'Always the three', schema: z.array(volumeInfoSchema), headers: MOMENT } },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/volumes/:volume',
    operation: 'files',
    name: 'listFiles',
    summary: 'Lists the files of a volume by path. Wakes nothing.',
    tag,
    params: volumeParams,
    query: filesQuerySchema,
    answers: { 200: pastList('A page of files', fileInfoSchema) },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/folders/:volume',
    operation: 'folder',
    name: 'listFolder',
    summary: 'Lists what lies directly in a folder, folders first. Wakes nothing.',
    tag,
    params: volumeParams,
    query: folderQuerySchema,
    answers: {
      200: {
        description: 'A page of the folder',
        schema: z.array(folderItemSchema),
        headers: {
          Link: 'The next page, `rel="next"`, when there is one',
          'X-Total-Count': 'How many there are on all pages',
          ...MOMENT,
        },
      },
    },
    answer: ({ items, next, total }, { path, search }) =>
      json(200, items, { ...nextLink(path, search, next), 'x-total-count': String(total) }),
  }),
  route({
    method: 'GET',
    path: '/instances/:id/compare/:volume',
    operation: 'compare',
    summary:
      'Compares a volume with a snapshot, or with what it was at a moment: what was added, removed and changed since. Wakes nothing.',
    tag,
    params: volumeParams,
    query: compareQuerySchema,
    answers: { 200: { description: 'The differences', schema: comparisonSchema, headers: MOMENT } },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/tables/:volume',
    operation: 'tables',
    name: 'listTables',
    summary: 'Lists the tables and views of a file that is a SQLite database of up to 64 MiB. Wakes nothing.',
    tag,
    params: volumeParams,
    query: databaseQuerySchema,
    answers: { 200: { description: 'A page of its tables', schema: databaseSchema, headers: MOMENT } },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/rows/:volume',
    operation: 'tableRows',
    name: 'listRows',
    summary: 'Reads rows of a table or view of a file that is a SQLite database. Wakes nothing.',
    tag,
    params: volumeParams,
    query: databaseRowsQuerySchema,
    answers: { 200: { description: 'A page of its rows', schema: databaseRowsSchema, headers: MOMENT } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/folders/:volume',
    operation: 'makeFolder',
    summary: 'Makes a folder and its missing parents. Wakes a sleeping sandbox.',
    tag,
    params: volumeParams,
    body: makeFolderSchema,
    answers: { 204: { description: 'Made' } },
  }),
  route({
    method: 'DELETE',
    path: '/instances/:id/folders/:volume',
    operation: 'deleteFolder',
    summary: 'Deletes an empty folder, or with `recursive` one with all that is in it. Wakes a sleeping sandbox.',
    tag,
    params: volumeParams,
    query: deleteFolderQuerySchema,
    answers: { 204: { description: 'Deleted' } },
  }),
  customRoute({
    method: 'GET',
    path: file,
    operation: 'file',
    name: 'getFile',
    summary: 'Gives the bytes of a file, or a range of them. Wakes nothing.',
    tag,
    params: fileParams,
    query: pastQuerySchema,
    headers: {
      ...IF_MATCH,
      ...IF_NONE_MATCH,
      'If-Modified-Since': 'Only when it was written later',
      'If-Unmodified-Since': 'Only when it was not written later',
      Range: 'A part of it: `bytes=0-99`',
      'If-Range': 'The part only when its ETag is this, else the whole',
    },
    answers: {
      200: { description: 'The file', mediaType: 'application/octet-stream', headers: readHeaders },
      206: { description: 'The range', mediaType: 'application/octet-stream', headers: readHeaders },
      304: { description: 'Not modified' },
    },
    handle: getFile,
  }),
  customRoute({
    method: 'PUT',
    path: file,
    operation: 'putFile',
    name: 'putFile',
    summary: 'Writes a file. Wakes a sleeping sandbox. Durable when answered.',
    tag,
    params: fileParams,
    headers: { ...IF_MATCH, ...IF_NONE_MATCH },
    body: 'bytes',
    answers: {
      201: { description: 'It is new', headers: { ETag: 'Its version' } },
      204: { description: 'It replaced one', headers: { ETag: 'Its version' } },
    },
    handle: putFile,
  }),
  customRoute({
    method: 'DELETE',
    path: file,
    operation: 'deleteFile',
    name: 'deleteFile',
    summary: 'Deletes a file. Wakes a sleeping sandbox.',
    tag,
    params: fileParams,
    headers: { ...IF_MATCH, ...IF_NONE_MATCH },
    answers: { 204: { description: 'Deleted' } },
    handle: deleteFile,
  }),
  route({
    method: 'POST',
    path: '/instances/:id/volumes/:volume/move',
    operation: 'moveFile',
    summary: 'Moves a file or a folder within its volume. Wakes a sleeping sandbox.',
    tag,
    params: volumeParams,
    body: moveSchema,
    answers: { 204: { description: 'Moved' } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/volumes/:volume/take-back',
    operation: 'takeBack',
    summary:
      'Puts a file or a folder that was there at a moment in the place of what is there now, with all below it and nothing else, in one transaction of up to 64 MiB. Wakes a sleeping sandbox.',
    tag,
    params: volumeParams,
    body: takeBackSchema,
    answers: { 200: { description: 'Of which moment it is, and how much', schema: takenBackSchema } },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/search',
    operation: 'search',
    name: 'searchFiles',
    summary: 'Searches names or contents. Wakes nothing.',
    tag,
    params: idParams,
    query: searchQuerySchema,
    answers: {
      200: {
        description: 'What was found',
        schema: z.array(searchHitSchema),
        headers: { 'X-Truncated': '`true` when there is more', ...MOMENT },
      },
    },
    answer: ({ hits, truncated }) => json(200, hits, { 'x-truncated': String(truncated) }),
  }),
  route({
    method: 'POST',
    path: '/instances/:id/query',
    operation: 'query',
    name: 'queryFiles',
    summary: 'Runs read-only SQL over the file table. Wakes nothing; nothing else can be reached.',
    tag,
    params: idParams,
    query: pastQuerySchema,
    body: sqlSchema,
    answers: { 200: { description: 'Rows', schema: sqlAnswerSchema, headers: MOMENT } },
  }),
];
