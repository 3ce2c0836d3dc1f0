/**
 * Bodies as byte streams, with progress and with errors for broken connections. Safe for the browser.
 */
import type { Progress, Upload } from './call.ts';
import { networkError } from './error.ts';

/** Passes bytes on; `onChunk` gets the length of each chunk, and `mapError` makes the error of a broken source. */
function counted(
  source: ReadableStream<Uint8Array>,
  onChunk: (bytes: number) => void,
  mapError: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onChunk(value.byteLength);
        controller.enqueue(value);
      } catch (error) {
        controller.error(mapError(error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Whether a value is bytes to send, and not what JSON is made of. */
export function isUpload(value: unknown): value is Upload {
  if (typeof value === 'string' || value instanceof Blob || value instanceof ReadableStream) return true;
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

/** Length of an upload in bytes, or null when unknown. */
export function sizeOf(upload: Upload): number | null {
  if (typeof upload === 'string') return new TextEncoder().encode(upload).byteLength;
  if (upload instanceof Blob) return upload.size;
  return upload instanceof ReadableStream ? null : upload.byteLength;
}

/** The body to send. To report progress everything becomes a stream; `sizeOf` then gives its length. */
export function uploadBody(upload: Upload, onProgress: Progress | undefined): NonNullable<RequestInit['body']> {
  if (onProgress === undefined) return upload as NonNullable<RequestInit['body']>;
  const total = sizeOf(upload);
  const source = upload instanceof ReadableStream ? upload : new Blob([upload as BlobPart]).stream();
  let sent = 0;
  const count = (bytes: number) => {
    sent += bytes;
    onProgress(sent, total);
  };
  return counted(source, count, (error) => error);
}

/** The bytes of an answer, as a stream or at once. They can be read once. */
export class Download {
  /** 200, 206 for a range, 304 (without bytes) when `ifNoneMatch` names the current version. */
  readonly status: number;
  readonly headers: Headers;
  readonly contentType: string;
  /** Length in bytes, when the server sends it. */
  readonly size: number | null;
  readonly etag: string | null;
  /** The name that the server gives it. */
  readonly filename: string | null;
  /**
   * The bytes as they come. Fails with `network` when the connection breaks, never ends early. Cancelling it closes the
   * connection.
   */
  readonly stream: ReadableStream<Uint8Array>;

  constructor(response: Response, options: { onProgress?: Progress; signal?: AbortSignal }) {
    this.status = response.status;
    this.headers = response.headers;
    this.contentType = response.headers.get('content-type') ?? 'application/octet-stream';
    const length = response.headers.get('content-length');
    this.size = length === null ? null : Number(length);
    this.etag = response.headers.get('etag');
    this.filename = filenameOf(response.headers.get('content-disposition'));
    let received = 0;
    const count = (bytes: number) => {
      received += bytes;
      options.onProgress?.(received, this.size);
    };
    const broken = (error: unknown) =>
      options.signal?.aborted === true ? options.signal.reason : networkError(response.url, error);
    this.stream = counted(response.body ?? new Blob([]).stream(), count, broken);
  }

  /** All bytes, in memory. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  /** All bytes as UTF-8. */
  text(): Promise<string> {
    return new Response(this.stream).text();
  }
}

function filenameOf(disposition: string | null): string | null {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (extended !== undefined) return decodeURIComponent(extended);
  return /filename="?([^";]+)"?/i.exec(disposition ?? '')?.[1] ?? null;
}
