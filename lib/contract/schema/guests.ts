/** Contract schemas of what guests are given: variables of their environment, and secrets. Safe for the browser. */
import { z } from 'zod';
import { variableNameProblem } from '../../base/variable-names.ts';
import { maySecretBe } from '../../outgoing/header-names.ts';
import { normalRuleUrl, WILDCARD } from '../../outgoing/url-rules.ts';
import { actorNameSchema } from './actors.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const MOST_NAMED = 100;

/** The name of a variable. */
export const variableNameSchema = z.string().superRefine((name, context) => {
  const message = variableNameProblem(name);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

const variableValue = z
  .string()
  .max(32_768)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be whole characters without NUL');

export const envPatchSchema = z
  .strictObject({
    env: z
      .record(variableNameSchema, variableValue.nullable())
      .refine((env) => Object.keys(env).length <= MOST_NAMED, `must name at most ${MOST_NAMED} variables`),
  })
  .meta({ description: 'Values by name. Null removes a variable; one that is not named stays.' });
export type EnvPatch = z.infer<typeof envPatchSchema>;

export const variableSchema = z
  .object({
    name: z.string(),
    value: z.string().nullable().meta({ description: 'Null without a value, and for roles that see names alone.' }),
    is_set: z.boolean().meta({ description: 'False: it came with a copy or a bundle by its name, and wants a value.' }),
    from: z.enum(['tenant', 'blueprint', 'snapshot', 'sandbox']).meta({ description: 'Whose value it is.' }),
  })
  .meta({ id: 'Variable' });
export type Variable = z.infer<typeof variableSchema>;

export const secretNameSchema = z
  .string()
  .max(128)
  .regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, 'must be letters, digits, _ and -, beginning with a letter or _');

const secretHeader = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')
  .toLowerCase()
  .refine(maySecretBe, 'is a header that a request needs for itself');

export const secretInputSchema = z.strictObject({
  value: z
    .string()
    .min(1)
    .max(8192)
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be visible ASCII, as a header takes it')
    .meta({ description: 'Encrypted as it comes in. No answer ever holds it again.' }),
  url: z
    .string()
    .transform((text, context) => {
      const normal = normalRuleUrl(text);
      const wrong = 'wrong' in normal ? normal.wrong : normal.url === WILDCARD ? 'must name a host' : null;
      if ('url' in normal && wrong === null) return normal.url;
      context.addIssue({ code: 'custom', message: wrong ?? '' });
      return z.NEVER;
    })
    .meta({
      description:
        'Requests to this address and below it carry the secret: `https://api.example.com/v1/`. Without TLS only to a host that the tenant’s network list has as private.',
    }),
  header: secretHeader.default('authorization'),
  format: z
    .string()
    .max(200)
    .regex(/^[\x20-\x7e]*$/, 'must be ASCII')
    .refine((text) => text.split('{}').length === 2, 'must have {} once, in the place of the secret')
    .default('Bearer {}')
    .meta({ description: 'The value of the header, with `{}` in the place of the secret.' }),
});
export type SecretInput = z.input<typeof secretInputSchema>;
export type ParsedSecretInput = z.output<typeof secretInputSchema>;

export const secretSchema = z
  .object({
    name: z.string(),
    of: z.enum(['tenant', 'sandbox']),
    url: z.string(),
    header: z.string(),
    format: z.string(),
    created: epoch,
    created_by: z.string(),
    created_by_name: actorNameSchema,
    updated: epoch,
    updated_by: z.string(),
    updated_by_name: actorNameSchema,
    last_used: epoch.nullable().meta({ description: 'To the minute; null: not since it was set.' }),
    opens: z.boolean().meta({ description: 'False: the server’s key does not open it. It has to be set again.' }),
  })
  .meta({ id: 'Secret' });
export type Secret = z.infer<typeof secretSchema>;
