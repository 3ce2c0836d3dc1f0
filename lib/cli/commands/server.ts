/** `version` and `open`: which versions talk, and the page of the console. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { addCommand, type CommandContext, cliClient } from '../command.ts';
import { reportFailure } from '../failure.ts';
import { facts } from '../format.ts';

/** The version that a server's contract names; null when it names none. */
async function serverVersion({ server, signal }: CommandContext): Promise<string | null> {
  // The contract is open to everybody: no key is needed.
  const document = (await cliClient(server).openapi({ signal })) as { info?: { version?: unknown } } | null;
  const version = document?.info?.version;
  return typeof version === 'string' ? version : null;
}

/** Shows an address in the browser of this machine. Says whether something took it. */
async function showInBrowser(address: string): Promise<boolean> {
  const [program, ...before] = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }[
    process.platform as string
  ] ?? ['xdg-open'];
  const child = spawn(program ?? 'xdg-open', [...before, address], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
  } catch {
    // There is no such program: the address is printed, and that is all there is to do.
    return false;
  }
  child.unref();
  return true;
}

export function addServerCommands(program: Command): void {
  addCommand<{ print?: boolean }>(program, 'open [id]', {
    summary: 'open the console, or the page of a sandbox',
    description: 'Prints its address, and shows it in a browser when there is a terminal. Wakes nothing.',
    options: (command) => command.option('--print', 'only print the address'),
    examples: [
      ['open sess-841', 'its page'],
      ['open --print', 'the address of the console'],
    ],
    async run(context, options, id?: string) {
      const { server, json, signal, print, note } = context;
      if (id !== undefined) await context.client.getInstance(id, { signal });
      const address = `${server.url}/${id === undefined ? '' : `sandboxes/${encodeURIComponent(id)}`}`;
      print({ url: address }, () => `${address}\n`);
      if (json || options.print === true || process.stdout.isTTY !== true) return;
      if (!(await showInBrowser(address))) note('There is no program here that shows it.');
    },
  });

  addCommand(program, 'version', {
    summary: 'show the version of this command line and of the server',
    description: 'Needs no key. Exits with 10 when the server does not answer.',
    examples: [['version', 'before an upgrade, and after it']],
    async run(context) {
      const client = program.version() ?? '';
      const { url } = context.server;
      const show = (version: string | null) =>
        context.print({ client, server: { url, version } }, () =>
          facts([
            ['command line', client],
            ['server', version],
            ['address', url],
          ]),
        );
      try {
        show(await serverVersion(context));
      } catch (error) {
        show(null);
        context.exitWith(reportFailure(error, context.json));
      }
    },
  });
}
