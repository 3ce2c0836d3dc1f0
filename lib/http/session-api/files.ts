/** The workspace of a session as files of Ash: listed, read, written, deleted. Reads wake nothing. */
import { z } from 'zod';
import { isWinterdockError } from '../../base/errors.ts';
import type { FileInfo, Instance } from '../../contract/schema.ts';
import { parseVfsPath, type VfsPath } from '../../vfs/paths.ts';
import { json } from '../answer.ts';
import { getFile } from '../file-handlers.ts';
import type { Route, RouteContext } from '../route.ts';
import { isoOf } from './session.ts';
import {
  allOf,
  inUse,
  restParam,
  sessionIdSchema,
  sessionParams,
  sessionRoute,
  withWorkspace,
} from './session-route.ts';

/** So many files one request writes. */
export const MAX_FILES = 1_000;
const VOLUME = 'workspace';

const fileParams = z.strictObject({ id: sessionIdSchema, path: restParam });
const writeSchema = z.object({
  files: z
    .array(z.object({ path: z.string().min(1).max(1_024), content: z.base64(), mimeType: z.string().optional() }))
    .min(1)
    .max(MAX_FILES),
  targetPath: z.string().max(1_024).optional(),
});

const sourceOf = ({ state }: Instance) => (state === 'active' ? 'sandbox' : 'snapshot');
/** A path as it is shown: without its first slash. */
export const relative = (path: string) => path.replace(/^\//, '');
const isHidden = ({ path }: FileInfo) => path.split('/').some((segment) => segment.startsWith('.'));

/** The path of a file that was sent, below a folder; a leading slash and `.` change nothing. Throws `validation`. */
export function pathIn(folder: string | undefined, path: string): VfsPath {
  const plain = [folder ?? '', path].flatMap((text) => text.split('/')).filter((part) => part !== '' && part !== '.');
  return parseVfsPath(`/${plain.join('/')}`);
}

/** Files as a list shows them. */
export const filesFrom = (files: readonly FileInfo[]) =>
  files.map(({ path, size, mtime }) => ({ path: relative(path), size, modifiedAt: isoOf(mtime) }));

type Sent = z.output<typeof writeSchema>;

/**
 * Each file for itself, and the answer says which were written: one that is refused leaves the others. What refuses
 * the first of them for another reason than its own is thrown: nothing was written then.
 */
async function write({ services, caller, params, body }: RouteContext<{ id: Instance['id'] }, unknown, Sent>) {
  const written: { path: string; written: boolean; size?: number; error?: string }[] = [];
  for (const { path, content } of body.files) {
    try {
      const bytes = Buffer.from(content, 'base64');
      await services.operations.putFile(caller, params.id, VOLUME, pathIn(body.targetPath, path), bytes);
      written.push({ path, written: true, size: bytes.length });
    } catch (error) {
      const isItsOwn = isWinterdockError(error) && ['validation', 'conflict', 'too_large'].includes(error.code);
      // Once something was written the answer has to say what.
      if (!isWinterdockError(error) || !(isItsOwn || written.some((it) => it.written))) throw error;
      written.push({ path, written: false, error: error.message });
    }
  }
  return written;
}

export const FILE_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/files',
    operation: 'files',
    params: sessionParams,
    query: z.strictObject({ includeHidden: z.enum(['true', 'false']).optional() }),
    async handle(context) {
      const source = sourceOf(await withWorkspace(context));
      const { services, caller, params, query } = context;
      const all = await allOf((page) => services.operations.files(caller, params.id, VOLUME, page));
      const shown = query.includeHidden === 'false' ? all.filter((file) => !isHidden(file)) : all;
      return json(200, { files: filesFrom(shown), source });
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/files',
    operation: 'putFile',
    params: sessionParams,
    body: writeSchema,
    async handle(context) {
      await inUse(context, await withWorkspace(context));
      return json(200, { files: await write(context) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/files/*',
    operation: 'file',
    params: fileParams,
    query: z.strictObject({ format: z.enum(['json', 'raw']).optional() }),
    async handle(context) {
      const { services, caller, params, query } = context;
      const source = sourceOf(await withWorkspace(context));
      if (query.format !== 'json') {
        const answer = await getFile({ ...context, params: { ...params, volume: VOLUME }, query: {} });
        return { ...answer, headers: { ...answer.headers, 'x-ash-source': source } };
      }
      const { stat, content } = await services.operations.file(caller, params.id, VOLUME, params.path);
      const text = Buffer.from(content).toString('utf8');
      return json(200, { path: relative(params.path), content: text, size: stat.size, source });
    },
  }),
  sessionRoute({
    method: 'DELETE',
    path: '/sessions/:id/files/*',
    operation: 'deleteFile',
    params: fileParams,
    async handle(context) {
      const { services, caller, params } = context;
      await inUse(context, await withWorkspace(context));
      await services.operations.deleteFile(caller, params.id, VOLUME, params.path);
      return json(200, { path: relative(params.path), deleted: true });
    },
  }),
];
