/** Copies an object that is too large for one request, within the store and in parts. */
import type { CreateMultipartUploadCommandOutput, UploadPartCopyCommandOutput } from '@aws-sdk/client-s3';
import { asking, type RequestOptions } from './s3-client.ts';
import { copySource, type S3Place } from './s3-place.ts';

/** Of one part: S3 allows 5 GiB, and 10 000 parts. */
const PART_BYTES = 1024 ** 3;
const SMALL_MS = 20_000;

/** What is copied: its bytes, and the metadata of the copy. Throws as `ObjectStore.copy` does. */
export async function copyInParts(
  place: S3Place,
  { from, to, bytes, metadata }: { from: string; to: string; bytes: number; metadata: Record<string, string> },
  { signal }: RequestOptions,
  partBytes = PART_BYTES,
): Promise<void> {
  const { sdk, client, bucket, key, encryption } = place;
  const at = { Bucket: bucket, Key: key(to) };
  const create = new sdk.CreateMultipartUploadCommand({ ...at, Metadata: metadata, ...encryption });
  const created: CreateMultipartUploadCommandOutput = await asking(to, { signal, limitMs: SMALL_MS }, (options) =>
    client.send(create, options),
  );
  const { UploadId } = created;
  try {
    const Parts: { PartNumber: number; ETag?: string }[] = [];
    for (let first = 0; first < bytes; first += partBytes) {
      const PartNumber = Parts.length + 1;
      const CopySourceRange = `bytes=${first}-${Math.min(first + partBytes, bytes) - 1}`;
      const CopySource = copySource(place, from);
      const command = new sdk.UploadPartCopyCommand({ ...at, UploadId, PartNumber, CopySource, CopySourceRange });
      const copied: UploadPartCopyCommandOutput = await asking(from, { signal }, (options) =>
        client.send(command, options),
      );
      const { CopyPartResult } = copied;
      Parts.push({ PartNumber, ...(CopyPartResult?.ETag !== undefined && { ETag: CopyPartResult.ETag }) });
    }
    const complete = new sdk.CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } });
    await asking(to, { signal }, (options) => client.send(complete, options));
  } catch (error) {
    const request = { signal: AbortSignal.timeout(SMALL_MS) };
    const abort = new sdk.AbortMultipartUploadCommand({ ...at, UploadId });
    // `purge` of the name removes what could not be removed here.
    await asking(to, request, (options) => client.send(abort, options)).catch(() => undefined);
    throw error;
  }
}
