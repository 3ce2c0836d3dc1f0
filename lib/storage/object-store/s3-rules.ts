/** What a bucket is set to do by itself. Each question may be refused: then nothing is known. */
import type { LifecycleRule } from '@aws-sdk/client-s3';
import type { StoreTraits } from './object-store.ts';
import { asking, type RequestOptions } from './s3-client.ts';
import { s3Code } from './s3-errors.ts';
import type { S3Place } from './s3-place.ts';

type BucketRules = Pick<StoreTraits, 'versioning' | 'lockDays' | 'expiry'>;

const DAYS_A_YEAR = 365;

export async function bucketRules(place: S3Place, request: RequestOptions): Promise<BucketRules> {
  const [versioning, lockDays, expiry] = await Promise.all([
    versioningOf(place, request),
    lockOf(place, request),
    expiryOf(place, request),
  ]);
  return { versioning, lockDays, expiry };
}

async function versioningOf({ sdk, client, bucket }: S3Place, request: RequestOptions) {
  const command = new sdk.GetBucketVersioningCommand({ Bucket: bucket });
  const answer = await known(() => asking('', request, (options) => client.send(command, options)), []);
  if (answer === null) return null;
  if (answer?.Status === undefined) return 'off';
  return answer.Status === 'Enabled' ? 'on' : 'suspended';
}

async function lockOf({ sdk, client, bucket }: S3Place, request: RequestOptions): Promise<number | null> {
  const command = new sdk.GetObjectLockConfigurationCommand({ Bucket: bucket });
  const none = ['ObjectLockConfigurationNotFoundError', 'NoSuchObjectLockConfiguration'];
  const answer = await known(() => asking('', request, (options) => client.send(command, options)), none);
  if (answer === null) return null;
  const { Days = 0, Years = 0 } = answer?.ObjectLockConfiguration?.Rule?.DefaultRetention ?? {};
  return Days + Years * DAYS_A_YEAR;
}

async function expiryOf({ sdk, client, bucket, key }: S3Place, request: RequestOptions) {
  const command = new sdk.GetBucketLifecycleConfigurationCommand({ Bucket: bucket });
  const none = ['NoSuchLifecycleConfiguration'];
  const answer = await known(() => asking('', request, (options) => client.send(command, options)), none);
  if (answer === null) return null;
  return (answer?.Rules ?? []).flatMap((rule) => {
    const prefix = rule.Filter?.Prefix ?? rule.Filter?.And?.Prefix ?? rule.Prefix ?? '';
    const concerns = rule.Status === 'Enabled' && (prefix.startsWith(key('')) || key('').startsWith(prefix));
    return concerns ? effectsOf(rule) : [];
  });
}

/** What a rule does to objects, in a few words. One that only ends unfinished uploads does nothing to them. */
function effectsOf({
  ID = 'without a name',
  Expiration,
  Transitions = [],
  NoncurrentVersionExpiration,
}: LifecycleRule) {
  const when = Expiration?.Days ?? Expiration?.Date?.toISOString();
  return [
    ...(when === undefined ? [] : [`rule "${ID}" removes objects: ${when}${Expiration?.Days ? ' days' : ''}`]),
    ...Transitions.map(({ StorageClass }) => `rule "${ID}" moves objects to ${StorageClass}`),
    ...(NoncurrentVersionExpiration === undefined ? [] : [`rule "${ID}" removes older versions`]),
  ];
}

/** Undefined where the server says that there is nothing of the kind; null where it does not say. */
async function known<T>(work: () => Promise<T>, none: readonly string[]): Promise<T | undefined | null> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return none.includes(s3Code(cause)) ? undefined : null;
  }
}
