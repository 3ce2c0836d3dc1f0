/** Checks the signature (version 4) and the checksums of a request, as a server that speaks S3 has to. For tests. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';

export interface SignedRequest {
  method: string;
  /** As it was sent: path and query. */
  target: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const hex = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** The code of S3 for what is wrong; null when the request is signed by these keys and whole. */
export function refusalOf({ method, target, headers, body }: SignedRequest, keys: ReadonlyMap<string, string>) {
  const authorization = headers.authorization ?? '';
  const [, id = '', date = '', region = '', signed = '', given = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  if (id === '') return 'AccessDenied';
  const secret = keys.get(id);
  if (secret === undefined) return 'InvalidAccessKeyId';
  const hash = String(headers['x-amz-content-sha256'] ?? '');
  const [path = '', query = ''] = target.split('?');
  const parameters = [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
  const names = signed.split(';');
  if (!names.includes('host') || names.toSorted().join(';') !== signed) return 'AccessDenied';
  const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !names.includes(name));
  if (unsigned.length > 0) return 'AccessDenied';
  const lines = names.map(
    (name) =>
      `${name}:${String(headers[name] ?? '')
        .trim()
        .replaceAll(/ +/g, ' ')}\n`,
  );
  const canonical = [method, path, parameters, lines.join(''), signed, hash].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hex(canonical)].join('\n');
  const key = ['aws4_request'].reduce(hmac, hmac(hmac(hmac(`AWS4${secret}`, date), region), 's3'));
  if (!timingSafeEqual(hmac(key, text), Buffer.from(given, 'hex'))) return 'SignatureDoesNotMatch';
  return bodyRefusal(hash, headers, body);
}

function bodyRefusal(hash: string, headers: IncomingHttpHeaders, body: Buffer): string | null {
  if (hash.startsWith('STREAMING-')) return 'NotImplemented';
  if (hash !== 'UNSIGNED-PAYLOAD' && hash !== hex(body)) return 'XAmzContentSHA256Mismatch';
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== body.length) return 'IncompleteBody';
  const sums: Record<string, () => string> = {
    'content-md5': () => createHash('md5').update(body).digest('base64'),
    'x-amz-checksum-sha256': () => createHash('sha256').update(body).digest('base64'),
    'x-amz-checksum-sha1': () => createHash('sha1').update(body).digest('base64'),
    'x-amz-checksum-crc32': () => {
      const sum = Buffer.alloc(4);
      sum.writeUInt32BE(crc32(body));
      return sum.toString('base64');
    },
  };
  const wrong = Object.entries(sums).some(([name, sum]) => headers[name] !== undefined && headers[name] !== sum());
  return wrong ? 'BadDigest' : null;
}
