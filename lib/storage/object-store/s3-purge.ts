/** Removes every trace of a name: versions, markers of removed ones, unfinished uploads. Lists only that name. */
import type { ListObjectVersionsCommand, ListObjectVersionsCommandOutput } from '@aws-sdk/client-s3';
import { isWinterdockError } from '../../base/errors.ts';
import { asking, type RequestOptions } from './s3-client.ts';
import { isUnknownToServer, s3Code } from './s3-errors.ts';
import type { S3Place } from './s3-place.ts';

/** A legal hold has no end: the last date that there is. */
const FOR_EVER = 8.64e15;

/** Returns until when bytes remain under a lock. Throws `storage_unavailable`, as when listing versions is refused. */
export async function purgeVersions(
  place: S3Place,
  name: string,
  request: RequestOptions,
): Promise<{ remainsUntil: number | null }> {
  const until = [];
  for (const version of await versionsOf(place, name, request)) {
    until.push(await removeVersion(place, name, version, request));
  }
  await abortUploads(place, name, request);
  const latest = Math.max(0, ...until.filter((one) => one !== null));
  return { remainsUntil: latest === 0 ? null : latest };
}

async function versionsOf(place: S3Place, name: string, request: RequestOptions): Promise<string[]> {
  const { sdk, client, bucket, key } = place;
  const found: string[] = [];
  let from: { KeyMarker?: string; VersionIdMarker?: string } | null = {};
  while (from !== null) {
    const command: ListObjectVersionsCommand = new sdk.ListObjectVersionsCommand({
      ...{ Bucket: bucket, Prefix: key(name) },
      ...from,
    });
    const page: ListObjectVersionsCommandOutput | null = await askingIfKnown(name, request, (options) =>
      client.send(command, options),
    );
    // A server without versions has removed what there was.
    if (page === null) return [];
    const all = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
    found.push(...all.flatMap(({ Key, VersionId }) => (Key === key(name) && VersionId ? [VersionId] : [])));
    // Names are in order: behind this one come those that begin with it.
    const goesOn: boolean = page.IsTruncated === true && page.NextKeyMarker === key(name);
    from = goesOn ? { KeyMarker: key(name), VersionIdMarker: page.NextVersionIdMarker ?? '' } : null;
  }
  return found;
}

/** Removes a version. Returns the end of the lock that keeps it, or null when it is gone. */
async function removeVersion(
  { sdk, client, bucket, key }: S3Place,
  name: string,
  version: string,
  request: RequestOptions,
): Promise<number | null> {
  const at = { Bucket: bucket, Key: key(name), VersionId: version };
  try {
    await asking(name, request, (options) => client.send(new sdk.DeleteObjectCommand(at), options));
    return null;
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'missing_file') return null;
    const until = await lockedUntil();
    if (until === null) throw error;
    return until;
  }

  async function lockedUntil(): Promise<number | null> {
    const held = await ifAny(() =>
      asking(name, request, (options) => client.send(new sdk.GetObjectLegalHoldCommand(at), options)),
    );
    if (held?.LegalHold?.Status === 'ON') return FOR_EVER;
    const kept = await ifAny(() =>
      asking(name, request, (options) => client.send(new sdk.GetObjectRetentionCommand(at), options)),
    );
    return kept?.Retention?.RetainUntilDate?.getTime() ?? null;
  }
}

/** Null where there is no lock, or nobody may see it. */
async function ifAny<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch {
    return null;
  }
}

async function abortUploads(
  { sdk, client, bucket, key }: S3Place,
  name: string,
  request: RequestOptions,
): Promise<void> {
  for (;;) {
    const command = new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key(name) });
    const page = await askingIfKnown(name, request, (options) => client.send(command, options));
    const ours = (page?.Uploads ?? []).flatMap(({ Key, UploadId }) =>
      Key === key(name) && UploadId ? [UploadId] : [],
    );
    for (const UploadId of ours) {
      const abort = new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key: key(name), UploadId });
      await asking(name, request, (options) => client.send(abort, options).catch(unlessNoUpload));
    }
    // Names are in order, so this one's uploads come first; a full page of them is followed by another one.
    if (!page?.IsTruncated || ours.length === 0) return;
  }
}

function unlessNoUpload(error: unknown): void {
  if (s3Code(error) !== 'NoSuchUpload') throw error;
}

/** Null when the server does not know such a request. */
async function askingIfKnown<T>(
  name: string,
  request: RequestOptions,
  send: Parameters<typeof asking<T>>[2],
): Promise<T | null> {
  try {
    return await asking(name, request, send);
  } catch (error) {
    if (isUnknownToServer(error)) return null;
    throw error;
  }
}
