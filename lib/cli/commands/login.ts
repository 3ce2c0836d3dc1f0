/** `login` and `logout`: save and remove the address and key of a server. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { DEFAULT_URL, whereaboutsIn } from '../../client/client.ts';
import { addCommand, cliClient } from '../command.ts';
import { CliError } from '../failure.ts';
import { isInteractive, promptSecret, readStdin } from '../prompt.ts';
import { loginAddress, loginsFile, readLogins, writeLogins } from '../saved-logins.ts';

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
    'Add --key-file FILE, or --key-file - to read it from stdin.',
  );
}

export function addLoginCommands(program: Command): void {
  addCommand<{ keyFile?: string }>(program, 'login [address]', {
    summary: 'save the address and a key of a server',
    description:
      'Checks the key and saves it in winterdock/logins.json below XDG_CONFIG_HOME or ~/.config, mode 0600. It is sent only to this address. WINTERDOCK_URL and WINTERDOCK_KEY in the environment override it.',
    options: (command) => command.option('--key-file <file>', 'read the key from a file, or from stdin with -'),
    examples: [
      ['login', `ask for the key of ${DEFAULT_URL}`],
      ['login localhost:3000 --key-file data/admin.key', 'on the machine of the server itself'],
      ['login https://dock.example.com', 'ask for the key of another server'],
    ],
    async run({ print, note, signal }, { keyFile, url: named }, address?: string) {
      const url = loginAddress(address ?? named ?? whereaboutsIn(process.env).url ?? DEFAULT_URL);
      const key = await keyFrom(keyFile, url, signal);
      if (!/^[\x21-\x7e]+$/.test(key))
        throw new CliError('usage', 'That is not a key.', 'A key is one word without spaces.');
      await cliClient({ url, key }).listInstances({ limit: 1 }, { signal });
      const logins = readLogins(process.env);
      writeLogins(process.env, { current: url, keys: { ...logins.keys, [url]: key } });
      if (!url.startsWith('https:') && !LOOPBACK.test(url))
        note('The connection to this server is not encrypted: others on the network can read the key.');
      print({ url, file: loginsFile(process.env) }, () => `Logged in to ${url}.\n`);
    },
  });

  addCommand(program, 'logout [address]', {
    summary: 'forget the key of a server',
    description: 'Forgets the last login, or that of the address. The key itself stays valid: `keys revoke` ends it.',
    examples: [['logout', 'forget the key of the last login']],
    async run({ print }, _options, address?: string) {
      const logins = readLogins(process.env);
      const url = address === undefined ? logins.current : loginAddress(address);
      if (url === null || !(url in logins.keys)) throw new CliError('absent', 'There is no such login.');
      const { [url]: _forgotten, ...keys } = logins.keys;
      writeLogins(process.env, { current: logins.current === url ? null : logins.current, keys });
      print({ url }, () => `Logged out of ${url}.\n`);
    },
  });
}
