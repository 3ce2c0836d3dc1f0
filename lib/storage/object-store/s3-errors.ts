/** What a server that speaks S3 says, in the words of the store's contract. Knows no request. */
import { isWinterdockError, type WinterdockError } from '../../base/errors.ts';
import type { AwayReason } from './object-store.ts';
import { behindTheEnd, noSuchObject, objectTaken, storeAway } from './store-errors.ts';

/** What the SDK throws, as far as it is read here. */
interface SdkError {
  name: string;
  code?: string;
  Code?: string;
  $metadata?: { httpStatusCode?: number };
}

const NO_CONNECTION = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNABORTED'],
  ...['ERR_STREAM_PREMATURE_CLOSE', 'HPE_INVALID_CONSTANT', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
]);
/** Of a bucket or an account: nothing is known of any object. */
const REFUSED = new Set([
  ...['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken', 'InvalidToken', 'Forbidden'],
  ...['CredentialsProviderError', 'TokenProviderError', 'AuthorizationHeaderMalformed', 'PermanentRedirect'],
  ...['AllAccessDisabled', 'AccountProblem', 'RequestTimeTooSkewed', 'InvalidClientTokenId'],
]);
/** Of what servers of one's own say: MinIO, Ceph, and RFC 4918. */
const FULL = new Set([
  'QuotaExceeded',
  'InsufficientStorage',
  'InsufficientCapacity',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
]);
const INSUFFICIENT_STORAGE = 507;
/** What was damaged on its way, and comes through another time. */
const DAMAGED = new Set([
  ...['BadDigest', 'InvalidDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch', 'RequestTimeout', 'MalformedXML'],
  ...['InvalidPart', 'OperationAborted', 'ConditionalRequestConflict', 'SlowDown', 'TooManyRequests'],
]);

/** The code of a thrown error: S3's where there is one. */
export function s3Code(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { name, code, Code } = error as SdkError;
  return Code ?? (name === 'Error' || name === 'TypeError' ? (code ?? name) : name);
}

export function s3Status(error: unknown): number {
  return (error as SdkError | null)?.$metadata?.httpStatusCode ?? 0;
}

/** Whether the server does not know what it was asked for, as a condition or a kind of request. */
export function isUnknownToServer(error: unknown): boolean {
  return ['NotImplemented', 'MethodNotAllowed', 'XNotImplemented'].includes(s3Code(error)) || s3Status(error) === 501;
}

/**
 * The error of the contract. A 404 is a missing object only where the server says NoSuchKey; a `HEAD` has no words, so
 * nobody asks it here.
 */
export function s3Error(name: string, error: unknown): WinterdockError {
  if (isWinterdockError(error)) return error;
  const [code, status] = [s3Code(error), s3Status(error)];
  if (code === 'NoSuchKey') return noSuchObject(name, error);
  if (code === 'InvalidRange' || status === 416) return behindTheEnd(name);
  if (code === 'PreconditionFailed' || status === 412) return objectTaken(name, error);
  return storeAway(awayReason(error), error);
}

function awayReason(error: unknown): AwayReason {
  const [code, status] = [s3Code(error), s3Status(error)];
  const systemCode = (error as SdkError | null)?.code ?? '';
  if (code === 'NoSuchBucket') return 'no_bucket';
  if (code === 'TimeoutError' || systemCode === 'ETIMEDOUT') return 'timeout';
  if (FULL.has(code) || status === INSUFFICIENT_STORAGE) return 'full';
  if (DAMAGED.has(code) || status >= 500) return 'failing';
  if (REFUSED.has(code) || [301, 307, 401, 403].includes(status)) return 'refused';
  return NO_CONNECTION.has(systemCode) || /socket hang up/.test(String(error)) ? 'unreachable' : 'failing';
}

/** Whether the same request may come through another time. */
export function mayComeThrough(error: unknown): boolean {
  if (isWinterdockError(error)) {
    return error.code === 'storage_unavailable' && !['refused', 'no_bucket', 'full'].includes(String(error.extra.away));
  }
  const [code, status] = [s3Code(error), s3Status(error)];
  const isFinal = status >= 400 && status < 500 && ![408, 429].includes(status) && !DAMAGED.has(code);
  return !isFinal && mayComeThrough(s3Error('', error));
}
