/** Whose variables and secrets a form is about, and the calls that it makes. */
import { z } from 'zod';
import type { Caller } from '#lib/auth/caller.ts';
import { parseInstanceId } from '#lib/base/ids.ts';
import { type EnvPatch, type ParsedSecretInput, type Secret, slugSchema, type Variable } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

/** What a server action is bound to. */
export const ownerSchema = z.strictObject({ kind: z.enum(['sandbox', 'tenant', 'blueprint']), name: slugSchema });
export type Owner = z.infer<typeof ownerSchema>;
export const secretOwnerSchema = ownerSchema.extend({ kind: z.enum(['sandbox', 'tenant']) });
export type SecretOwner = z.infer<typeof secretOwnerSchema>;

/** The page that shows them. */
export function pageOf({ kind, name }: Owner): string {
  return kind === 'sandbox' ? `/sandboxes/${name}?tab=environment` : `/${kind}s/${name}`;
}

export function variablesOf(caller: Caller, { kind, name }: Owner): Promise<Variable[]> {
  const { operations } = getHost();
  if (kind === 'tenant') return operations.tenantEnv(caller, name);
  if (kind === 'blueprint') return operations.blueprintEnv(caller, name);
  return operations.instanceEnv(caller, parseInstanceId(name));
}

export function patchVariables(caller: Caller, { kind, name }: Owner, patch: EnvPatch): Promise<Variable[]> {
  const { operations } = getHost();
  if (kind === 'tenant') return operations.patchTenantEnv(caller, name, patch);
  if (kind === 'blueprint') return operations.patchBlueprintEnv(caller, name, patch);
  return operations.patchInstanceEnv(caller, parseInstanceId(name), patch);
}

export function secretsOf(caller: Caller, { kind, name }: SecretOwner): Promise<Secret[]> {
  const { operations } = getHost();
  return kind === 'tenant'
    ? operations.tenantSecrets(caller, name)
    : operations.instanceSecrets(caller, parseInstanceId(name));
}

export function setSecretOf(
  caller: Caller,
  { kind, name }: SecretOwner,
  secret: string,
  input: ParsedSecretInput,
): Promise<Secret> {
  const { operations } = getHost();
  return kind === 'tenant'
    ? operations.setTenantSecret(caller, name, secret, input)
    : operations.setInstanceSecret(caller, parseInstanceId(name), secret, input);
}

export function removeSecretOf(caller: Caller, { kind, name }: SecretOwner, secret: string): Promise<void> {
  const { operations } = getHost();
  return kind === 'tenant'
    ? operations.deleteTenantSecret(caller, name, secret)
    : operations.deleteInstanceSecret(caller, parseInstanceId(name), secret);
}
