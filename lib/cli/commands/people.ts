/** `people`: accounts, their rights, sessions and invitations. */
import type { Command } from 'commander';
import { PERSON_ROLES } from '../../auth/roles.ts';
import type { InviteInput, Person } from '../../contract/schema.ts';
import { choice } from '../choice.ts';
import { addCommand } from '../command.ts';
import { CliError } from '../failure.ts';
import { actorText, facts, table, timeText } from '../format.ts';

const list = (text: string) => text.split(',').map((word) => word.trim());
const tenantsText = (tenants: readonly string[] | null) => (tenants === null ? 'all' : tenants.join(', '));

const personFacts = (person: Person) =>
  facts([
    ['id', person.id],
    ['e-mail', person.email],
    ['name', person.name],
    ['role', person.role],
    ['tenants', tenantsText(person.tenants)],
    ['disabled', person.disabled ? 'yes' : 'no'],
    ['sessions', String(person.sessions)],
    ['signed in', person.signed_in === null ? 'never' : timeText(person.signed_in)],
  ]);

interface PersonChanges {
  role?: Person['role'];
  tenants?: string[];
  allTenants?: boolean;
  name?: string;
  disable?: boolean;
  enable?: boolean;
}

const tenantsOf = ({ tenants, allTenants }: PersonChanges) => (allTenants === true ? null : tenants);

const roleOptions = (command: Command) =>
  command
    .addOption(choice('--role <role>', 'what they may do', PERSON_ROLES))
    .option('--tenants <list>', 'of these tenants only, with commas', list)
    .option('--all-tenants', 'of all tenants');

export function addPeopleCommands(program: Command): void {
  const people = program
    .command('people')
    .summary('list, invite and change people')
    .description('List, invite and change the people who have an account.');

  addCommand(people, 'list', {
    summary: 'list the people who have an account',
    examples: [['people list', 'the oldest account first']],
    async run({ client, print, signal }) {
      const everyone = await client.people({ signal });
      print(everyone, () =>
        table(
          ['ID', 'E-MAIL', 'NAME', 'ROLE', 'TENANTS', 'STATE', 'SIGNED IN'],
          everyone.map((person) => [
            person.id,
            person.email,
            person.name,
            person.role,
            tenantsText(person.tenants),
            person.disabled ? 'disabled' : 'open',
            person.signed_in === null ? '–' : timeText(person.signed_in),
          ]),
        ),
      );
    },
  });

  addCommand<PersonChanges & { email?: string }>(people, 'invite', {
    summary: 'make a one-time link to join',
    description: 'Prints only the link to stdout. It cannot be shown again.',
    options: (command) => roleOptions(command).option('--email <address>', 'only for this address'),
    examples: [
      ['people invite --role support --email eve@example.com', 'a link for Eve'],
      ['people invite --role operator --tenants acme,globex', 'for whoever gets it, for two tenants'],
    ],
    async run({ client, print, note, signal }, options) {
      if (options.role === undefined) throw new CliError('usage', 'Add --role: admin, operator, support or viewer.');
      const input: InviteInput = { role: options.role, email: options.email, tenants: tenantsOf(options) };
      const invited = await client.invite(input, { signal });
      print(invited, () => `${invited.link}\n`);
      note(`This is shown once; it works once, until ${timeText(invited.expires)}.`);
    },
  });

  addCommand(people, 'invitations', {
    summary: 'list the invitations that are open',
    examples: [['people invitations', 'the newest first']],
    async run({ client, print, signal }) {
      const open = await client.invitations({ signal });
      print(open, () =>
        table(
          ['ID', 'E-MAIL', 'ROLE', 'TENANTS', 'BY', 'EXPIRES'],
          open.map((one) => [
            one.id,
            one.email ?? 'anyone',
            one.role,
            tenantsText(one.tenants),
            actorText(one.created_by, one.created_by_name),
            timeText(one.expires),
          ]),
        ),
      );
    },
  });

  addCommand(people, 'withdraw <invitation>', {
    summary: 'withdraw an open invitation',
    examples: [['people withdraw inv-512', 'its link does not work any more']],
    async run({ client, print, signal }, _options, id: string) {
      await client.withdrawInvitation(id, { signal });
      print({ id, withdrawn: true }, () => `${id} is withdrawn.\n`);
    },
  });

  addCommand<PersonChanges>(people, 'set <id>', {
    summary: 'change a person’s role, tenants or name, or disable the account',
    description: 'Disabling ends every session at once.',
    options: (command) =>
      roleOptions(command)
        .option('--name <name>', 'another name')
        .option('--disable', 'let nobody in with this account')
        .option('--enable', 'let them in again'),
    examples: [
      ['people set p-512 --role viewer', 'who may only look from now on'],
      ['people set p-512 --disable', 'at once'],
    ],
    async run({ client, print, signal }, options, id: string) {
      const disabled = options.disable === true ? true : options.enable === true ? false : undefined;
      const { name, role } = options;
      const person = await client.patchPerson(id, { name, role, tenants: tenantsOf(options), disabled }, { signal });
      print(person, () => personFacts(person));
    },
  });

  addCommand(people, 'sessions <id>', {
    summary: 'list a person’s open sessions',
    examples: [['people sessions p-512', 'with where each came from']],
    async run({ client, print, signal }, _options, id: string) {
      const sessions = await client.sessionsOf(id, { signal });
      print(sessions, () =>
        table(
          ['ID', 'BEGAN', 'EXPIRES', 'ADDRESS', 'WITH'],
          sessions.map((one) => [
            one.id,
            timeText(one.created),
            timeText(one.expires),
            one.address ?? '–',
            one.agent ?? '–',
          ]),
        ),
      );
    },
  });

  addCommand<{ session?: string }>(people, 'sign-out <id>', {
    summary: 'end a person’s sessions',
    options: (command) => command.option('--session <id>', 'only this one (default: all)'),
    examples: [['people sign-out p-512', 'everywhere']],
    async run({ client, print, signal }, { session }, id: string) {
      await client.endSession(id, { session }, { signal });
      print({ id, session: session ?? null }, () => `${session ?? `Every session of ${id}`} is ended.\n`);
    },
  });
}
