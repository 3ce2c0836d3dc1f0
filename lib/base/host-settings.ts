/** The settings of this server as one of the hosts of its registry, for config.ts. */
import { hostname } from 'node:os';
import { z } from 'zod';

/** What a host's row says of it that is set. */
export interface HostSettings {
  /** The origin under which other hosts reach it; null: not set. */
  readonly url: string | null;
  /** Milliseconds that its lease lasts without a renewal. */
  readonly leaseMs: number;
  /** Null: not set. */
  readonly labels: Readonly<Record<string, string>> | null;
}

/** The name of a server among those of one registry. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/;
const NAME_RULE = 'must be 1 to 100 letters, digits, dots and dashes, starting with a letter or digit';
const URL_RULE = 'must be an origin such as https://one.internal:3000, without a path and without credentials';
const LEASE_RULE = 'must be a whole number of milliseconds from 1000 to 600000';
const LABELS_RULE = 'must be at most 32 labels such as zone=a,disk=fast';
const MOST_LABELS = 32;
const LABEL = /^[a-z0-9][a-z0-9_.-]{0,62}=[^\p{Cc}]{0,255}$/u;

/** `[name, value]` of each label, or null when one is none. */
function labelsIn(text: string): [string, string][] | null {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > MOST_LABELS || !parts.every((part) => LABEL.test(part))) return null;
  return parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]);
}

/** Their names and forms. */
export const HOST_SETTINGS = {
  WB_HOST_NAME: z.string().regex(NAME, NAME_RULE).optional(),
  WB_HOST_URL: z
    .string()
    .refine((text) => /^https?:\/\/[^/?#@\s]+\/?$/i.test(text) && URL.canParse(text), { error: URL_RULE })
    .transform((text) => new URL(text).origin)
    .optional(),
  WB_HOST_LEASE_MS: z
    .string()
    .regex(/^\d{4,6}$/, LEASE_RULE)
    .transform(Number)
    .refine((value) => value >= 1000 && value <= 600_000, LEASE_RULE)
    .default(10_000),
  WB_HOST_LABELS: z
    .string()
    .refine((text) => labelsIn(text) !== null, { error: LABELS_RULE })
    .transform((text) => Object.fromEntries(labelsIn(text) ?? []))
    .optional(),
};

type GivenSettings = z.output<z.ZodObject<typeof HOST_SETTINGS>>;

/** What they say. */
export function hostSettingsOf(env: GivenSettings): { hostName: string; hostRow: HostSettings } {
  return {
    hostName: env.WB_HOST_NAME ?? machineName(),
    hostRow: { url: env.WB_HOST_URL ?? null, leaseMs: env.WB_HOST_LEASE_MS, labels: env.WB_HOST_LABELS ?? null },
  };
}

/** The name of the machine, without what a host's name may not have. */
function machineName(): string {
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 100);
  return NAME.test(name) ? name : 'host';
}
