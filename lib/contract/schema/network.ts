/** Contract schemas of the network of sandboxes: what they may reach, and what they did reach. Safe for the browser. */
import { z } from 'zod';
import { METHODS, normalRuleUrl } from '../../outgoing/url-rules.ts';
import { actorNameSchema } from './actors.ts';

export { NETWORK_DEFAULTS } from '../../outgoing/network-limits.ts';
export { METHODS as NETWORK_METHODS } from '../../outgoing/url-rules.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const count = z.int().min(0);
const MOST_RULES = 100;

const ruleUrl = z
  .string()
  .transform((text, context) => {
    const normal = normalRuleUrl(text);
    if ('url' in normal) return normal.url;
    context.addIssue({ code: 'custom', message: normal.wrong });
    return z.NEVER;
  })
  .meta({ description: 'A prefix like `https://api.example.com/v1/`, compared by whole segments, or `*`.' });
const methods = z
  .array(z.enum(METHODS))
  .min(1)
  .max(METHODS.length)
  .transform((list) => METHODS.filter((method) => list.includes(method)))
  .default(['GET', 'HEAD']);
const perMinute = z.int().min(1).max(100_000).nullable();
const perDay = z.int().min(1).max(Number.MAX_SAFE_INTEGER).nullable();

const ruleInput = z.strictObject({ url: ruleUrl, methods });
const tenantRuleInput = z.strictObject({
  url: ruleUrl,
  methods,
  private: z
    .boolean()
    .default(false)
    .meta({ description: 'The name may have an address that is not public, and plain http is given secrets.' }),
});
const numbers = {
  requests_per_minute: perMinute.default(null),
  bytes_per_day: perDay.default(null),
};

/** `rules: null`: none of its own, that of its tenant. */
export const instanceNetworkInputSchema = z.strictObject({
  rules: z.array(ruleInput).max(MOST_RULES).nullable(),
  ...numbers,
});
export type InstanceNetworkInput = z.infer<typeof instanceNetworkInputSchema>;

export const tenantNetworkInputSchema = z.strictObject({
  rules: z
    .array(tenantRuleInput)
    .max(MOST_RULES)
    .superRefine((rules, context) => {
      rules.forEach((rule, at) => {
        if (rule.private && rule.url === '*')
          context.addIssue({ code: 'custom', path: [at, 'private'], message: 'must name a host' });
      });
    }),
  ...numbers,
});
export type TenantNetworkInput = z.infer<typeof tenantNetworkInputSchema>;

const ruleSchema = z
  .object({ url: z.string(), methods: z.array(z.enum(METHODS)), private: z.boolean() })
  .meta({ id: 'NetworkRule' });
export type NetworkRule = z.infer<typeof ruleSchema>;

const policy = {
  rules: z.array(ruleSchema).nullable(),
  /** Null: the server's number. */
  requests_per_minute: perMinute,
  bytes_per_day: perDay,
  /** Null: never set. */
  updated: epoch.nullable(),
  updated_by: z.string().nullable(),
  updated_by_name: actorNameSchema,
};

export const tenantNetworkSchema = z.object({ tenant: z.string(), ...policy }).meta({ id: 'TenantNetwork' });
export type TenantNetwork = z.infer<typeof tenantNetworkSchema>;

export const instanceNetworkSchema = z
  .object({
    ...policy,
    /** Whether its policy reaches the network at all. */
    enabled: z.boolean(),
    /** The policy that its process was started with; null without one. */
    running_policy: z.string().nullable(),
    /** Whether it reaches the network now: a policy that was changed since holds from its next start. */
    enabled_now: z.boolean(),
    /** What it may do: what its list and its tenant's both allow, and the numbers that apply to it alone. */
    allowed: z.object({
      rules: z.array(ruleSchema),
      requests_per_minute: z.int(),
      bytes_per_day: z.int(),
    }),
    /** Since midnight UTC. */
    bytes_today: count,
    /** Since when `reached` counts. */
    since: epoch,
    /** By host, the most called first, a hundred at most; an empty host stands for several that are not told apart. */
    reached: z.array(z.object({ host: z.string(), calls: count, refused: count, bytes_out: count, bytes_in: count })),
  })
  .meta({ id: 'InstanceNetwork' });
export type InstanceNetwork = z.infer<typeof instanceNetworkSchema>;
