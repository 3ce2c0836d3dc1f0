/** `whoami` and `keys`: the identity of a key, and API keys. */
import type { Command } from 'commander';
import { ROLES } from '../../auth/roles.ts';
import type { Key, KeyInput } from '../../contract/schema.ts';
import { choice } from '../choice.ts';
import { addCommand, parseSeconds } from '../command.ts';
import { actorText, facts, table, timeText } from '../format.ts';

const when = (time: number | null) => (time === null ? '–' : timeText(time));

const keyRow = (key: Key) => [
  key.id,
  key.name,
  key.role,
  key.tenant ?? 'all',
  `${key.prefix}…`,
  actorText(key.created_by, key.created_by_name),
  when(key.last_used),
  when(key.expires),
];

export function addKeyCommands(program: Command): void {
  addCommand(program, 'whoami', {
    summary: 'show the identity and the rights of your key',
    examples: [['whoami', 'role, tenants and rights']],
    async run({ client, print, signal, server }) {
      const me = await client.me({ signal });
      print(me, () =>
        facts([
          ['server', server.url],
          ['actor', me.actor],
          ['name', me.person?.email ?? me.key?.name ?? null],
          ['role', me.role],
          ['tenants', me.tenants === null ? 'all' : me.tenants.join(', ')],
          ['reads', me.reads.join(', ')],
          ['may', me.may.join(', ')],
          ['expires', me.key === null ? null : when(me.key.expires)],
        ]),
      );
    },
  });

  const keys = program
    .command('keys')
    .summary('list, make and revoke keys')
    .description('List, make and revoke keys for programs. A key is shown once; only its digest is kept.');

  addCommand(keys, 'list', {
    summary: 'list the keys that are valid',
    examples: [['keys list', 'with when each was used last']],
    async run({ client, print, signal }) {
      const list = await client.listKeys({ signal });
      print(list, () =>
        table(['ID', 'NAME', 'ROLE', 'TENANT', 'BEGINS', 'BY', 'LAST USED', 'EXPIRES'], list.map(keyRow)),
      );
    },
  });

  addCommand<{ role: KeyInput['role']; tenant?: string; expiresIn?: number; maxCall?: number }>(keys, 'create <name>', {
    summary: 'make a key',
    description: 'Prints only the key to stdout, so that a script can save it. It cannot be shown again.',
    options: (command) =>
      command
        .addOption(choice('--role <role>', 'what it may do', ROLES).makeOptionMandatory())
        .option('--tenant <tenant>', 'of this tenant only; the role tenant needs one')
        .option(
          '--expires-in <duration>',
          'valid for so long, such as 90d (default: until it is revoked)',
          parseSeconds,
        )
        .option('--max-call <duration>', 'the longest time that its calls may ask for, such as 10m', parseSeconds),
    examples: [
      ['keys create agents --role tenant --tenant acme --expires-in 90d', 'for a tenant’s program'],
      ['keys create dashboard --role viewer > key', 'keep it in a file'],
    ],
    async run({ client, print, note, signal }, { role, tenant, expiresIn, maxCall }, name: string) {
      const expires = expiresIn === undefined ? undefined : Math.floor(Date.now() / 1000) + expiresIn;
      const made = await client.createKey({ name, role, tenant, expires, max_call_s: maxCall }, { signal });
      print(made, () => `${made.key}\n`);
      note(`This is shown once. To end it: winterdock keys revoke ${made.id}`);
    },
  });

  addCommand(keys, 'revoke <id>', {
    summary: 'revoke a key, at once',
    examples: [['keys revoke k_512', 'by its id in the list, not by the key']],
    async run({ client, print, signal }, _options, id: string) {
      await client.revokeKey(id, { signal });
      print({ id, revoked: true }, () => `${id} is no key any more.\n`);
    },
  });
}
