/**
 * The one place that loads Amazon's SDK, and how it is asked: each request a few times, with a bounded time for each.
 * A server without `s3://` never loads it.
 */
import { setTimeout } from 'node:timers/promises';
import type { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { StoreConnection } from '../../base/store-url.ts';
import { isUnknownToServer, mayComeThrough, s3Error } from './s3-errors.ts';

export type Sdk = typeof import('@aws-sdk/client-s3');

/** Of one request, repeats included; each takes a pause that doubles. */
const TRIES = 5;
const FIRST_PAUSE_MS = 150;
const CONNECT_MS = 5000;
/** Without a byte in either direction. */
const SILENT_MS = 15_000;
const SOCKETS = 32;

export interface S3Access {
  readonly sdk: Sdk;
  readonly client: S3Client;
}

/** Loads the SDK and makes a client, which finds credentials by the usual chain at its first request. */
export async function loadS3({ endpoint, region, pathStyle }: StoreConnection): Promise<S3Access> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== null && { endpoint }),
    maxAttempts: 1,
    // Servers that are not Amazon's know Content-MD5, and not all of them the trailers of newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: SILENT_MS,
      socketAcquisitionWarningTimeout: 2 ** 31 - 1,
      httpAgent: { maxSockets: SOCKETS, keepAlive: true },
      httpsAgent: { maxSockets: SOCKETS, keepAlive: true },
    },
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  return { sdk, client };
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** The most milliseconds of one try. None for what goes on as a stream. */
  limitMs?: number;
  /** Called before a repeat of what may have been done already: its answer was lost. */
  repeated?: () => void;
}

/**
 * Sends a request until it has an answer, a few times at most. Throws the errors of the contract, but what the server
 * does not know as it came, and the reason of `signal`.
 */
export async function asking<T>(
  name: string,
  { signal, limitMs, repeated }: RequestOptions,
  send: (options: { abortSignal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    const limit = limitMs === undefined ? null : AbortSignal.timeout(limitMs);
    const signals = [signal, limit].filter((one) => one !== undefined && one !== null);
    try {
      return await send(signals.length === 0 ? {} : { abortSignal: AbortSignal.any(signals) });
    } catch (thrown) {
      if (signal?.aborted) throw signal.reason;
      if (isUnknownToServer(thrown)) throw thrown;
      const error = limit?.aborted ? timeOut() : thrown;
      if (tries === TRIES || !mayComeThrough(error)) throw s3Error(name, error);
    }
    const pause = FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random());
    await setTimeout(pause, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
    repeated?.();
  }
}

function timeOut(): Partial<S3ServiceException> & Error {
  return Object.assign(new Error('no answer in time'), { name: 'TimeoutError' });
}
