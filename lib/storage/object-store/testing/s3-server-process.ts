/** The process of testing/s3-server.ts: a server that speaks S3, strictly. Its one argument is its options as JSON. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Bucket, S3Refusal } from './s3-objects.ts';
import type { S3ServerOptions } from './s3-server.ts';
import { refusalOf } from './s3-signature.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as S3ServerOptions;
const keys = new Map([[options.accessKey, options.secretKey]]);
const buckets = new Map(Object.entries(options.buckets).map(([name, bucket]) => [name, new Bucket(bucket)]));
const pageSize = options.pageSize ?? 1000;
let requests = 0;

interface Request {
  method: string;
  bucket: Bucket;
  key: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
}
interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const tag = (name: string, content: string | number | boolean) => `<${name}>${content}</${name}>`;
const xml = (name: string, ...content: string[]): Answer => ({
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content.join('')}</${name}>`,
});
const metadataIn = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-amz-meta-') ? [[name, String(value)] as const] : [],
    ),
  );
const parameter = (query: URLSearchParams, name: string) => query.get(name) ?? undefined;

function answer(request: Request): Answer {
  const { method, key, query } = request;
  if (key === '') return ofBucket(request);
  if (method === 'PUT') return query.has('uploadId') ? putPart(request) : put(request);
  if (method === 'POST') return query.has('uploads') ? begin(request) : complete(request);
  if (method === 'DELETE') return remove(request);
  if (method === 'GET' && query.has('retention')) return retention(request);
  if (method === 'GET' && query.has('legal-hold')) throw new S3Refusal('NoSuchObjectLockConfiguration', 404);
  if (method === 'GET' || method === 'HEAD') return get(request);
  throw new S3Refusal('MethodNotAllowed', 405);
}

function ofBucket({ method, bucket, query }: Request): Answer {
  if (method === 'HEAD') return {};
  if (method !== 'GET') throw new S3Refusal('MethodNotAllowed', 405);
  const { versioning, lockDays } = bucket.options;
  if (query.has('versioning')) return xml('VersioningConfiguration', versioning ? tag('Status', versioning) : '');
  if (query.has('lifecycle')) {
    if (options.lifecycle === undefined) throw new S3Refusal('NoSuchLifecycleConfiguration', 404);
    return xml('LifecycleConfiguration', options.lifecycle);
  }
  if (query.has('object-lock')) {
    if (lockDays === undefined) throw new S3Refusal('ObjectLockConfigurationNotFoundError', 404);
    const rule = tag('Rule', tag('DefaultRetention', tag('Mode', 'COMPLIANCE') + tag('Days', lockDays)));
    return xml('ObjectLockConfiguration', tag('ObjectLockEnabled', 'Enabled'), rule);
  }
  const prefix = query.get('prefix') ?? '';
  if (query.has('versions')) return versionPage(bucket, query, prefix);
  if (query.has('uploads')) {
    const uploads = [...bucket.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const listed = uploads.map(([id, { key }]) => tag('Upload', tag('Key', escaped(key)) + tag('UploadId', id)));
    return xml('ListMultipartUploadsResult', tag('IsTruncated', false), ...listed);
  }
  if (query.get('list-type') !== '2') throw new S3Refusal('NotImplemented', 501);
  const after = Buffer.from(query.get('continuation-token') ?? '', 'base64').toString();
  const found = bucket.keys(prefix).filter((key) => key > after);
  const page = found.slice(0, Math.min(Number(query.get('max-keys') ?? 1000), pageSize));
  const last = page.at(-1) ?? '';
  const contents = page.map((key) => {
    const { body, etag, at } = bucket.require(key);
    const facts = tag('Size', body.length) + tag('ETag', `&quot;${etag}&quot;`) + tag('LastModified', at.toISOString());
    return tag('Contents', tag('Key', escaped(key)) + facts);
  });
  const isTruncated = page.length < found.length;
  const next = isTruncated ? tag('NextContinuationToken', Buffer.from(last).toString('base64')) : '';
  return xml('ListBucketResult', tag('IsTruncated', isTruncated), tag('KeyCount', page.length), next, ...contents);
}

function versionPage(bucket: Bucket, query: URLSearchParams, prefix: string): Answer {
  const all = bucket.versions(prefix);
  const [key, id] = [query.get('key-marker'), query.get('version-id-marker')];
  const from = key === null ? 0 : all.findIndex((one) => one.key === key && one.version.id === id) + 1;
  const page = all.slice(from, from + pageSize);
  const last = page.at(-1);
  const isTruncated = from + page.length < all.length;
  const next =
    isTruncated && last ? tag('NextKeyMarker', escaped(last.key)) + tag('NextVersionIdMarker', last.version.id) : '';
  const listed = page.map(({ key: name, version, isLatest }) => {
    const facts = tag('Key', escaped(name)) + tag('VersionId', version.id) + tag('IsLatest', isLatest);
    return tag(version.body === null ? 'DeleteMarker' : 'Version', facts);
  });
  return xml('ListVersionsResult', tag('IsTruncated', isTruncated), next, ...listed);
}

function put({ bucket, key, query, headers, body }: Request): Answer {
  if (query.size > 0 && [...query.keys()].some((name) => name !== 'x-id')) throw new S3Refusal('NotImplemented', 501);
  bucket.requireConditions(key, headers['if-none-match'], headers['if-match']);
  const source = headers['x-amz-copy-source'];
  if (typeof source !== 'string') return { headers: { etag: `"${bucket.put(key, body, metadataIn(headers)).etag}"` } };
  const from = bucket.require(copied(source));
  const metadata = headers['x-amz-metadata-directive'] === 'REPLACE' ? metadataIn(headers) : from.metadata;
  const { etag, at } = bucket.put(key, from.body, metadata);
  return xml('CopyObjectResult', tag('ETag', `&quot;${etag}&quot;`), tag('LastModified', at.toISOString()));
}

/** The key of a source of a copy, in the same bucket. */
const copied = (source: string) => decodeURIComponent(source.replace(/^\/?[^/]+\//, ''));

function putPart({ bucket, key, query, headers, body }: Request): Answer {
  const [id, number] = [query.get('uploadId') ?? '', Number(query.get('partNumber'))];
  const source = headers['x-amz-copy-source'];
  if (typeof source !== 'string') return { headers: { etag: `"${bucket.part(id, key, number, body)}"` } };
  const [, first = 0, last = 0] = /^bytes=(\d+)-(\d+)$/.exec(String(headers['x-amz-copy-source-range'])) ?? [];
  const part = bucket.require(copied(source)).body.subarray(Number(first), Number(last) + 1);
  return xml('CopyPartResult', tag('ETag', `&quot;${bucket.part(id, key, number, part)}&quot;`));
}

function begin({ bucket, key, headers }: Request): Answer {
  return xml('InitiateMultipartUploadResult', tag('UploadId', bucket.begin(key, metadataIn(headers))));
}

function complete({ bucket, key, query, headers, body }: Request): Answer {
  bucket.requireConditions(key, headers['if-none-match'], headers['if-match']);
  const parts = [...body.toString().matchAll(/<Part>([\s\S]*?)<\/Part>/g)].map(([, part = '']) => {
    const number = Number(/<PartNumber>(\d+)</.exec(part)?.[1]);
    const etag = /<ETag>(?:"|&quot;|&#34;)?([^<"&]+)/.exec(part)?.[1] ?? '';
    return [number, etag] as const;
  });
  const { etag } = bucket.complete(query.get('uploadId') ?? '', key, parts);
  return xml('CompleteMultipartUploadResult', tag('ETag', `&quot;${etag}&quot;`));
}

function remove({ bucket, key, query }: Request): Answer {
  const [upload, version] = [parameter(query, 'uploadId'), parameter(query, 'versionId')];
  if (upload !== undefined) {
    bucket.upload(upload, key);
    bucket.uploads.delete(upload);
  } else if (version === undefined) bucket.remove(key);
  else bucket.removeVersion(key, version);
  return { status: 204 };
}

function retention({ bucket, key, query }: Request): Answer {
  const { lockedUntil } = bucket.version(key, query.get('versionId') ?? '');
  if (lockedUntil === null) throw new S3Refusal('NoSuchObjectLockConfiguration', 404);
  return xml('Retention', tag('Mode', 'COMPLIANCE'), tag('RetainUntilDate', lockedUntil.toISOString()));
}

function get({ bucket, key, headers }: Request): Answer {
  const { body, etag, at, metadata } = bucket.require(key);
  const about = { ...metadata, etag: `"${etag}"`, 'last-modified': at.toUTCString(), 'accept-ranges': 'bytes' };
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  if (from === undefined) return { headers: { ...about, 'content-length': String(body.length) }, body };
  if (Number(from) >= body.length) throw new S3Refusal('InvalidRange', 416);
  const last = to === '' || to === undefined ? body.length - 1 : Math.min(Number(to), body.length - 1);
  const part = body.subarray(Number(from), last + 1);
  const range = { 'content-range': `bytes ${from}-${last}/${body.length}`, 'content-length': String(part.length) };
  return { status: 206, headers: { ...about, ...range }, body: part };
}

async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  const { method = '', url: target = '', headers } = incoming;
  requests += 1;
  let result: Answer;
  try {
    const refusal = refusalOf({ method, target, headers, body }, keys);
    if (refusal !== null) throw new S3Refusal(refusal, refusal === 'NotImplemented' ? 501 : 403);
    const { pathname, searchParams } = new URL(target, 'http://host');
    const [, name = '', rest = ''] = /^\/([^/]*)\/?(.*)$/s.exec(pathname) ?? [];
    const bucket = buckets.get(name);
    if (bucket === undefined) throw new S3Refusal('NoSuchBucket', 404);
    const request = { method, bucket, key: decodeURIComponent(rest), query: searchParams, headers, body };
    result = answer(request);
  } catch (error) {
    const [code, status] = error instanceof S3Refusal ? [error.message, error.status] : ['InternalError', 500];
    result = { ...xml('Error', tag('Code', code), tag('Message', code), tag('RequestId', requests)), status };
  }
  const content = Buffer.from(result.body ?? '');
  if (options.delayMs !== undefined) await pause(options.delayMs);
  outgoing.writeHead(result.status ?? 200, {
    'x-amz-request-id': String(requests),
    ...(result.status === 204 ? {} : { 'content-length': String(content.length) }),
    ...result.headers,
  });
  outgoing.end(method === 'HEAD' ? '' : content);
}

const server = createServer((incoming, outgoing) => {
  // One that goes away in the middle of its request gets no answer.
  handle(incoming, outgoing).catch(() => outgoing.destroy());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.on('end', () => process.exit(0)).resume();
