/** `exec` and `eval`: run code in a sandbox, stream its output and end with its exit code. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { MAX_STDIN_BYTES } from '../../client/client.ts';
import { choice } from '../choice.ts';
import { addCommand, type CommandContext, parsePairs, parseSeconds } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { readStdinBytes } from '../prompt.ts';
import { typeInto } from '../typed-shell.ts';
import { wokeText } from '../woke-text.ts';

interface ExecOptions {
  cwd?: string;
  env?: Record<string, string>;
  timeout?: number;
  stdin?: boolean;
  script?: string;
  verbose?: boolean;
  interactive?: boolean;
  tty?: boolean;
}

/** What asks for a shell to type into. */
const SHELL = /^(?:(?:\/bin\/|\/usr\/bin\/)?(?:ba|da)?sh(?: -[il]+)*)?$/;

/** One argument is a whole script; several are one command, quoted so that its arguments arrive unchanged. */
export function scriptOf(words: readonly string[]): string {
  const [only] = words;
  if (words.length === 1 && only !== undefined) return only;
  return words
    .map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/** Our stdin, for the command. Throws a usage error when it is larger than the limit. */
async function inputOf(id: string): Promise<Buffer> {
  const input = await readStdinBytes();
  if (input.byteLength <= MAX_STDIN_BYTES) return input;
  throw new CliError(
    'usage',
    `There are ${input.byteLength} bytes on stdin; a command is given at most ${MAX_STDIN_BYTES}.`,
    `Put them into a file of it first: winterdock files put ${id} FILE.`,
  );
}

async function runScript(context: CommandContext, options: ExecOptions, id: string, command: string): Promise<number> {
  const { client, json, signal } = context;
  const input = {
    command,
    cwd: options.cwd,
    env: options.env,
    stdin: options.stdin === true || options.interactive === true ? await inputOf(id) : undefined,
    timeout_ms: options.timeout === undefined ? undefined : options.timeout * 1000,
  };
  if (json) {
    const { stdin, ...body } = input;
    const answer = await client.execInInstance(id, { ...body, stdin_base64: stdin?.toString('base64') }, { signal });
    context.print(answer, () => '');
    return answer.exit_code;
  }
  for await (const event of client.execStream(id, input, { signal })) {
    if (event.event === 'stdout') process.stdout.write(event.bytes);
    else if (event.event === 'stderr') process.stderr.write(event.bytes);
    else if (event.event === 'woke') {
      if (options.verbose === true) context.note(wokeText(id, event.woke, event.took_ms));
    } else {
      if (event.timed_out) context.note('winterdock: its time ran out.');
      if (event.truncated) context.note('winterdock: there was more output than is kept; the rest was cut.');
      return event.exit_code;
    }
  }
  return exitCode('network');
}

export function addCallCommands(program: Command): void {
  addCommand<ExecOptions, [string, string[]]>(program, 'exec <id> [command...]', {
    summary: 'run a command in a sandbox, waking it',
    description:
      'Output streams as it comes, byte by byte as the command wrote it, and the exit code is the command’s own. One word is a shell script as it stands; several are one command whose arguments arrive as given. Options come before the command, on either side of the id. Ctrl-C stops the command.',
    options: (command) =>
      command
        .passThroughOptions()
        .option('--cwd <folder>', 'where it runs (default: /workspace)')
        .option('--env <key=value>', 'a variable; may come again', parsePairs('='))
        .option('--timeout <duration>', 'end it after so long, such as 30s; it exits with 124 then', parseSeconds)
        .option('--stdin', 'give it what comes on stdin')
        .option('-i, --interactive', 'as --stdin; with -t, a person types')
        .option('-t, --tty', 'a shell line by line, as `shell` is; there is no terminal for other programs')
        .option('--script <file>', 'run the script in this file of yours instead')
        .option('--verbose', 'say on stderr whether it had to be woken, and how long that took'),
    examples: [
      ['exec sess-841 ls -la', 'one command; `--` may stand before it'],
      [`exec sess-841 'cat notes | wc -l > count'`, 'a script, in quotes'],
      ['exec sess-841 --stdin "python3 -" < job.py', 'with a file of yours as its input'],
      ['exec --stdin sess-841 "tar xz" < folder.tar.gz', 'any bytes go in'],
      ['exec sess-841 "cat model.bin" > model.bin', 'and come out as they are'],
      ['exec -it sess-841 bash', 'type into it'],
      ['exec --json sess-841 true', 'the whole answer as one JSON document'],
    ],
    async run(context, options, id, given) {
      // Other tools need `--` before the command; here it is optional.
      const words = given[0] === '--' ? given.slice(1) : given;
      if (options.tty === true) {
        if (context.json || options.script !== undefined || !SHELL.test(words.join(' '))) {
          throw new CliError(
            'usage',
            'There is no terminal in a sandbox: -t is for a shell alone.',
            `winterdock exec -it ${id} bash; without -t for everything else.`,
          );
        }
        return typeInto(context, id, options);
      }
      if (options.script === undefined && words.length === 0)
        throw new CliError('usage', 'There is no command to run.');
      const command = options.script === undefined ? scriptOf(words) : readFileSync(options.script, 'utf8');
      context.exitWith(await runScript(context, options, id, command));
    },
  });

  addCommand<{ language: 'js' | 'python'; timeout?: number }>(program, 'eval <id> <code>', {
    summary: 'evaluate JavaScript or Python in a sandbox, waking it',
    description: 'Prints what it writes, then its value as JSON. Exits with 1 when it threw.',
    options: (command) =>
      command
        .addOption(choice('--language <language>', 'what the code is', ['js', 'python'], 'js'))
        .option('--timeout <duration>', 'end it after so long, such as 30s', parseSeconds),
    examples: [
      [`eval sess-841 '6 * 7'`, 'prints 42'],
      [`eval --language python sess-841 'print(sum(range(10)))'`, 'prints 45'],
    ],
    async run({ client, json, print, signal, exitWith }, { language, timeout }, id: string, code: string) {
      const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
      const encoding = json ? undefined : 'base64';
      const answer = await client.evalInInstance(id, { language, code, encoding, timeout_ms: timeoutMs }, { signal });
      if (!json) process.stdout.write(Buffer.from(answer.stdout, 'base64'));
      print(answer, () => (answer.value === undefined ? '' : `${JSON.stringify(answer.value)}\n`));
      if (!json) process.stderr.write(Buffer.from(answer.stderr, 'base64'));
      if (answer.error !== undefined && !json) process.stderr.write(`${answer.error}\n`);
      exitWith(answer.timed_out ? 124 : answer.ok ? 0 : 1);
    },
  });
}
