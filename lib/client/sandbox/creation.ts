/** Makes a sandbox so that doing it twice makes one. Safe for the browser. */
import type { CallOptions } from '../call.ts';
import type { WinterdockClient } from '../client.ts';
import { ApiError } from '../error.ts';
import { backoffMs, pause } from '../transport.ts';
import type { CreateInput, Instance } from '../types.ts';

/** Without look-alikes, as the server makes ids. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 10;
const RETRIES = 2;
/** What another caller may have chosen otherwise, and what matters. Names and labels may have been changed since. */
const FIXED = ['tenant', 'policy', 'workbook', 'ephemeral'] as const;

function newSandboxId(): string {
  let id = 'sb-';
  for (const byte of crypto.getRandomValues(new Uint8Array(ID_LENGTH))) id += ALPHABET[byte % ALPHABET.length];
  return id;
}

/** The tenant of the client's key. Throws `validation` when it is not one. */
export async function tenantOf(client: WinterdockClient, options: CallOptions): Promise<string> {
  const { tenants } = await client.me(options);
  const [tenant, ...others] = tenants ?? [];
  if (tenant !== undefined && others.length === 0) return tenant;
  throw new ApiError('validation', 'The key is not one tenant’s: say whose sandbox it is to be.', {
    hint: "Sandbox.create({ tenant: 'acme' }), or a key of a tenant: winterdock keys create NAME --role tenant --tenant acme",
  });
}

/**
 * Makes an instance of this id, or gives the one that is there already when it is of the same tenant, policy and
 * workbook; else rejects with `conflict`. With an id made up before, a lost answer is asked for again.
 */
export async function createOnce(
  client: WinterdockClient,
  input: CreateInput,
  options: CallOptions,
): Promise<Instance> {
  const wanted = { ...input, id: input.id ?? newSandboxId() };
  const retries = options.retries ?? RETRIES;
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.createInstance(wanted, options);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'conflict') return existing(client, wanted, error, options);
      if (error.code !== 'network' || attempt > retries) throw error;
      await pause(backoffMs(attempt), options.signal);
    }
  }
}

async function existing(
  client: WinterdockClient,
  wanted: CreateInput & { id: string },
  refusal: ApiError,
  options: CallOptions,
): Promise<Instance> {
  const found = await client.getInstance(wanted.id, options).catch((error: unknown) => {
    // Another tenant's, or deleted: its id is not given again. The refusal says so.
    if (error instanceof ApiError && (error.code === 'not_found' || error.code === 'gone')) throw refusal;
    throw error;
  });
  const other = FIXED.find((name) => wanted[name] !== undefined && wanted[name] !== found[name]);
  if (other === undefined) return found;
  throw new ApiError('conflict', `"${wanted.id}" is there already, and its ${other} is ${String(found[other])}.`, {
    status: refusal.status,
    hint: 'Sandbox.connect takes it as it is.',
    request_id: refusal.request_id,
    cause: refusal,
  });
}
