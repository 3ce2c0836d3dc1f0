/** The option that says whose a new sandbox is. With a key of one tenant it may be left out. */
import type { Command } from 'commander';
import type { WinterdockClient } from '../client/client.ts';
import { CliError } from './failure.ts';

export interface TenantOption {
  tenant?: string;
}

/** Adds `--tenant` to a command that makes sandboxes. */
export function tenantOption(command: Command): Command {
  return command.option('--tenant <tenant>', 'whose it is (default: the tenant of the key, where it is of one)');
}

/** The tenant that was given, else that of the key. Throws `usage` for a key of several. */
export async function tenantFrom(
  { tenant }: TenantOption,
  { client, signal }: { client: WinterdockClient; signal: AbortSignal },
): Promise<string> {
  if (tenant !== undefined) return tenant;
  const { tenants } = await client.me({ signal });
  const [own, ...others] = tenants ?? [];
  if (own !== undefined && others.length === 0) return own;
  throw new CliError(
    'usage',
    'This key is not for a single tenant: say which tenant the sandbox is for.',
    'Add --tenant NAME.',
  );
}
