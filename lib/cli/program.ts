/**
 * The tree of commands, for running them and for printing docs/cli.md. Commands talk to the API only, through the
 * client; those of commands/local.ts work on the server's own files.
 */
import { Command } from 'commander';
import { addAttentionCommands } from './commands/attention.ts';
import { addBackgroundCommands } from './commands/background.ts';
import { addBackupCommands } from './commands/backups.ts';
import { addBundleCommands } from './commands/bundles.ts';
import { addCallCommands } from './commands/calls.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addCopyCommands } from './commands/copies.ts';
import { addCopyFilesCommand } from './commands/copy.ts';
import { addEventCommands } from './commands/events.ts';
import { addFileCommands } from './commands/files.ts';
import { addGuestCommands } from './commands/guests.ts';
import { addHostCommands } from './commands/hosts.ts';
import { addInstanceCommands } from './commands/instances.ts';
import { addJobCommands } from './commands/jobs.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addLedgerCommands } from './commands/ledger.ts';
import { addLineageCommand } from './commands/lineage.ts';
import { addLoadCommand } from './commands/load.ts';
import { addLocalCommands } from './commands/local.ts';
import { addLoginCommands } from './commands/login.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addMoveCommands } from './commands/moves.ts';
import { addNetworkCommands } from './commands/network.ts';
import { addOperationCommands } from './commands/operations.ts';
import { addPastCommands } from './commands/past.ts';
import { addPeopleCommands } from './commands/people.ts';
import { addRepairCommands } from './commands/repairs.ts';
import { addScheduleCommands } from './commands/schedules.ts';
import { addServerCommands } from './commands/server.ts';
import { addShellCommand } from './commands/shell.ts';
import { addTenantCommands } from './commands/tenants.ts';
import { addTerminalCommands } from './commands/terminals.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addWaitCommand } from './commands/wait.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { addWorkbookCommands } from './commands/workbooks.ts';
import { exitCodeTable } from './exit-codes.ts';

/** Makes the tree. It throws instead of ending the process. */
export function createProgram(version: string): Command {
  const program = new Command('winterdock')
    .description(
      'Sandboxes whose whole durable state is one file: create them, run code in them, file them away, wake them.',
    )
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
First steps:
  winterdock login localhost:3000 --key-file data/admin.key
  winterdock create sess-841 --tenant acme
  winterdock exec sess-841 'echo hello > note'
  winterdock suspend sess-841
  winterdock files get sess-841 note

What a command acts on comes by position, everything else by name: --name value, anywhere on the line; for
exec and run before their command. Every command has --help with examples, and --json for programs.

${exitCodeTable()}`,
    );
  addLoginCommands(program);
  addServerCommands(program);
  addInstanceCommands(program);
  addCallCommands(program);
  addShellCommand(program);
  addBackgroundCommands(program);
  addWaitCommand(program);
  addMcpCommand(program);
  addFileCommands(program);
  addCopyFilesCommand(program);
  addMoveCommands(program);
  addJobCommands(program);
  addScheduleCommands(program);
  addCopyCommands(program);
  addPastCommands(program);
  addRepairCommands(program);
  addLineageCommand(program);
  addBundleCommands(program);
  addWorkbookCommands(program);
  addEventCommands(program);
  addNetworkCommands(program);
  addGuestCommands(program);
  addWebhookCommands(program);
  addAttentionCommands(program);
  addLedgerCommands(program);
  addTenantCommands(program);
  addUsageCommand(program);
  addLoadCommand(program);
  addKeyCommands(program);
  addPeopleCommands(program);
  addBackupCommands(program);
  addHostCommands(program);
  addOperationCommands(program);
  addTerminalCommands(program);
  addLocalCommands(program);
  addCompletionCommand(program);
  return program;
}
