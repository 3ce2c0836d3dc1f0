/** The settings of the object store, for config.ts. Credentials are none of them: they stay in AWS's own variables. */
import { z } from 'zod';
import { messageOf } from './errors.ts';
import { DEFAULT_RETENTION, parseRetention, RETENTION_RULE, type ReplicaKeeps } from './replica-retention.ts';
import { REPLICATE_FORM, REPLICATE_RULE } from './replicate-form.ts';
import { parseStoreUrl, type StoreAddress, type StoreConnection } from './store-url.ts';

/** What is known of the object store. */
export interface StoreSettings {
  /** Where files go that rest; null: they stay on this machine. */
  readonly cold: StoreAddress | null;
  readonly connection: StoreConnection;
  /** Bytes of local copies of files that are stored, at most. */
  readonly cacheBytes: number;
  /** When filing answers: once the file is stored, or once its upload is queued. */
  readonly ack: 'stored' | 'queued';
  /** Nothing more is stored, and every file comes back to this machine while the server runs. */
  readonly isLeaving: boolean;
  /** Where what is committed is shipped to; null: nowhere. */
  readonly replica: StoreAddress | null;
  /** How often, unless a sandbox says otherwise: as `parseReplicate` reads it. */
  readonly replicate: string;
  /** How long the replica keeps what. */
  readonly replicaKeeps: ReplicaKeeps;
  /** Bytes on this machine that wait for the replica, at most. */
  readonly spoolBytes: number;
  /** Bytes of moments of the replica that are open to be read, at most. */
  readonly momentBytes: number;
}

const GIB = 1024 * 1024 * 1024;
const DEFAULT_REGION = 'us-east-1';
const ENDPOINT_RULE = 'must be an origin such as https://s3.example.org:9000, without a path and without credentials';
const ENCRYPTION_RULE = 'must be AES256, aws:kms or aws:kms:KEY';

const storeUrl = z.string().transform((given, context) => {
  try {
    return parseStoreUrl(given);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
    return z.NEVER;
  }
});
const endpoint = z
  .string()
  .refine((text) => /^https?:\/\/[^/?#@\s]+\/?$/i.test(text) && URL.canParse(text), { error: ENDPOINT_RULE })
  .transform((text) => new URL(text).origin);
const wholeBytes = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number of bytes')
    .transform(Number)
    .default(fallback);

/** Their names and forms. */
export const STORE_SETTINGS = {
  WB_COLD_URL: storeUrl.optional(),
  WB_STORE_ENDPOINT: endpoint.optional(),
  WB_STORE_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region')
    .optional(),
  WB_STORE_PATH_STYLE: z.enum(['0', '1']).optional(),
  WB_STORE_CACHE: wholeBytes(10 * GIB),
  WB_STORE_ACK: z.enum(['stored', 'queued']).default('stored'),
  WB_STORE_LEAVING: z.enum(['0', '1']).default('0'),
  WB_STORE_ENCRYPTION: z
    .string()
    .regex(/^(?:AES256|aws:kms(?::[\w:/-]{1,300})?)$/, ENCRYPTION_RULE)
    .optional(),
  WB_REPLICA_URL: storeUrl.optional(),
  WB_REPLICATE: z.string().regex(REPLICATE_FORM, REPLICATE_RULE).default('1s'),
  WB_REPLICA_RETENTION: z
    .string()
    .default(DEFAULT_RETENTION)
    .transform((text, context) => {
      const keeps = parseRetention(text);
      if (keeps !== null) return keeps;
      context.addIssue({ code: 'custom', message: RETENTION_RULE });
      return z.NEVER;
    }),
  WB_REPLICA_SPOOL: wholeBytes(GIB),
  WB_MOMENTS_CACHE: wholeBytes(2 * GIB),
};

/** The variables by which the chain of AWS finds credentials and a region, and those of its files and certificates. */
const CREDENTIALS = /^(?:AWS_[A-Z0-9_]+|HOME|NODE_EXTRA_CA_CERTS|(?:https?|no)_proxy|(?:HTTPS?|NO)_PROXY)$/;

/** Why settings that are right by themselves do not fit together; null: they do. */
export function storeMisfit(parsed: z.output<z.ZodObject<typeof STORE_SETTINGS>>): string | null {
  if (parsed.WB_REPLICATE !== 'sync' || parsed.WB_REPLICA_URL !== undefined) return null;
  return 'WB_REPLICATE: sync needs a replica, of which WB_REPLICA_URL says where it is';
}

/** The settings of the store from the parsed ones and from AWS's own variables. */
export function storeSettingsOf(
  parsed: z.output<z.ZodObject<typeof STORE_SETTINGS>>,
  environment: Readonly<Record<string, string | undefined>>,
): StoreSettings {
  const { WB_STORE_ENDPOINT: origin = null, WB_STORE_ENCRYPTION: encryption } = parsed;
  return {
    cold: parsed.WB_COLD_URL ?? null,
    connection: {
      endpoint: origin,
      region: parsed.WB_STORE_REGION ?? (environment.AWS_REGION || environment.AWS_DEFAULT_REGION || DEFAULT_REGION),
      // A server of one's own seldom has a host name for each bucket.
      pathStyle: parsed.WB_STORE_PATH_STYLE === undefined ? origin !== null : parsed.WB_STORE_PATH_STYLE === '1',
      encryption: encryption === undefined ? null : encryptionOf(encryption),
      credentials: credentialsIn(environment),
    },
    cacheBytes: parsed.WB_STORE_CACHE,
    ack: parsed.WB_STORE_ACK,
    isLeaving: parsed.WB_STORE_LEAVING === '1',
    replica: parsed.WB_REPLICA_URL ?? null,
    replicate: parsed.WB_REPLICATE,
    replicaKeeps: parsed.WB_REPLICA_RETENTION,
    spoolBytes: parsed.WB_REPLICA_SPOOL,
    momentBytes: parsed.WB_MOMENTS_CACHE,
  };
}

function encryptionOf(text: string): StoreConnection['encryption'] {
  if (text === 'AES256') return { algorithm: 'AES256', key: null };
  const key = text.slice('aws:kms:'.length);
  return { algorithm: 'aws:kms', key: key === '' ? null : key };
}

function credentialsIn(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found = Object.entries(environment).filter(([name, value]) => CREDENTIALS.test(name) && value);
  return Object.fromEntries(found) as Record<string, string>;
}
