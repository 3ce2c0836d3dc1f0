/** `login`, `logout` and `contexts`: save, choose and remove servers with their keys. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { ApiError, DEFAULT_URL, whereaboutsIn } from '../../client/client.ts';
import { addCommand, cliClient } from '../command.ts';
import { CliError, keyHint } from '../failure.ts';
import { printable, table } from '../format.ts';
import { isInteractive, promptSecret, readStdin } from '../prompt.ts';
import {
  contextNameOf,
  type Logins,
  loginAddress,
  loginsFile,
  parseContextName,
  readLogins,
  savedLogin,
  writeLogins,
} from '../saved-logins.ts';

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/;

/** A key from a file, from stdin (`-`), from the environment, or from the person. */
async function keyFrom(file: string | undefined, url: string, signal: AbortSignal): Promise<string> {
  if (file === '-') return (await readStdin()).trim();
  if (file !== undefined) return readFileSync(file, 'utf8').trim();
  const { key: own } = whereaboutsIn(process.env);
  if (own !== null) return own;
  if (isInteractive()) return promptSecret(`Key for ${url}: `, signal);
  throw new CliError(
    'usage',
    'There is no key to log in with.',
    `Add --key-file FILE (- for stdin), or set WINTERDOCK_KEY: winterdock login ${url} --key-file data/admin.key.`,
  );
}

export function addLoginCommands(program: Command): void {
  addCommand<{ keyFile?: string; name?: string }>(program, 'login [address]', {
    summary: 'save the address and a key of a server, as a context',
    description:
      'Checks the key and saves it in winterdock/logins.json below XDG_CONFIG_HOME or ~/.config, mode 0600. It is sent only to this address. The context is used from then on; WINTERDOCK_URL and WINTERDOCK_KEY in the environment override it.',
    options: (command) =>
      command
        .option('--key-file <file>', 'read the key from a file, or from stdin with -')
        .option('--name <name>', 'what the context is called (default: its address without the scheme)'),
    examples: [
      ['login', `ask for the key of ${DEFAULT_URL}`],
      ['login localhost:3000 --key-file data/admin.key', 'on the machine of the server itself'],
      ['login https://dock.example.com --name production', 'ask for the key of another server'],
    ],
    async run({ print, note, signal }, { keyFile, url: named, name: given }, address?: string) {
      const url = loginAddress(address ?? named ?? whereaboutsIn(process.env).url ?? DEFAULT_URL);
      const name = parseContextName(given ?? contextNameOf(url));
      const key = await keyFrom(keyFile, url, signal);
      if (!/^[\x21-\x7e]+$/.test(key))
        throw new CliError('usage', 'That is not a key.', 'A key is one word without spaces.');
      await cliClient({ url, key })
        .listInstances({ limit: 1 }, { signal })
        .catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.code !== 'unauthorized') throw error;
          throw new CliError('refused', `${url} does not know this key.`, keyHint(url));
        });
      const logins = readLogins(process.env);
      writeLogins(process.env, { current: name, contexts: { ...logins.contexts, [name]: { url, key } } });
      if (!url.startsWith('https:') && !LOOPBACK.test(url))
        note('The connection to this server is not encrypted: others on the network can read the key.');
      const as = given === undefined ? '' : ` as ${name}`;
      print({ url, context: name, file: loginsFile(process.env) }, () => `Logged in to ${url}${as}.\n`);
    },
  });

  addCommand(program, 'logout [name]', {
    summary: 'forget the key of a server',
    description:
      'Forgets the current context, or that of the name or address. The key itself stays valid: `keys revoke` ends it.',
    examples: [['logout', 'forget the key of the current context']],
    async run({ print }, _options, given?: string) {
      const logins = readLogins(process.env);
      const name = given === undefined ? logins.current : contextOf(logins, given);
      if (name === null) throw new CliError('absent', 'There is no such login.');
      const { url } = savedLogin(logins, name);
      const { [name]: _forgotten, ...contexts } = logins.contexts;
      writeLogins(process.env, { current: logins.current === name ? null : logins.current, contexts });
      print({ url, context: name }, () => `Logged out of ${printable(name)}.\n`);
    },
  });

  const contexts = program
    .command('contexts')
    .summary('choose between several servers, or several keys of one')
    .description(
      'Choose between several servers, or several keys of one. `login` makes a context, `logout` removes it.',
    );

  addCommand(contexts, 'list', {
    summary: 'list the contexts; * is before the current one',
    description: 'Keys are not shown.',
    examples: [['contexts list', 'where one is logged in']],
    async run({ print }) {
      const logins = readLogins(process.env);
      const rows = Object.entries(logins.contexts).map(([name, { url }]) => ({
        name,
        url,
        current: name === logins.current,
      }));
      const row = ({ name, url, current }: (typeof rows)[number]) => [current ? '*' : '', name, url];
      print(rows, () => table(['', 'NAME', 'ADDRESS'], rows.map(row)) || 'No contexts.\n');
    },
  });

  addCommand(contexts, 'use <name>', {
    summary: 'use this one from now on',
    description: 'For one command alone there is --context.',
    examples: [['contexts use production', 'until another is chosen, or logged in to']],
    async run({ print }, _options, name: string) {
      const logins = readLogins(process.env);
      const { url } = savedLogin(logins, name);
      writeLogins(process.env, { ...logins, current: name });
      print({ name, url, current: true }, () => `${name} is ${url}.\n`);
    },
  });

  addCommand(contexts, 'rename <name> <to>', {
    summary: 'give a context another name',
    examples: [['contexts rename localhost:3000 here', 'a shorter one']],
    async run({ print }, _options, name: string, to: string) {
      const logins = readLogins(process.env);
      const login = savedLogin(logins, name);
      if (Object.hasOwn(logins.contexts, parseContextName(to)))
        throw new CliError('conflict', `There is a context "${to}" already.`);
      const { [name]: _before, ...others } = logins.contexts;
      const current = logins.current === name ? to : logins.current;
      writeLogins(process.env, { current, contexts: { ...others, [to]: login } });
      print({ name: to, url: login.url, current: current === to }, () => `${name} is ${to} now.\n`);
    },
  });
}

/** The context of this name, else the one of this address; null when there is none. */
function contextOf({ current, contexts }: Logins, given: string): string | null {
  if (Object.hasOwn(contexts, given)) return given;
  const url = loginAddress(given);
  if (current !== null && contexts[current]?.url === url) return current;
  return Object.keys(contexts).find((name) => contexts[name]?.url === url) ?? null;
}
