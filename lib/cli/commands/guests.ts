/** `env` and `secrets`: what guests of sandboxes are given. A secret is read from stdin, and never printed. */
import type { Command } from 'commander';
import type { WinterdockClient } from '../../client/client.ts';
import type { Secret, Variable } from '../../contract/schema.ts';
import { addCommand, parsePairs } from '../command.ts';
import { CliError } from '../failure.ts';
import { actorText, facts, table, timeText } from '../format.ts';
import { isInteractive, promptSecret, readStdin } from '../prompt.ts';

interface OwnerFlags {
  tenant?: string;
  sandbox?: string;
  blueprint?: string;
}
interface SecretFlags extends OwnerFlags {
  address: string;
  header?: string;
  format?: string;
}

const ownerOptions = (command: Command) =>
  command
    .option('--sandbox <id>', 'those of a sandbox, before its blueprint’s and its tenant’s')
    .option('--tenant <tenant>', 'those of all sandboxes of a tenant');

const envOwnerOptions = (command: Command) =>
  ownerOptions(command).option('--blueprint <name>', 'those of all clones of a blueprint');

/** Throws a usage error unless exactly one owner is named. */
function requireOne(flags: OwnerFlags, names: string): void {
  const given = [flags.tenant, flags.sandbox, flags.blueprint].filter((flag) => flag !== undefined);
  if (given.length !== 1) throw new CliError('usage', `Name one of them: ${names}.`);
}

function envOf(client: WinterdockClient, flags: OwnerFlags, signal: AbortSignal): Promise<Variable[]> {
  requireOne(flags, '--sandbox sess-841, --tenant acme or --blueprint base');
  if (flags.tenant !== undefined) return client.tenantEnv(flags.tenant, { signal });
  if (flags.blueprint !== undefined) return client.blueprintEnv(flags.blueprint, { signal });
  return client.instanceEnv(flags.sandbox ?? '', { signal });
}

function patchEnv(
  client: WinterdockClient,
  flags: OwnerFlags,
  env: Record<string, string | null>,
  signal: AbortSignal,
): Promise<Variable[]> {
  requireOne(flags, '--sandbox sess-841, --tenant acme or --blueprint base');
  if (flags.tenant !== undefined) return client.patchTenantEnv(flags.tenant, { env }, { signal });
  if (flags.blueprint !== undefined) return client.patchBlueprintEnv(flags.blueprint, { env }, { signal });
  return client.patchInstanceEnv(flags.sandbox ?? '', { env }, { signal });
}

function envText(variables: Variable[]): string {
  if (variables.length === 0) return 'no variables\n';
  const shownValue = ({ value, is_set: isSet }: Variable) => value ?? (isSet ? 'not for your role' : 'missing: set it');
  return table(
    ['NAME', 'FROM', 'VALUE'],
    variables.map((one) => [one.name, one.from, shownValue(one)]),
  );
}

const secretFacts = (secret: Secret) =>
  facts([
    ['secret', secret.name],
    ['goes to', secret.url],
    ['as', `${secret.header}: ${secret.format}`],
    ['of', secret.of],
    ['set', `${timeText(secret.updated)} by ${actorText(secret.updated_by, secret.updated_by_name)}`],
    ['last used', secret.last_used === null ? 'never' : timeText(secret.last_used)],
    ['opens', secret.opens ? null : 'no: set it again'],
  ]);

/** One line of stdin, or what a person types without seeing it. */
async function secretValue(name: string, signal: AbortSignal): Promise<string> {
  const value = isInteractive() ? await promptSecret(`Value of ${name}: `, signal) : await readStdin();
  return value.replace(/\r?\n$/, '');
}

export function addGuestCommands(program: Command): void {
  const env = program
    .command('env')
    .summary('give sandboxes variables')
    .description(
      'Variables that the shell, Python, JavaScript and components find. Whoever may use a sandbox can read them: what nobody may read is a secret. A sandbox’s own go before its blueprint’s, and those before its tenant’s. A change holds for the next call.',
    );

  addCommand<OwnerFlags>(env, 'list', {
    summary: 'list variables',
    options: envOwnerOptions,
    examples: [
      ['env list --sandbox sess-841', 'what its guests find, and whose it is'],
      ['env list --tenant acme', 'those of all its sandboxes'],
    ],
    async run({ client, print, signal }, flags) {
      const list = await envOf(client, flags, signal);
      print(list, () => envText(list));
    },
  });

  addCommand<OwnerFlags, [string[]]>(env, 'set <name=value...>', {
    summary: 'set variables',
    options: envOwnerOptions,
    examples: [
      ['env set STAGE=test DEBUG=1 --sandbox sess-841', 'from its next call'],
      ['env set REGION=eu --tenant acme', 'for all its sandboxes'],
    ],
    async run({ client, print, signal }, flags, pairs) {
      const given = pairs.reduce<Record<string, string>>((before, pair) => parsePairs('=')(pair, before), {});
      const list = await patchEnv(client, flags, given, signal);
      print(list, () => envText(list));
    },
  });

  addCommand<OwnerFlags, [string[]]>(env, 'unset <name...>', {
    summary: 'remove variables',
    options: envOwnerOptions,
    examples: [['env unset DEBUG --sandbox sess-841', 'its tenant’s holds again, if there is one']],
    async run({ client, print, signal }, flags, names) {
      const list = await patchEnv(client, flags, Object.fromEntries(names.map((name) => [name, null])), signal);
      print(list, () => envText(list));
    },
  });

  const secrets = program
    .command('secrets')
    .summary('give requests of sandboxes secrets that no sandbox sees')
    .description(
      'A secret is encrypted by the server, which adds it as a header to the requests of sandboxes to its address. Neither a sandbox nor anybody else can read it again.',
    );

  addCommand<OwnerFlags>(secrets, 'list', {
    summary: 'list secrets, without their values',
    options: ownerOptions,
    examples: [['secrets list --sandbox sess-841', 'its own and its tenant’s']],
    async run({ client, print, signal }, flags) {
      requireOne(flags, '--sandbox sess-841 or --tenant acme');
      const list = await (flags.tenant === undefined
        ? client.instanceSecrets(flags.sandbox ?? '', { signal })
        : client.tenantSecrets(flags.tenant, { signal }));
      const rows = list.map((one) => [
        one.name,
        one.of,
        one.url,
        `${one.header}: ${one.format}`,
        `${timeText(one.updated)} by ${actorText(one.updated_by, one.updated_by_name)}`,
        one.opens ? (one.last_used === null ? 'never' : timeText(one.last_used)) : 'lost: set it again',
      ]);
      print(list, () =>
        rows.length === 0 ? 'no secrets\n' : table(['NAME', 'OF', 'GOES TO', 'AS', 'SET', 'LAST USED'], rows),
      );
    },
  });

  addCommand<SecretFlags>(secrets, 'set <name>', {
    summary: 'set a secret, in the place of one with its name',
    description: 'Its value is what comes on stdin, or is asked for; no option takes it.',
    options: (command) =>
      ownerOptions(command)
        .requiredOption('--address <url>', 'requests to it and below it carry the secret')
        .option('--header <name>', 'the header (default: authorization)')
        .option('--format <text>', 'its value, with {} for the secret (default: "Bearer {}")'),
    examples: [
      ['secrets set API_TOKEN --tenant acme --address https://api.example.com/v1/ < token', 'as a bearer token'],
      [
        'secrets set KEY --sandbox sess-841 --address https://api.example.com/ --header x-api-key --format "{}"',
        'ask for it',
      ],
    ],
    async run({ client, print, signal }, flags, name: string) {
      requireOne(flags, '--sandbox sess-841 or --tenant acme');
      const { address: url, header, format } = flags;
      const input = { value: await secretValue(name, signal), url, header, format };
      const set = await (flags.tenant === undefined
        ? client.setInstanceSecret(flags.sandbox ?? '', name, input, { signal })
        : client.setTenantSecret(flags.tenant, name, input, { signal }));
      print(set, () => secretFacts(set));
    },
  });

  addCommand<OwnerFlags>(secrets, 'remove <name>', {
    summary: 'remove a secret',
    options: ownerOptions,
    examples: [['secrets remove API_TOKEN --tenant acme', 'from the next request']],
    async run({ client, print, signal }, flags, name: string) {
      requireOne(flags, '--sandbox sess-841 or --tenant acme');
      await (flags.tenant === undefined
        ? client.deleteInstanceSecret(flags.sandbox ?? '', name, { signal })
        : client.deleteTenantSecret(flags.tenant, name, { signal }));
      print({ removed: name }, () => `Removed ${name}.\n`);
    },
  });
}
