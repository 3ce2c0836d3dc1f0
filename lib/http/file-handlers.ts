/** Handlers of a single file: conditional reads, ranges, writes. A file is never served as a page of this origin. */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { PastQuery } from '../contract/schema.ts';
import { type ByteRange, rangeOf, readVerdict } from '../operations/conditions.ts';
import type { FileContent } from '../operations/file-reads.ts';
import type { VfsPath } from '../vfs/paths.ts';
import type { Volume } from '../vfs/volumes.ts';
import { type Answer, type AnswerHeaders, empty } from './answer.ts';
import type { RouteContext } from './route.ts';

interface FileParams {
  id: InstanceId;
  volume: Volume;
  path: VfsPath;
}

/** Types that a browser only shows and never runs; all others are bytes. */
const SAFE_TYPES: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  csv: 'text/csv; charset=utf-8',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  log: 'text/plain; charset=utf-8',
  md: 'text/plain; charset=utf-8',
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
  webp: 'image/webp',
};

/** A file is data: a browser that opens it gets a sandbox without an origin, where nothing loads, runs or frames. */
const INERT_FILE = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A read starts over this often when the file is written meanwhile. */
const READ_ATTEMPTS = 5;

type Stat = FileContent['stat'];

function headersOf(path: string, stat: Stat): AnswerHeaders {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': `attachment; filename*=UTF-8''${encoded}`,
    'content-security-policy': INERT_FILE,
    'content-type': Object.hasOwn(SAFE_TYPES, extension) ? (SAFE_TYPES[extension] ?? '') : 'application/octet-stream',
    etag: stat.etag,
    'last-modified': new Date(stat.mtime * 1000).toUTCString(),
  };
}

/** GET and HEAD of a file, now or as of a moment. */
export async function getFile(context: RouteContext<FileParams, PastQuery>): Promise<Answer> {
  const { services, caller, params, query, head, header } = context;
  const { volume } = params;
  const conditions = {
    ifMatch: header('if-match'),
    ifNoneMatch: header('if-none-match'),
    ifModifiedSince: header('if-modified-since'),
    ifUnmodifiedSince: header('if-unmodified-since'),
  };
  const conditional = Object.values(conditions).some((value) => value !== null);
  if (!head && !conditional && header('range') === null) {
    const { stat, content } = await services.operations.file(caller, params.id, volume, params.path, undefined, query);
    return { status: 200, headers: headersOf(params.path, stat), body: { bytes: content } };
  }
  for (let attempt = 1; ; attempt++) {
    const stat = await services.operations.fileStat(caller, params.id, volume, params.path, query);
    const headers = headersOf(params.path, stat);
    const verdict = readVerdict(conditions, stat);
    if (verdict === 'failed') throw preconditionFailed(params.path, stat);
    if (verdict === 'not_modified') return empty(304, { etag: stat.etag, 'cache-control': 'private, no-cache' });
    const range = wantedRange(context, stat);
    if (range === 'unsatisfiable') throw unsatisfiable(stat);
    if (head) return empty(200, { ...headers, 'content-length': String(stat.size) });
    const bounds = range === 'whole' ? undefined : range;
    const read = await services.operations.file(caller, params.id, volume, params.path, bounds, query);
    if (read.stat.version === stat.version) return bytesAnswer(headers, read.content, bounds, stat);
    if (attempt === READ_ATTEMPTS) {
      throw new WinterdockError(
        'conflict',
        `"${params.path}" is being rewritten all the time: no read got one version of it.`,
      );
    }
  }
}

function bytesAnswer(headers: AnswerHeaders, content: Uint8Array, range: ByteRange | undefined, stat: Stat): Answer {
  if (range === undefined) return { status: 200, headers, body: { bytes: content } };
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${range.start}-${range.end}/${stat.size}` },
    body: { bytes: content },
  };
}

/** HEAD has no ranges, and a range of another version than `If-Range` names is the whole file. */
function wantedRange({ head, header }: Pick<RouteContext, 'head' | 'header'>, stat: Stat): ReturnType<typeof rangeOf> {
  const ifRange = header('if-range');
  if (head || (ifRange !== null && ifRange !== stat.etag)) return 'whole';
  return rangeOf(header('range'), stat.size);
}

function preconditionFailed(path: string, stat: Stat): WinterdockError {
  return new WinterdockError(
    'precondition_failed',
    `"${path}" is at ${stat.etag}, which is not what the request expects.`,
    {
      hint: 'Read it again, then decide.',
      extra: { etag: stat.etag },
    },
  );
}

function unsatisfiable(stat: Stat): WinterdockError {
  return new WinterdockError(
    'range_not_satisfiable',
    `The file has ${stat.size} bytes; the range starts past its end.`,
    {
      extra: { size: stat.size },
    },
  );
}

function conditionOf(header: RouteContext['header']): { ifMatch?: string; ifNoneMatch?: string } | undefined {
  const ifMatch = header('if-match') ?? undefined;
  const ifNoneMatch = header('if-none-match') ?? undefined;
  return ifMatch === undefined && ifNoneMatch === undefined ? undefined : { ifMatch, ifNoneMatch };
}

/** PUT of a file: 201 when it is new, 204 when it replaced one. */
export async function putFile(context: RouteContext<FileParams, unknown, Uint8Array>): Promise<Answer> {
  const { services, caller, params, body, header, path } = context;
  // A resumed upload sends only the rest of a file, which must not replace the whole.
  if (header('content-range') !== null) {
    throw new WinterdockError('validation', 'Files are written whole: Content-Range is not supported.', {
      hint: 'Nothing was written. Send all of it again.',
      extra: { errors: [{ path: 'Content-Range', message: 'is not known here' }] },
    });
  }
  const written = await services.operations.putFile(
    caller,
    params.id,
    params.volume,
    params.path,
    body,
    conditionOf(header),
  );
  return written.created ? empty(201, { etag: written.etag, location: path }) : empty(204, { etag: written.etag });
}

/** DELETE of a file. */
export async function deleteFile(context: RouteContext<FileParams>): Promise<Answer> {
  const { services, caller, params, header } = context;
  await services.operations.deleteFile(caller, params.id, params.volume, params.path, conditionOf(header));
  return empty(204);
}
